"""The tables of Dicefest against a second reading: matrices for the dice, and the exact facts by enumeration."""

from collections import Counter, deque
from itertools import combinations, permutations, product

import numpy as np
import pytest

from sims.rulesets.dicefest import geometry
from sims.rulesets.dicefest.geometry import (
    DISTANCE,
    FACE,
    GOAL,
    HANDS,
    INNER,
    NUMBER,
    ORIENTATIONS,
    PATH,
    SPENDING,
    SQUARES,
    STANDING,
    START,
    TARGET,
    TRIPLES,
    TURNED,
    TURNS,
    bit,
    lowest,
    size,
)

RIGHT = range(24)
SOUTH, WEST, NORTH, EAST = range(4)
EAST_FACES = {  # the specification's table: east face by top and north face, right-handed
    1: {2: 4, 3: 2, 4: 5, 5: 3},
    2: {1: 3, 3: 6, 4: 1, 6: 4},
    3: {1: 5, 2: 1, 5: 6, 6: 2},
    4: {1: 2, 2: 6, 5: 1, 6: 5},
    5: {1: 4, 3: 1, 4: 6, 6: 3},
    6: {2: 3, 3: 5, 4: 2, 5: 4},
}
# Axes: east, north, up. Where each face of FACES points.
POINTING = {"T": (0, 0, 1), "N": (0, 1, 0), "E": (1, 0, 0), "S": (0, -1, 0), "W": (-1, 0, 0), "B": (0, 0, -1)}


def rotation(axis, sense):
    """The matrix of a quarter-turn about an axis, counter-clockwise as seen from its end for sense 1."""
    axis = np.array(axis)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.outer(axis, axis) + sense * cross


MATRICES = {
    "yaw_cw": rotation((0, 0, 1), -1),
    "yaw_ccw": rotation((0, 0, 1), 1),
    "tip_N": rotation((1, 0, 0), -1),  # about the axis to the east, so that the top goes to north
    "tip_S": rotation((1, 0, 0), 1),
    "tip_E": rotation((0, 1, 0), 1),
    "tip_W": rotation((0, 1, 0), -1),
}


def by_matrix(die, matrix):
    where = {tuple(matrix @ np.array(POINTING[place])): face for place, face in zip("TNESWB", die, strict=True)}
    return tuple(where[POINTING[place]] for place in "TNESWB")


def rc(row, column):
    return 8 * row + column


# --- dice -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", TURNS)
def test_r12_turns_are_rotations_in_space(turn):
    for number, die in enumerate(ORIENTATIONS):
        assert ORIENTATIONS[TURNED[number, [*TURNS].index(turn)]] == by_matrix(die, MATRICES[turn])


def test_r8_opposite_faces_add_up_to_seven():
    for top, north, east, south, west, bottom in ORIENTATIONS:
        assert top + bottom == north + south == east + west == 7


@pytest.mark.parametrize("hand, sign", [("right", 1), ("left", -1)])
def test_r9_handedness(hand, sign):
    """From outside the corner of 1, 2 and 3 these go counter-clockwise on a right-handed die: a right-handed basis."""
    for number in STANDING[HANDS.index(hand), 1:].ravel():
        where = {face: np.array(POINTING[place]) for place, face in zip("TNESWB", ORIENTATIONS[number], strict=True)}
        assert round(np.linalg.det(np.array([where[1], where[2], where[3]]))) == sign


def test_r10_there_are_24_orientations_of_each_hand():
    dice = {die for die in permutations(range(1, 7)) if die[0] + die[5] == die[1] + die[3] == die[2] + die[4] == 7}
    assert len(dice) == 48
    assert len(set(ORIENTATIONS)) == 48
    assert set(ORIENTATIONS) == dice
    assert {ORIENTATIONS[number] for number in STANDING[0, 1:].ravel()} == set(ORIENTATIONS[:24])
    assert {ORIENTATIONS[number] for number in STANDING[1, 1:].ravel()} == set(ORIENTATIONS[24:])


def test_r11_east_faces():
    right = {(die[0], die[1]): die[2] for die in ORIENTATIONS[:24]}
    assert right == {(top, north): east for top, row in EAST_FACES.items() for north, east in row.items()}
    left = {(die[0], die[1]): die[4] for die in ORIENTATIONS[24:]}
    assert left == right


def test_quarter_turns_as_a_group():
    """Each has order 4, three pairs of inverses, all orientations from any, and they do not commute."""
    turns = [*TURNS]
    for one, other in combinations(range(6), 2):
        is_pair = one // 2 == other // 2
        both, reverse = TURNED[TURNED[:, one], other], TURNED[TURNED[:, other], one]
        assert (both == np.arange(48)).all() == is_pair, (turns[one], turns[other])
        assert (both == reverse).all() == is_pair
    for turn in range(6):
        numbers, orders = np.arange(48), []
        for _ in range(4):
            numbers = TURNED[numbers, turn]
            orders.append(bool((numbers == np.arange(48)).all()))
        assert orders == [False, False, False, True]
    for start in (0, 24):
        reached = {start}
        while True:
            more = reached | {int(number) for number in TURNED[sorted(reached)].ravel()}
            if more == reached:
                break
            reached = more
        assert reached == set(range(start, start + 24))


