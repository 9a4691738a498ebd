"""Two fixed policies evaluated exactly: how often each seat wins, and what a policy gives away against best play.

``flow.py`` says how often play comes to each decision x when a policy pi plays against best play, m(x). With V best play's win
probability of whoever decides, the policy gives away

    V(game) - V(game, pi against best play) = sum over its decisions x of m(x) * (V(x, best action) - V(x, chosen action)),

the performance difference lemma (S. Kakade, J. Langford, "Approximately optimal approximate reinforcement learning", ICML 2002):
each decision bears the loss that it causes if best play follows it. So the sum splits exactly by kind of decision. For a policy
that draws random numbers or looks at what positions leave out, m is what games show: each game's sum of losses is an unbiased
estimate (``sampling.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from tqdm import tqdm

from sims.errors import InputError, check_int
from sims.jit import CACHE
from sims.playouts import FINISHED, ILLEGAL
from sims.policy import Policy, load_policy
from sims.positions import DONE, new_players, places_of, refusal, word_type, words_overflow
from sims.ruleset import Ruleset, Variant
from sims.rulesets.dice_fever import exact, optimal, rules
from sims.rulesets.dice_fever.flow import (
    BOTH,
    IN_CARDS,
    IN_TURN,
    IN_WINDOW,
    KINDS,
    Game,
    Graph,
    Known,
    Losses,
    Room,
    Seats,
    Visits,
    play_starts,
)
from sims.rulesets.dice_fever.sampling import Book, follow_game
from sims.rulesets.dice_fever.solver import MAX_BYTES, Frame, frame_of, tie_value
from sims.rulesets.dice_fever.turns import TurnGraph, turn_graph
from sims.simulate import MAX_INT, IllegalAction, Table, accusation, find_ruleset, set_table
from sims.trace import Game as PlayedGame
from sims.trace import replay

KIND_NAMES = ("cards", "stop", "relance")
N_WORST = 10
TURNS, BEST_TURNS = 1 << 17, 1 << 19  # room for those remembered, of a policy and of best play (four times 94 floats a kilobyte)
STALE = ("first", "in_air", "surplus", "rival", "duel_die")  # left over from earlier throws, at every decision


@dataclass(frozen=True)
class Mistake:
    """A mistake of a policy: the same action at the same point of a turn where the same other one is best.

    Attributes
    ----------
    kind : str
        One of KIND_NAMES.
    decision : str
        The point of the turn, in words.
    plays, best : str
        What the policy does, and what best play does.
    times : float
        How often per game it is made, over all scores and hands.
    cost : float
        Win probability that it costs each time, on average.
    game : str
        The scores, hands and seat with which most is lost, in words.
    game_times, game_cost : float
        The same of that one position.
    """

    kind: str
    decision: str
    plays: str
    best: str
    times: float
    cost: float
    game: str
    game_times: float
    game_cost: float

    @property
    def lost(self) -> float:
        """Win probability that it costs per game."""
        return self.times * self.cost


@dataclass(frozen=True)
class Regret:
    """What a policy gives away against best play, by its seat.

    Attributes
    ----------
    win, best : float array (2,)
        How often the policy wins in each seat, and how often best play would.
    by_kind : dict of str to float array (2,)
        Win probability given away per game by each kind of decision; the sums are ``best - win``.
    worst : tuple of Mistake
        Those that lose most, the mean over both seats.
    """

    policy: str
    win: np.ndarray
    best: np.ndarray
    by_kind: dict[str, np.ndarray]
    worst: tuple[Mistake, ...]


@dataclass(frozen=True)
class Sample:
    """What a policy gave away in games against best play, each deal played in both seats.

    Attributes
    ----------
    wins, best : float array (deals, 2), (2,)
        Share of the win by deal and seat of the policy; how often best play would win, exactly.
    by_kind : dict of str to float array (deals, 2)
        Win probability given away by each kind of decision.
    worst : tuple of Mistake
        Those that lost most, the mean over both seats; the position of each is the single decision that lost most.
    """

    policy: str
    wins: np.ndarray
    best: np.ndarray
    by_kind: dict[str, np.ndarray]
    worst: tuple[Mistake, ...]


def evaluate(
    ruleset: str | Ruleset, policies: Sequence[str | Policy | Callable], variant: Any = None, progress: bool = False
) -> np.ndarray:
    """Return the exact win probability of each of two seats when fixed policies play.

    Parameters
    ----------
    ruleset, policies, variant
        As for :func:`sims.simulate.simulate`. Policies are asked once per position, and must decide by it alone.
    progress : bool
        Show a progress bar on stderr if that is a terminal.

    Returns
    -------
    wins : float array (2,)

    Raises
    ------
    InputError
        For bad arguments, another number of seats, tables that would be too large, and a policy that draws random numbers or
        looks at what positions leave out.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    ruleset = find_ruleset(ruleset)
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    table = set_table(ruleset, policies, variant)
    if len(table.policies) != 2:
        raise InputError(f"only a game of 2 seats can be evaluated exactly, not of {len(table.policies)}; simulate it instead")
    return _wins([_Flow(table, _graph(ruleset.name, tuple(variant.values.items())))], progress)[0]


