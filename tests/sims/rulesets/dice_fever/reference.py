"""Dice Fever a second time, written from the specification alone: slow, obvious, plain Python.

The game asks for everything it needs: ``roll(sides, n)`` gives n outcome indices from 0 to sides - 1, and
``choose(seat, words)`` one of two or more words (``P1R``, ``SEAT2``, ``STOP``, ``USE6``). A choice of one is not asked.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field


class Out(Exception):
    """The turn ends OUT."""


@dataclass
class Player:
    parade: int
    risk: int
    score: int = 0
    validated: bool = False


@dataclass
class Turn:
    seat: int
    track: list = field(default_factory=list)  # values in the order of laying
    shields: int = 0
    mult: int = 1
    flat: int = 0
    bonus_face: str = ""
    next3: bool = False
    double: bool = False
    tripled: int = 0
    suite: bool = False
    six: bool = False


class Game:
    """One game; `variant` maps the names of the variant fields to their values."""

    def __init__(self, seats, variant, roll, choose):
        self.variant, self.roll, self.choose = variant, roll, choose
        self.players = [Player(variant["parade_cards"], variant["risk_cards"]) for _ in range(seats)]
        self.tokens = []  # pairs (owner, target)
        self.turn = Turn(0)
        self.thrower = 0  # the seat whose dice are thrown
        self.events = Counter()

    def play(self):
        """Play to the end and return the payoffs."""
        winners = []
        while not winners:
            for seat in range(len(self.players)):
                self.play_turn(seat)
            winners = self.winners_of_round()
        return [1 / len(winners) if seat in winners else 0 for seat in range(len(self.players))]

    def ask(self, seat, words):
        return words[0] if len(words) == 1 else self.choose(seat, words)

    def dice(self, n):
        return [outcome + 1 for outcome in self.roll(6, n)]

    def face_of(self, faces):
        [place] = self.roll(len(faces), 1)
        return faces[place]

    def others(self, rule):
        """Seats that the active player may hit."""
        seats, seat = len(self.players), self.turn.seat
        return [(seat + 1) % seats] if rule == "left" else [other for other in range(seats) if other != seat]

    # --- a turn -------------------------------------------------------------------------------------------------------

    def play_turn(self, seat):
        self.turn, self.thrower = Turn(seat), seat
        try:
            self.commit_cards()
            self.first_throw()
            while self.goes_on():
                self.throw()
            self.score_turn()
        except Out:
            self.events["out"] += 1
        self.tokens = [token for token in self.tokens if token[1] != seat]

    def commit_cards(self):
        me = self.players[self.turn.seat]
        n_risk = min(me.risk, self.variant["max_risk_per_turn"])
        words = [f"P{k}" + "R" * r for k in range(me.parade + 1) for r in range(n_risk + 1)]
        word = self.ask(self.turn.seat, words)
        self.commit_parades(word.rstrip("R"))
        if word.endswith("R"):
            me.risk -= 1
            self.throw_risk_die()

    def commit_parades(self, word):
        self.players[self.turn.seat].parade -= int(word[1:])
        self.turn.shields += int(word[1:])

    def throw_risk_die(self):
        face = self.face_of(self.variant["risk_faces"])
        self.events[face] += 1
        if face == "SIX":
            self.turn.six = True
            return
        if face == "X2":
            self.turn.mult = 2
        elif face == "DUEL":
            self.fight(self.ask_target(self.variant["duel_target"]))
        elif face == "RELANCE":
            self.tokens.append((self.turn.seat, self.ask_target(self.variant["relance_target"])))
        if self.variant["parade_after_risk"]:
            parade = self.players[self.turn.seat].parade
            self.commit_parades(self.ask(self.turn.seat, [f"P{k}" for k in range(parade + 1)]))

    def ask_target(self, rule):
        return int(self.ask(self.turn.seat, [f"SEAT{seat}" for seat in self.others(rule)]).removeprefix("SEAT"))

    def fight(self, rival):
        mine, other = self.dice(2)
        while mine == other:
            mine, other = self.dice(2)
        stakes = {"difference": abs(mine - other), "winner_die": max(mine, other)}
        stake = stakes.get(self.variant["duel_stake"], self.variant["duel_stake"])
        winner, loser = (self.turn.seat, rival) if mine > other else (rival, self.turn.seat)
        self.players[winner].score += stake
        self.players[loser].score -= stake

    def first_throw(self):
        if not self.turn.six:
            self.throw()
            return
        dice = self.dice(6)
        values = list(dict.fromkeys(dice))
        self.parry(6 - len(values))
        self.turn.track = values
        self.unlock_bonus()

    def goes_on(self):
        if len(self.turn.track) == 6:
            return False
        must_throw = self.turn.double and self.variant["double_forced"]
        return self.ask(self.turn.seat, ["THROW"] if must_throw else ["STOP", "THROW"]) == "THROW"

    def throw(self):
        turn = self.turn
        n = min(2, 6 - len(turn.track)) if turn.double else 1
        triples = turn.next3
        turn.double = turn.next3 = False
        laid = []
        for value in self.dice(n):
            if value not in turn.track:
                turn.track.append(value)
                laid.append(value)
                turn.tripled = value if triples else turn.tripled
        if laid:
            self.relance_window(laid)
            self.unlock_bonus()
        else:
            self.events[f"{n} duplicates"] += 1
            self.parry(1 if n == 1 else self.variant["double_dup_parades"])

    def parry(self, n):
        if n > self.turn.shields:
            raise Out
        self.turn.shields -= n

    def relance_window(self, laid):
        seat = self.turn.seat
        for owner in sorted(owner for owner, target in self.tokens if target == seat):
            value = self.claimed_value(owner, laid)
            if value:
                self.tokens.remove((owner, seat))
                self.throw_again(value, laid)

    def claimed_value(self, owner, laid):
        if self.variant["relance_mode"] == "forced":
            fourth = self.turn.track[3:4]
            return fourth[0] if fourth and fourth[0] in laid else 0
        word = self.ask(owner, ["KEEP"] + [f"USE{value}" for value in laid])
        return 0 if word == "KEEP" else int(word.removeprefix("USE"))

    def throw_again(self, value, laid):
        turn, was_tripled = self.turn, self.turn.tripled == value
        self.events["relance used"] += 1
        turn.track.remove(value)
        laid.remove(value)
        turn.tripled = 0 if was_tripled else turn.tripled
        [again] = self.dice(1)
        if again in turn.track:
            raise Out
        turn.track.append(again)
        laid.append(again)
        if was_tripled and self.variant["relance_keeps_x3"]:
            turn.tripled = again

    def unlock_bonus(self):
        turn, variant = self.turn, self.variant
        withheld = turn.six and not variant["six_partial_bonus"] and len(turn.track) < 6
        if not variant["bonus_die"] or turn.bonus_face or withheld or len(turn.track) < variant["bonus_at"]:
            return
        turn.bonus_face = self.face_of(variant["bonus_faces"])
        turn.flat = 5 if turn.bonus_face == "PLUS5" else 0
        turn.double = turn.bonus_face == "DOUBLE"
        turn.next3 = turn.bonus_face == "X3"
        turn.suite = turn.bonus_face == "SUITE" and (variant["suite_check"] == "end" or self.has_run())

    def has_run(self):
        length = self.variant["suite_len"]
        return any(set(range(low, low + length)) <= set(self.turn.track) for low in range(1, 8 - length))

    def points(self):
        """Points of the turn as it stands."""
        turn = self.turn
        dice = sum(3 * value if value == turn.tripled else value for value in turn.track)
        points = dice * turn.mult + turn.flat
        if turn.suite and self.has_run():
            points += self.variant["suite_value"]
        return points + (self.variant["fever_bonus"] if len(turn.track) == 6 else 0)

    def score_turn(self):
        me = self.players[self.turn.seat]
        total = me.score + self.points()
        if total >= self.variant["target"] and 6 not in self.turn.track:
            self.events["no six"] += 1
            raise Out
        self.events["fever" if len(self.turn.track) == 6 else "stop"] += 1
        me.score = total
        me.validated = me.validated or total >= self.variant["target"]

    # --- the end ------------------------------------------------------------------------------------------------------

    def winners_of_round(self):
        """Return the seats that have won, or none if the game goes on."""
        validated = [seat for seat, player in enumerate(self.players) if player.validated]
        strict, target = self.variant["last_turn_strict"], self.variant["target"]
        running = [seat for seat in validated if self.players[seat].score >= target or not strict]
        for player in self.players:
            player.validated = player.validated and bool(running)
        if not running:
            self.events["play on"] += bool(validated)
            return []
        best = max(self.players[seat].score for seat in running)
        return self.sudden_death([seat for seat in running if self.players[seat].score == best])

    def sudden_death(self, order):
        """Return the winners among the tied seats, given in round order."""
        self.events[f"{len(order)} at the top"] += 1
        while len(order) > 1:
            self.drop_one(order)
            if self.variant["sudden_death"] == "share_win":
                break
        return order

    def drop_one(self, order):
        """Throw until one seat repeats a value and leaves `order`, which then begins with the next one."""
        tracks = defaultdict(set)
        while True:
            self.thrower = order[0]
            [value] = self.dice(1)
            track = tracks[self.thrower if self.variant["sudden_death"] == "own" else "common"]
            order.pop(0)
            if value in track:
                return
            track.add(value)
            order.append(self.thrower)
