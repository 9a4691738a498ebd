"""Dicefest a second time, slow and obvious: coordinates, sets and the words of a transcript; no tables, no masks."""

from itertools import combinations

SIDES = "SWNE"
STEP = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}
INNER = {(row, column) for row in range(1, 7) for column in range(1, 7)}
BOARD = {(row, column) for row in range(8) for column in range(8)} - {(0, 0), (0, 7), (7, 0), (7, 7)}
TURN = {
    "yaw_cw": lambda t, n, e, s, w, b: (t, w, n, e, s, b),
    "yaw_ccw": lambda t, n, e, s, w, b: (t, e, s, w, n, b),
    "tip_N": lambda t, n, e, s, w, b: (s, t, e, b, w, n),
    "tip_S": lambda t, n, e, s, w, b: (n, b, e, t, w, s),
    "tip_E": lambda t, n, e, s, w, b: (w, n, t, s, b, e),
    "tip_W": lambda t, n, e, s, w, b: (e, n, b, s, t, w),
}


def square_on_side(side, value):
    return {"S": (0, 7 - value), "W": (value, 0), "N": (7, value), "E": (7 - value, 7)}[side]


class Reference:
    """A game from the first turn on; `variant` is a dict of the fields."""

    def __init__(self, sides, dice, first, variant):
        self.sides, self.variant = sides, variant
        self.dice = [list(each) for each in dice]  # per seat: [faces, square]
        self.locked = [[False] * 3 for _ in sides]
        self.tokens, self.reserve = set(INNER), [0] * len(sides)
        self.locking_order = []
        self.passes, self.log, self.result = 0, [], None
        self.due = self.turned = self.quarters = 0
        self.turn = first
        self.go_on()

    # --- what may be done ---------------------------------------------------------------------------------------------

    def occupied(self):
        return {square for dice in self.dice for _, square in dice}

    def free(self):
        return INNER - self.tokens - self.occupied()

    def target(self, k, direction):
        faces, (row, column) = self.dice[self.turn][k]
        distance = faces[1 + "NESW".index(direction)]
        return row + distance * STEP[direction][0], column + distance * STEP[direction][1]

    def turns_of(self, k):
        cost = self.dice[self.turn][k][0][0]
        can_pay = self.reserve[self.turn] >= cost and len(self.free()) >= cost
        return {f"{'abc'[k]}.{turn}" for turn in TURN} if can_pay else set()

    def actions(self):
        words = set()
        for k in range(3):
            if self.locked[self.turn][k]:
                continue
            for i, direction in enumerate("NESW"):
                if self.target(k, direction) in BOARD - self.occupied():
                    words.add(f"{'abc'[k]}{direction}{self.dice[self.turn][k][0][1 + i]}")
            words |= self.turns_of(k)
        return words

    def words(self):
        if self.result is not None:
            return set()
        if self.due:
            return {f"{row}{column}" for row, column in self.free()}
        return {"DONE"} | self.turns_of(self.turned) if self.quarters else self.actions()

    # --- what is done -------------------------------------------------------------------------------------------------

    def play(self, word):
        assert word in self.words()
        if self.due:
            self.place((int(word[0]), int(word[1])))
        elif word == "DONE":
            self.end_action()
            self.go_on()
            return
        elif word[1] == ".":
            self.turned = "abc".index(word[0])
            die = self.dice[self.turn][self.turned]
            self.due, die[0] = die[0][0], TURN[word[2:]](*die[0])
            self.quarters += 1
        else:
            self.move("abc".index(word[0]), word[1])
            self.end_action()
            self.go_on()
            return
        if len(self.free()) == self.due:
            for square in self.free():
                self.place(square)
        if not self.due:
            if self.variant["lock_by_rotation"]:
                self.lock(self.turned)
            may_go_on = self.quarters < self.variant["turns_per_action"] and not self.locked[self.turn][self.turned]
            if not (may_go_on and self.turns_of(self.turned)):
                self.end_action()
                self.go_on()

    def place(self, square):
        assert square in self.free()
        self.tokens.add(square)
        self.reserve[self.turn] -= 1
        self.due -= 1

    def move(self, k, direction):
        row, column = self.dice[self.turn][k][1]
        goal = self.target(k, direction)
        way = []
        while (row, column) != goal:
            row, column = row + STEP[direction][0], column + STEP[direction][1]
            way.append((row, column))
        taken = self.tokens & set(way if self.variant["collect"] == "path" else way[-1:])
        self.tokens -= taken
        self.reserve[self.turn] += len(taken)
        self.dice[self.turn][k][1] = goal
        self.lock(k)

    def lock(self, k):
        faces, square = self.dice[self.turn][k]
        across = SIDES[(SIDES.index(self.sides[self.turn]) + 2) % 4]
        if square == square_on_side(across, faces[0]):
            self.locked[self.turn][k] = True
            if all(self.locked[self.turn]):
                self.locking_order.append(self.turn)

    # --- turns and the end --------------------------------------------------------------------------------------------

    def end_action(self):
        self.quarters = self.passes = 0
        self.judge()
        self.turn = self.turn if self.result else (self.turn + 1) % len(self.sides)

    def judge(self):
        seats = range(len(self.sides))
        if all(self.locked[self.turn]) and self.reserve[self.turn] == 0:
            self.result = "total", [self.turn]
        elif all(all(each) for each in self.locked):
            best = [seat for seat in seats if self.reserve[seat] == min(self.reserve)]
            if self.variant["tie"] == "first_locked":
                best = [min(best, key=self.locking_order.index)]
            self.result = "mini", best
        elif self.passes == len(self.sides):
            self.result = "deadlock", self.deadlocked()

    def deadlocked(self):
        seats = range(len(self.sides))
        if self.variant["deadlock"] == "draw":
            return [*seats]
        rank = [(-sum(self.locked[seat]), self.reserve[seat]) for seat in seats]
        return [seat for seat in seats if rank[seat] == min(rank)]

    def position(self):
        dice = tuple(tuple(sorted((tuple(faces), square) for faces, square in each)) for each in self.dice)
        return self.turn, dice, frozenset(self.tokens), tuple(self.reserve)

    def go_on(self):
        seen = []
        while self.result is None:
            self.log.append(self.position())
            if self.variant["repetition"] and self.log.count(self.log[-1]) >= 3:
                self.result = "repetition", [*range(len(self.sides))]
                return
            if len(seen) == 1000:  # nobody had a choice since
                self.result = "deadlock", self.deadlocked()
                return
            words = self.actions()
            if len(words) > 1:
                return
            seen.append(self.position())
            self.passes = 0 if words else self.passes + 1
            for word in words:
                self.move("abc".index(word[0]), word[1])
            self.judge()
            self.turn = self.turn if self.result else (self.turn + 1) % len(self.sides)


def triples():
    return {"".join(map(str, sorted(each, reverse=True))) for each in combinations(range(1, 7), 3)}