def regret(ruleset: str | Ruleset, policy: str | Policy | Callable, variant: Any = None, progress: bool = False) -> Regret:
    """Return what a policy gives away per game against best play, exactly, by kind of decision and where.

    It is remembered beside the compiled kernels, for these sources, if it can be told what the policy does.

    Parameters
    ----------
    ruleset, variant, progress
        See :func:`evaluate`.
    policy : str, Policy or function
        One that decides by the position alone.

    Raises
    ------
    InputError, IllegalAction
        As :func:`evaluate`.
    """
    ruleset = find_ruleset(ruleset)
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    set_table(ruleset, [policy, policy], variant)  # refuses bad input before anything is solved
    loaded = load_policy(ruleset, policy)
    key = (ruleset.name, tuple(variant.values.items()), loaded.spec, loaded.digest)
    return (_regret if loaded.digest is None else _kept_regret)(key, ruleset, loaded, variant, progress)


def _regret(key: tuple, ruleset: Ruleset, loaded: Policy, variant: Variant, progress: bool) -> Regret:
    """Return the regret of a policy; `key` is all that it depends on."""
    solution, best = _best_play(ruleset, variant, progress)
    if loaded.function is best.function:
        loaded = best
    slots = _n_slots(solution.graph, solution.frame)
    flows = []
    for seat, seated in enumerate(([loaded, best], [best, loaded])):
        losses = _no_losses(ruleset, slots)._replace(seat=seat)
        flows.append(_Flow(set_table(ruleset, seated, variant), solution.graph, losses))
    wins = _wins(flows, progress)
    first, second = (flow.game.losses for flow in flows)
    values = _values(solution)
    kinds = {name: np.array([first.by_kind[kind], second.by_kind[kind]]) for kind, name in enumerate(KIND_NAMES)}
    worst = _worst(ruleset, _joined(first, second), solution.graph)
    return Regret(loaded.spec, np.array([wins[0][0], wins[1][1]]), values, kinds, worst)


def _best_play(ruleset: Ruleset, variant: Variant, progress: bool) -> tuple[exact.Solution, Policy]:
    solution = exact.solution(ruleset, variant, progress)
    return solution, replace(optimal.optimal, solved=(variant, partial(optimal.packed, solution)))


def _values(solution: exact.Solution) -> np.ndarray:
    return np.array([solution.first_seat_win, 1.0 - solution.first_seat_win])


UNKEYED = ["ruleset", "loaded", "variant", "progress"]  # the key says what of them matters
_kept_regret = Memory(CACHE / "regrets", verbose=0).cache(_regret, ignore=UNKEYED)