def test_d1_and_d2_turns_of_a_die():
    die = (6, 3, 5, 4, 2, 1)
    assert die in ORIENTATIONS[:24]
    assert {turn: geometry.turned(die, turn) for turn in TURNS} == {
        "tip_S": (3, 1, 5, 6, 2, 4),
        "tip_N": (4, 6, 5, 1, 2, 3),
        "tip_E": (2, 3, 6, 4, 1, 5),
        "tip_W": (5, 3, 1, 4, 6, 2),
        "yaw_cw": (6, 2, 3, 5, 4, 1),
        "yaw_ccw": (6, 5, 4, 2, 3, 1),
    }
    assert geometry.turned(geometry.turned(die, "tip_E"), "tip_N") == (4, 2, 6, 5, 1, 3)
    assert geometry.turned(geometry.turned(die, "tip_N"), "tip_E") == (2, 6, 4, 1, 3, 5)


def test_a24_the_dice_of_the_rulebook_are_right_handed():
    """Top 6, left 2, down 4; and left 1, down 2, right 6, up 5, whose top must then be 3."""
    assert [die for die in ORIENTATIONS if die[0] == 6 and die[4] == 2 and die[3] == 4] in ([(6, 3, 5, 4, 2, 1)],)
    assert NUMBER[6, 3, 5, 4, 2, 1] in RIGHT
    assert [die[0] for die in ORIENTATIONS[:24] if die[1:5] == (5, 6, 2, 1)] == [3]


# --- the board --------------------------------------------------------------------------------------------------------------


def test_r1_r2_r3_squares():
    assert len(SQUARES) == 60
    assert not {rc(0, 0), rc(0, 7), rc(7, 0), rc(7, 7)} & set(SQUARES)
    inner = {square for square in SQUARES if INNER >> square & 1}
    assert inner == {rc(row, column) for row in range(1, 7) for column in range(1, 7)}
    assert {int(square) for square in START[:, 1:].ravel()} == set(SQUARES) - inner


def test_r4_numbers_of_the_sides():
    for value in range(1, 7):
        assert START[:, value].tolist() == [rc(0, 7 - value), rc(value, 0), rc(7, value), rc(7 - value, 7)]
    assert START[SOUTH, 6] == rc(0, 1)  # the highest on the left of who sits there
    assert START[NORTH, 6] == rc(7, 6)


def test_r5_goals():
    assert GOAL[SOUTH].tolist() == START[NORTH].tolist()
    assert GOAL[NORTH].tolist() == START[SOUTH].tolist()
    assert GOAL[WEST].tolist() == START[EAST].tolist()
    assert GOAL[EAST].tolist() == START[WEST].tolist()


def test_r6_the_sides_are_equivalent():
    """The board seen by another side is the board turned; so are the dice, and with them all distances."""
    turned = {
        NORTH: (lambda row, column: (7 - row, 7 - column), 2),
        WEST: (lambda row, column: (column, 7 - row), 1),
        EAST: (lambda row, column: (7 - column, row), 3),
    }
    cw = [*TURNS].index("yaw_cw")
    for side, (to_south, quarters) in turned.items():
        orient = np.arange(48)  # as the South seat would see it: South's forward is north, that of West is east
        for _ in range((4 - quarters) % 4):
            orient = TURNED[orient, cw]
        for square in SQUARES:
            seen = rc(*to_south(*divmod(square, 8)))
            assert (DISTANCE[side, square] == DISTANCE[SOUTH, seen, orient]).all()
            assert (SPENDING[side, square] == SPENDING[SOUTH, seen, orient]).all()
        for value in range(1, 7):
            assert rc(*to_south(*divmod(int(START[side, value]), 8))) == START[SOUTH, value]


def test_r14_triples():
    assert [set(map(int, triple)) for triple in TRIPLES] == sorted(
        map(set, combinations(range(1, 7), 3)), key=lambda s: sorted(s)[::-1]
    )
    assert all(high > middle > low for high, middle, low in TRIPLES)


def test_sets_of_squares():
    rng = np.random.default_rng(1)
    for square in SQUARES:
        assert lowest(bit(square)) == square
    for _ in range(200):
        chosen = rng.choice(SQUARES, rng.integers(1, 61), replace=False)
        squares = np.int64(sum(1 << int(square) for square in chosen))
        assert (size(squares), lowest(squares)) == (len(chosen), min(chosen))


# --- moves ------------------------------------------------------------------------------------------------------------------


def obvious_target(square, die, direction):
    row, column = divmod(square, 8)
    step_row, step_column = [(1, 0), (0, 1), (-1, 0), (0, -1)][direction]
    row, column = row + die[1 + direction] * step_row, column + die[1 + direction] * step_column
    return rc(row, column) if rc(row, column) in SQUARES and 0 <= row < 8 and 0 <= column < 8 else -1


def test_r20_r21_targets():
    for square, number, direction in product(SQUARES, range(48), range(4)):
        assert TARGET[square, number, direction] == obvious_target(square, ORIENTATIONS[number], direction)