class Costs:
    """What policies give away per game against best play: the sum of their regret, on average of both seats, and sooner.

    For many policies that are known to decide by the position alone, and within a turn not by the hands. Losses are not counted,
    a policy is asked once in a position, and turns of best play, which end alike whomever it plays, are followed only once. Costs
    are remembered beside the compiled kernels, for these sources.

    Parameters
    ----------
    ruleset, variant, progress
        See :func:`evaluate`; the progress is that of solving the game.
    """

    def __init__(self, ruleset: str | Ruleset, variant: Any = None, progress: bool = False) -> None:
        self.ruleset, self.progress = find_ruleset(ruleset), progress
        self.variant = variant if isinstance(variant, Variant) else self.ruleset.variant(variant)

    def __call__(self, policy: Policy) -> float:
        """Return the cost of a policy."""
        key = (self.ruleset.name, tuple(self.variant.values.items()), policy.spec, policy.digest)
        return _kept_cost(key, self, policy)

    @cached_property
    def best_play(self) -> tuple[exact.Solution, Policy, list[Known]]:
        """The solution, best play as a policy, and what is known of its turns in either seat."""
        solution, best = _best_play(self.ruleset, self.variant, self.progress)
        return solution, best, [_known(solution.graph, BEST_TURNS) for _ in range(2)]

    def of(self, policy: Policy) -> float:
        """Return the cost of a policy, whether or not it is remembered."""
        solution, best, turns = self.best_play
        flows = []
        for seat, seated in enumerate(([policy, best], [best, policy])):
            known = (_known(solution.graph, TURNS), turns[1]) if seat == 0 else (turns[0], _known(solution.graph, TURNS))
            flows.append(_Flow(set_table(self.ruleset, seated, self.variant), solution.graph, known=known))
        one, two = _wins(flows, progress=False)
        return float((_values(solution) - [one[0], two[1]]).mean())


def _cost(key: tuple, costs: Costs, policy: Policy) -> float:
    """Return what a policy gives away; `key` is all that it depends on."""
    return costs.of(policy)


_kept_cost = Memory(CACHE / "costs", verbose=0).cache(_cost, ignore=["costs", "policy"])


def _known(graph: TurnGraph, room: int) -> Known:
    """Return room for so many turns, a power of two."""
    slots = 4 * room
    return Known(np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros((room, len(graph.points))), np.zeros(1, np.int64))


def sampled_regret(
    ruleset: str | Ruleset,
    policy: str | Policy | Callable,
    games: int = 10_000,
    seed: int = 0,
    variant: Any = None,
    progress: bool = False,
) -> Sample:
    """Return what a policy, any, gave away in games against best play: what :func:`regret` says, estimated.

    Parameters
    ----------
    ruleset, policy, variant, progress
        See :func:`evaluate`.
    games, seed : int
        As for :func:`sims.simulate.simulate`; rounded up to whole deals, each played in both seats.

    Raises
    ------
    InputError
        For bad arguments and tables that would be too large.
    IllegalAction
        If the policy returns an action that is not legal.
    """
    ruleset = find_ruleset(ruleset)
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    games, seed = check_int(games, "games", 1, MAX_INT), check_int(seed, "seed", 0, MAX_INT)
    loaded = load_policy(ruleset, policy)
    set_table(ruleset, [loaded, loaded], variant).arguments()  # refuses bad input before anything is solved
    solution, best = _best_play(ruleset, variant, progress)
    table = set_table(ruleset, [loaded.solved_for(ruleset, variant), best], variant)
    book, losses = _book(solution, best.params), _no_losses(ruleset, _n_slots(solution.graph, solution.frame))
    wins, lost = np.zeros((-(-games // 2), 2)), np.zeros((-(-games // 2), 2, len(KINDS)))
    with tqdm(total=len(wins), unit=" deals", disable=None if progress else True) as bar:
        for deal in range(len(wins)):
            for seat in range(2):  # the rotation in which the policy has this seat
                game = replay(table, seed, deal, seat)
                if game.status == ILLEGAL:
                    raise IllegalAction(accusation(table, seed, deal, seat, int(rules.actor(game.state))))
                follow_game(np.array(game.codes), seat, book, losses)
                wins[deal, seat], lost[deal, seat] = _share(game, seat), losses.by_kind
                losses.by_kind[:] = 0.0
            bar.update(1)
    losses.sums[:] /= len(wins)
    kinds = {name: lost[:, :, kind] for kind, name in enumerate(KIND_NAMES)}
    return Sample(loaded.spec, wins, _values(solution), kinds, _worst(ruleset, losses, solution.graph))


def _book(solution: exact.Solution, params: np.ndarray) -> Book:
    states, n = _records(solution.ruleset, 3), int(params[optimal.LEAVES] + params[optimal.NODES])
    states[:] = solution.ruleset.new_state(2, solution.variant)
    frame = solution.frame
    return Book(params, np.zeros(n), states, solution.graph.rows, optimal.ways_of(frame), 2 * (frame.parade + 1))


def _share(game: PlayedGame, seat: int) -> float:
    shares = np.zeros(2)
    if game.status == FINISHED:
        rules.payoffs(game.state, shares)
    return float(shares[seat])


@lru_cache(maxsize=1)
def _graph(ruleset: str, values: tuple) -> TurnGraph:
    """Walk through every turn of a variant; remembered, as two seatings share it."""
    return turn_graph(find_ruleset(ruleset), Variant("", dict(values)))


def _wins(flows: Sequence["_Flow"], progress: bool) -> list[np.ndarray]:
    """Let probability flow through games at the same time; return how often each seat wins each."""
    name = " v ".join(policy.spec for policy in flows[0].table.policies)
    with tqdm(total=sum(flow.frame.hands**2 for flow in flows), unit=" layers", disable=None if progress else True) as bar:
        bar.set_description(f"evaluating {name}"[:60])
        return Parallel(n_jobs=len(flows), prefer="threads")(delayed(flow.wins)(bar) for flow in flows)


class _Flow:
    """Two players and room for how often play comes to every turn; with room for what is known of turns, see :class:`Costs`."""

    @words_overflow
    def __init__(
        self, table: Table, graph: TurnGraph, losses: Losses | None = None, known: tuple[Known, Known] | None = None
    ) -> None:
        self.table = table
        self.frame = frame_of(table.ruleset, table.variant, graph)
        is_best = [policy.function is optimal.optimal.function for policy in table.policies]
        tables = [policy.params for policy, plays_best in zip(table.policies, is_best, strict=True) if plays_best]
        best = tables[0] if tables else np.zeros(1)
        players = new_players([False, False], table, np.zeros(0, np.int64))
        losses = _no_losses(table.ruleset, 0) if losses is None else losses
        forgotten = self._forgotten() if known is None else (np.zeros(0, np.int64),) * 3
        known = (_known(graph, 0),) * 2 if known is None else known
        seats = Seats(players, forgotten, np.array(is_best), best, losses.seat >= 0, known)
        turns = self._turns(graph)
        self.game = Game(turns, seats, self._visits(), losses, self._room(graph))

    def _forgotten(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what a policy must not go by when it is asked for cards, in a turn and in a Relance window."""
        ruleset, values = self.table.ruleset, self.table.variant.values
        stale = [*_measures(ruleset), *STALE]
        six = () if values["bonus_die"] and not values["six_partial_bonus"] else ("six",)
        cards, turn, window = (*stale, "fresh", "owner"), (*stale, "fresh", "owner", *six), (*stale, *six)
        return places_of(ruleset, *cards), places_of(ruleset, *turn), places_of(ruleset, *window)

    def _turns(self, graph: TurnGraph) -> Graph:
        states = graph.records.copy()
        states["variant"] = self.table.ruleset.new_state(2, self.table.variant).variant
        reach, below = _reach(graph)
        same = {name: getattr(graph, name) for name in Graph._fields if hasattr(graph, name)}
        return Graph(**{**same, "states": states, "reach": reach, "below": below})

    def _visits(self) -> Visits:
        frame, (ruleset, variant) = self.frame, (self.table.ruleset, self.table.variant)
        scores = frame.high - frame.low + 1
        shape = (2, 2, frame.hands, frame.hands, scores, scores)
        last_shape = (2, frame.hands, frame.hands, frame.top - frame.target + 1, scores)
        if 8 * (np.prod(shape, dtype=float) + np.prod(last_shape, dtype=float)) > MAX_BYTES:
            raise InputError(f"{variant.name} has too many positions to be evaluated: {np.prod(shape, dtype=float):.2g}")
        return Visits(
            starts=np.zeros(shape),
            last=np.zeros(last_shape),
            wins=np.zeros(2),
            ways=optimal.ways_of(frame),
            tie=tie_value(ruleset, variant),
            low=frame.low,
            target=frame.target,
            risk=frame.risk,
            useless=variant.values["risk_cards"] - frame.risk,
            codes=2 * (frame.parade + 1),
        )

    def _room(self, graph: TurnGraph) -> Room:
        ruleset = self.table.ruleset
        branches, n = 2 * max(len(optimal.ways_of(self.frame)), 1), len(graph.points) + len(graph.states)
        starts, turns = _records(ruleset, 2), _records(ruleset, 2 * branches)
        starts[:] = ruleset.new_state(2, self.table.variant)
        return Room(
            starts=starts,
            branches=turns,
            after=_records(ruleset, 1),
            words=(_words(starts), _words(turns)),
            flow=np.zeros((branches, n)),
            values=np.zeros((branches, n)),
            best=np.zeros((branches, len(graph.states)), np.int64),
            chosen=np.zeros((branches, len(graph.states)), np.int64),
            numbers=np.zeros((branches, 5), np.int64),
            worth=np.zeros((branches, 3)),
            pair=np.zeros((2, 2)),
            counts=np.zeros(3, np.int64),
        )

    @words_overflow
    def wins(self, bar: tqdm) -> np.ndarray:
        """Let probability flow through the game, and return how often each seat wins."""
        frame, visits = self.frame, self.game.visits
        visits.starts[0, 0, -1, -1, -frame.low, -frame.low] = 1.0
        for group in reversed(frame.layers()):
            for one, two in group:
                status = play_starts(one, two, _places(frame, one, two), self.game)
                if status != DONE:
                    raise self._refusal(status)
                bar.update(1)
        return visits.wins.copy()

    def _refusal(self, status: int) -> Exception:
        action, state = int(self.game.room.counts[2]), self.game.room.after[0]
        forgotten = [*_measures(self.table.ruleset), *STALE, "fresh", "owner", "six"]
        error = refusal(self.table, int(rules.actor(state)), status, action, state, forgotten)
        is_regret = self.game.losses.seat >= 0 and isinstance(error, InputError)
        return InputError(f"{error}, with --games") if is_regret else error


def _records(ruleset: Ruleset, n: int) -> Any:
    return np.zeros(n, ruleset.state).view(np.recarray)


def _words(records: Any) -> np.ndarray:
    """Return the memory of records, a row of words each; see :mod:`sims.positions`."""
    return records.view(np.ndarray).view(word_type(records.dtype)).reshape(len(records), -1)


def _no_losses(ruleset: Ruleset, slots: int) -> Losses:
    """Return room for the losses by so many mistakes, of no seat."""
    return Losses(-1, np.zeros(len(KINDS)), np.zeros((slots, 4)), _records(ruleset, slots), np.zeros((slots, 2), np.int64))


def _joined(one: Losses, two: Losses) -> Losses:
    """Return the losses of both seats by mistake, each with the position that loses more."""
    more = two.sums[:, 3] > one.sums[:, 3]
    sums, states = one.sums.copy(), one.states.copy()
    sums[:, :2] += two.sums[:, :2]
    sums[more, 2:], states[more] = two.sums[more, 2:], two.states[more]
    return Losses(-1, one.by_kind + two.by_kind, sums, states, np.where(more[:, None], two.actions, one.actions))


def _n_slots(graph: TurnGraph, frame: Frame) -> int:
    """Return how many mistakes are told apart; see ``flow.card_slot``."""
    return 3 * len(graph.actions) + 2 * frame.hands * (2 * frame.parade + 2) ** 2


def _measures(ruleset: Ruleset) -> list[str]:
    return [name for name in ruleset.measures if name != "score"]


def _places(frame: Frame, one: int, two: int) -> np.ndarray:
    """Return the starts of turns with these hands in the order in which probability comes to them; see ``play_starts``."""
    low, high = frame.bounds(one, two)
    scores = np.arange(low, high + 1)
    first, second = (each.ravel() for each in np.meshgrid(scores, scores, indexing="ij"))
    order = np.argsort(first + second, kind="stable")
    first, second = first[order], second[order]
    none = np.zeros_like(first)
    rows = [np.stack([none + who, none + token, first, second, none], 1) for who, token in ((0, 1), (1, 1), (BOTH, 0))]
    ordinary = np.stack(rows, 1).reshape(-1, 5)
    first, second = (
        each.ravel() for each in np.meshgrid(np.arange(frame.target, frame.top + 1), np.arange(frame.low, frame.high + 1))
    )
    none = np.zeros_like(first)
    return np.concatenate([ordinary, *(np.stack([none + 1, none + token, first, second, none + 1], 1) for token in range(2))])


def _reach(graph: TurnGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return for each start where its list begins (and one end more), and the lists: every node that it leads to, rising."""
    n_leaves, (below, _) = len(graph.points), optimal.what_is_below(graph)
    lists = [sorted(child - n_leaves for child in each if child >= n_leaves) for each in below[len(graph.states) :]]
    return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int64)


# --- mistakes in words ------------------------------------------------------------------------------------------------------


def _worst(ruleset: Ruleset, losses: Losses, graph: TurnGraph) -> tuple[Mistake, ...]:
    """Return the mistakes that lose most; a game is the mean of both seatings."""
    slots = np.argsort(-losses.sums[:, 1], kind="stable")[:N_WORST]
    return tuple(
        _mistake(ruleset, losses, int(slot), slot >= 3 * len(graph.actions)) for slot in slots if losses.sums[slot, 1] > 0
    )


def _mistake(ruleset: Ruleset, losses: Losses, slot: int, of_cards: bool) -> Mistake:
    state, (chosen, best) = losses.states[slot], losses.actions[slot]
    kind = IN_CARDS if of_cards else IN_WINDOW if state.phase == rules.WINDOW else IN_TURN
    times, lost, worst_times, worst = losses.sums[slot]
    return Mistake(
        kind=KIND_NAMES[kind],
        decision=turn_words(state),
        plays=ruleset.describe(state, int(chosen)),
        best=ruleset.describe(state, int(best)),
        times=float(times / 2),
        cost=float(lost / times),
        game=game_words(state),
        game_times=float(worst_times / 2),
        game_cost=float(worst / worst_times),
    )


def turn_words(state: Any) -> str:
    """Say where in a turn a decision is; for a Relance token, in the opponent's turn."""
    seat = int(state.turn)
    if state.phase == rules.COMMIT:
        return f"before the first die, hand {_hand(state, seat)}"
    words = [f"{state.shields} shields" if state.shields != 1 else "1 shield"]
    if state.mult == 2:
        words.append("Score x2")
    if state.phase == rules.ADD_PARADE:
        return ", ".join(["after the RISK die", f"hand {_hand(state, seat)}", *words])
    track = ",".join(str(value) for value in range(1, 7) if state.track & rules.bit(value))
    words[:0] = [f"track {track} worth {rules.stop_points(state)}"]
    if state.bonus_face != rules.NO_FACE:
        waits = state.next3 or state.double
        words.append(f"BONUS {rules.BONUS_FACES[state.bonus_face]}{' due' if waits else ''}")
    if state.tripled_value:
        words.append(f"{state.tripled_value} tripled")
    if state.phase == rules.WINDOW:
        fresh = ",".join(str(value) for value in range(1, 7) if state.fresh & rules.bit(value))
        return ", ".join([f"their turn, {fresh} just laid", *words])
    return ", ".join([*words, *(["under a Relance"] if state.tokens[seat] else [])])


def game_words(state: Any) -> str:
    """Say the scores, hands and seat of whoever decides."""
    me = int(rules.actor(state))
    words = [f"{state.score[me]} v {state.score[1 - me]}", f"seat {me}", f"hands {_hand(state, me)} v {_hand(state, 1 - me)}"]
    if state.last_round:
        words.append("last turn")
    if state.tokens[1 - me] and state.phase != rules.WINDOW:
        words.append("a Relance against their next turn")
    return ", ".join(words)


def _hand(state: Any, seat: int) -> str:
    return f"{state.parade[seat]}P{state.risk[seat]}R"