def test_r25_paths():
    for square, direction, distance in product(SQUARES, range(4), range(1, 7)):
        row, column = divmod(square, 8)
        step_row, step_column = [(1, 0), (0, 1), (-1, 0), (0, -1)][direction]
        passed = [(row + i * step_row, column + i * step_column) for i in range(1, distance + 1)]
        inner = {rc(*each) for each in passed if 1 <= each[0] <= 6 and 1 <= each[1] <= 6}
        assert PATH[square, direction, distance] == sum(1 << each for each in inner)


def test_d13_corner():
    for die in ORIENTATIONS:
        if die[1] == 4:
            assert TARGET[rc(3, 0), NUMBER[die], 0] == -1
        if die[1] == 3:
            assert TARGET[rc(3, 0), NUMBER[die], 0] == rc(6, 0)


def test_d14_mod_7_walk():
    die = next(NUMBER[die] for die in ORIENTATIONS if die[1] == 3)
    row, rows = 0, [0]
    for _ in range(7):
        targets = [int(TARGET[rc(row, 3), die, direction]) for direction in (0, 2)]
        row = max(target // 8 if target >= 0 else -1 for target in targets)
        rows.append(row)
    assert rows == [0, 3, 6, 2, 5, 1, 4, 7]
    assert {int(TARGET[rc(4, 3), die, direction]) for direction in (0, 2)} == {rc(7, 3), rc(0, 3)}


def test_mod_7_law():
    """Off the edge lines exactly one direction of an axis is on the board, and both where row + face is 7."""
    for square, number in product(SQUARES, RIGHT):
        row, column = divmod(square, 8)
        for at, across, forward, back in ((row, column, 0, 2), (column, row, 1, 3)):
            face = FACE[number, 1 + forward]
            n = sum(TARGET[square, number, direction] >= 0 for direction in (forward, back))
            for direction in (forward, back):
                target = TARGET[square, number, direction]
                if target >= 0:
                    there = target // 8 if forward == 0 else target % 8
                    assert (there - at - face) % 7 == 0
            if across in (0, 7):
                assert n == (at + face != 7)
            else:
                assert n == 1 + (at + face == 7)


def test_legal_moves_of_a_lone_die():
    n = Counter(int((TARGET[square, number] >= 0).sum()) for square, number in product(SQUARES, RIGHT))
    assert n == {1: 96, 2: 1080, 3: 240, 4: 24}
    assert sum(k * times for k, times in n.items()) / 1440 == pytest.approx(2.133, abs=0.0005)


# --- distances --------------------------------------------------------------------------------------------------------------


def steps(square, die):
    """What one action makes of a lone die, and what it costs."""
    moves = [(obvious_target(square, die, direction), die, 0) for direction in range(4)]
    turns = [(square, by_matrix(die, matrix), die[0]) for matrix in MATRICES.values()]
    return [step for step in moves + turns if step[0] != -1]


def test_distances_and_payments_by_relaxation():
    """Pairs of actions and tokens, the smaller first, until nothing changes."""
    pairs = list(product(SQUARES, ORIENTATIONS[:24]))
    after = {pair: steps(*pair) for pair in pairs}
    plans = {(square, die): (0, 0) for square, die in pairs if square == GOAL[SOUTH, die[0]]}
    goals, before = set(plans), None
    while plans != before:
        before = dict(plans)
        for pair in pairs:
            known = [(before[there, die], cost) for there, die, cost in after[pair] if (there, die) in before]
            if known and pair not in goals:
                plans[pair] = min((actions + 1, paid + cost) for (actions, paid), cost in known)
    for (square, die), plan in plans.items():
        assert (DISTANCE[SOUTH, square, NUMBER[die]], SPENDING[SOUTH, square, NUMBER[die]]) == plan
    assert len(plans) == 1440


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("hand", [0, 1])
def test_histogram_of_distances(side, hand):
    distances = DISTANCE[side][SQUARES][:, 24 * hand : 24 * hand + 24]
    assert Counter(distances.ravel().tolist()) == {0: 24, 1: 126, 2: 228, 3: 564, 4: 378, 5: 120}


def test_every_start_needs_four_actions():
    for side, value in product(range(4), range(1, 7)):
        assert {int(DISTANCE[side, START[side, value], number]) for number in STANDING[0, value]} == {4}


def test_moves_without_a_turn():
    """Seven moves forward, and 2 v / east modulo 7 to the side: 8, 10, 11 or 13 in all."""
    lengths = set()
    for value, number in product(range(1, 7), range(48)):
        if FACE[number, 0] != value:
            continue
        edge, seen = deque([(int(START[SOUTH, value]), 0)]), set()
        while edge:
            square, moves = edge.popleft()
            if square == GOAL[SOUTH, value]:
                break
            if square in seen:
                continue
            seen.add(square)
            edge += [(int(target), moves + 1) for target in TARGET[square, number] if target >= 0]
        inverse = pow(int(FACE[number, 2]), -1, 7)
        assert moves == 7 + 2 * value * inverse % 7
        lengths.add(moves)
    assert lengths == {8, 10, 11, 13}
