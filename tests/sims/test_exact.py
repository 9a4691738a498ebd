"""Exact values against slow obvious oracles, published values and simulation."""

import hashlib
import types
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest

from sims import RULESETS, IllegalAction, InputError, policy, positions, simulate
from sims.exact import Solution, best_response, evaluate, solve
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import CHANCE, MAX_ACTIONS, OVER, PLY_LIMIT, Field, Ruleset, variant_dtype
from sims.rulesets.pig.rules import HOLD, ROLL
from sims.simulate import set_table
from sims.streams import draw
from sims.trace import follow

PIG, FEVER = RULESETS["pig"], RULESETS["dice-fever"]
GOAL = 6 if INTERPRETED else 10
SMALL = f"standard,goal={GOAL}"
compiled_only = pytest.mark.skipif(INTERPRETED, reason="hundreds of thousands of positions")


# --- oracle: a dict of positions by their bytes, and plain value iteration ------------------------------------------------


class Oracle:
    """All positions of a game through the rules functions in Python; `asked` has a policy, or None, per seat."""

    def __init__(self, ruleset, variant, asked):
        self.ruleset, self.asked, self.seats = ruleset, asked, len(asked)
        self.states, self.who, self.after, self.values = {}, {}, {}, {}
        first = ruleset.new_state(self.seats, variant)
        self.first = self.key(first)
        todo = [first]
        while todo:
            state = todo.pop()
            key = self.key(state)
            if key in self.states:
                continue
            found = self.successors(state)
            self.states[key], self.who[key], self.after[key] = state, ruleset.rules.actor(state), list(map(self.key, found))
            self.values[key] = np.zeros(self.seats)
            if self.who[key] == OVER:
                ruleset.rules.payoffs(state, self.values[key])
            todo += found
        backwards = list(reversed(self.states))
        while max(map(self.update, backwards)) > 1e-12:
            pass

    def key(self, state):
        for name in self.ruleset.measures:
            if name != "score":
                state[name][:] = 0
        return state.tobytes()

    def apply(self, state, code, by_chance=False):
        after = state.copy()
        (self.ruleset.rules.apply_chance if by_chance else self.ruleset.rules.apply_action)(after, code)
        return after

    def successors(self, state):
        who = self.ruleset.rules.actor(state)
        if who == OVER:
            return []
        if who == CHANCE:
            return [self.apply(state, code, True) for code in range(self.ruleset.rules.chance(state))]
        legal = self.ruleset.legal(state)
        if self.asked[who] is not None:
            actions, each = np.array(legal + [0] * (MAX_ACTIONS - len(legal)), np.int32), self.asked[who]
            return [self.apply(state, each.function(state, actions, len(legal), each.params, None))]
        found = [self.apply(state, code) for code in legal]
        return [after for after in found if self.wins(after, who)][:1] or found

    def wins(self, state, who):
        shares = np.zeros(self.seats)
        if self.ruleset.rules.actor(state) == OVER:
            self.ruleset.rules.payoffs(state, shares)
        return shares[who] == 1

    def update(self, key):
        after, who, old = self.after[key], self.who[key], self.values[key]
        if not after:
            return 0
        options = np.array([self.values[each] for each in after])
        if who == CHANCE:
            self.values[key] = options.mean(axis=0)
        elif len(after) > 1:
            best = options[:, who].max()
            self.values[key] = np.array([best, 1 - best] if who == 0 else [1 - best, best])
        else:
            self.values[key] = options[0]
        return abs(self.values[key] - old).max()


@cache
def oracle(name, variant, *specs):
    ruleset = RULESETS[name]
    return Oracle(ruleset, variant, [spec and load_policy(ruleset, spec) for spec in specs])


@cache
def small_pig():
    return solve("pig", SMALL)


@pytest.mark.parametrize("variant", [SMALL, "standard,goal=7,faces=3", "standard,goal=5,faces=2", "standard,goal=1"])
def test_pig_equals_the_oracle_in_every_position(variant):
    agrees_everywhere(solve("pig", variant), oracle("pig", variant, None, None))


@compiled_only
def test_dice_fever_equals_the_oracle_in_every_position():
    agrees_everywhere(solve("dice-fever", "plain,target=1"), oracle("dice-fever", "plain,target=1", None, None))


def agrees_everywhere(solution, slow):
    assert len(solution.values) == len(slow.states)
    assert solution.states == sum(who >= 0 for who in slow.who.values())
    assert solution.first_seat_win == pytest.approx(slow.values[slow.first][0], abs=1e-9)
    for key, state in slow.states.items():
        number = solution.number(state)
        assert solution.position(number).tobytes() == key
        assert solution.value(state) == pytest.approx(slow.values[key], abs=1e-9)
        who = slow.who[key]
        if who >= 0:
            chosen = slow.apply(state, solution.action(state))
            assert slow.values[slow.key(chosen)][who] == pytest.approx(slow.values[key][who], abs=1e-9)


def test_what_never_ends_is_followed_only_where_nobody_wins_on_the_spot():
    """With 7 points in the pot the goal is reached: HOLD wins, and ROLL, after which a pot may grow for ever, is left."""
    state = follow(PIG, PIG.new_state(2, "standard,goal=7"), "4 ROLL 3")
    solution = solve("pig", "standard,goal=7")
    assert solution.action(state) == HOLD
    assert solution.value(state).tolist() == [1, 0]
    assert solution.field("pot").max() == 6 + 6


# --- independent recursions -----------------------------------------------------------------------------------------------


def test_pig_meets_the_equations_of_neller_and_presser():
    """P(i, j, k): the mover has i, the opponent j, k points in the pot."""
    goal, wins = GOAL, {}

    def win(i, j, k):
        return 1.0 if i + k >= goal else wins.get((i, j, k), 0.0)

    change = 1.0
    while change > 1e-13:
        change = 0.0
        for i in range(goal):
            for j in range(goal):
                for k in range(goal - i):
                    roll = (1 - win(j, i, 0) + sum(win(i, j, k + face) for face in range(2, 7))) / 6
                    new = max(roll, 1 - win(j, i + k, 0)) if k else roll
                    change = max(change, abs(new - win(i, j, k)))
                    wins[i, j, k] = new
    solution = small_pig()
    assert solution.first_seat_win == pytest.approx(wins[0, 0, 0], abs=1e-9)
    score, turn, pot, throwing = (solution.field(name) for name in ("score", "turn", "pot", "throwing"))
    seen = 0
    for number in np.flatnonzero((throwing == 0) & (score.max(axis=1) < goal)):
        mover = turn[number]
        expected = win(score[number, mover], score[number, 1 - mover], pot[number])
        assert solution.values[number, mover] == pytest.approx(expected, abs=1e-9)
        seen += 1
    assert seen == solution.states


class Plain:
    """Dice Fever without cards and BONUS die, two seats, written anew: values before a turn, by the two scores."""

    def __init__(self, target):
        self.target, self.first, self.second, self.last = target, {}, {}, {}
        duel = 0.0  # the first thrower wins a sudden death with n values laid
        for n in range(5, -1, -1):
            duel = (1 - n / 6) * (1 - duel)
        self.sudden_death = duel
        for total in range(2 * target - 2, -1, -1):
            for mine in range(max(0, total - target + 1), min(target, total + 1)):
                self.settle(mine, total - mine)

    def turn(self, score, banked, out):
        """Best value of a whole turn, for the one who throws."""
        values = {}
        for track in sorted((frozenset(v for v in range(1, 7) if m >> v - 1 & 1) for m in range(64)), key=len, reverse=True):
            points = sum(track) + 10 * (len(track) == 6)
            stop = out if score + points >= self.target and 6 not in track else banked(score + points)
            throw = (len(track) * out + sum(values[track | {v}] for v in range(1, 7) if v not in track)) / 6
            values[track] = throw if not track else stop if len(track) == 6 else max(stop, throw)
        return values[frozenset()]

    def settle(self, mine, other):
        """Seat 0 has `mine`, seat 1 `other`: iterate the two turns, each of which may score nothing."""
        self.first[mine, other] = self.second[mine, other] = 0.0  # seat 0 wins, before its turn and before seat 1's
        change = 1.0
        while change > 1e-12:
            a = self.turn(mine, lambda score: self.after_first(score, other), self.second[mine, other])
            self.second[mine, other] = 1 - self.turn(other, lambda score: self.after_second(mine, score), 1 - a)
            change, self.first[mine, other] = abs(a - self.first[mine, other]), a

    def after_first(self, score, other):
        if score < self.target:
            return self.second[score, other]
        if (score, other) not in self.last:
            self.last[score, other] = 1 - self.turn(other, lambda reply: self.after_last(score, reply), 0.0)
        return self.last[score, other]

    def after_second(self, mine, score):
        return 1.0 if score >= self.target else 1 - self.first[mine, score]

    def after_last(self, score, reply):
        """Seat 1's value of a reply to a validated score: more wins, as much goes to sudden death."""
        return 1.0 if reply > score else 1 - self.sudden_death if reply == score else 0.0


@compiled_only
@pytest.mark.parametrize("target", [5, 12])
def test_plain_dice_fever_meets_an_independent_recursion(target):
    solution = solve("dice-fever", f"plain,target={target}")
    assert solution.first_seat_win == pytest.approx(Plain(target).first[0, 0], abs=1e-9)


# --- published values -----------------------------------------------------------------------------------------------------


def optimal_table(solution, goal):
    """Best play as a table for the policy `table`, read from the decisions of the seat `turn`."""
    score, turn, pot = (solution.field(name) for name in ("score", "turn", "pot"))
    number = np.flatnonzero((solution.field("throwing") == 0) & (score.max(axis=1) < goal) & (pot < goal))
    own, other = score[number, turn[number]], score[number, 1 - turn[number]]
    tables = np.zeros((2, goal, goal, goal))
    tables[turn[number], own, other, pot[number]] = solution.choices[number] == ROLL
    assert (tables[0] == tables[1]).all()  # it makes no difference where the player sits
    return PIG.policies["table"](tables[0])


@cache
def pig_to_100():
    return solve("pig")


@compiled_only
def test_pig_to_100_has_the_published_value():
    """Neller and Presser, "Optimal play of the dice game Pig", The UMAP Journal 25(1), 2004."""
    assert pig_to_100().first_seat_win == pytest.approx(0.530593, abs=1e-6)
    assert 1_000_000 < pig_to_100().states < 1_100_000


@compiled_only
@pytest.mark.parametrize(
    "policies, first_seat_win",
    [
        (("hold_at:20", "hold_at:20"), 0.5347),
        (("optimal", "hold_at:20"), 0.5715),
        (("hold_at:20", "optimal"), 1 - 0.5083),
        (("optimal", "hold_at:25"), 0.5513),
        (("hold_at:25", "optimal"), 1 - 0.4909),
    ],
)
def test_policies_have_the_published_values(policies, first_seat_win):
    optimal = optimal_table(pig_to_100(), 100)
    values = evaluate("pig", [optimal if each == "optimal" else each for each in policies])
    assert values[0] == pytest.approx(first_seat_win, abs=5e-5)
    assert values.sum() == pytest.approx(1, abs=1e-10)


@compiled_only
def test_hold_at_20_against_hold_at_25_averaged_over_the_seats():
    first, second = (evaluate("pig", [f"hold_at:{n}", f"hold_at:{45 - n}"]) for n in (20, 25))
    assert (first[0] + second[1]) / 2 == pytest.approx(0.488276, abs=5e-7)


@compiled_only
@pytest.mark.parametrize("spec, first, second", [("hold_at:20", 0.5715, 0.5083), ("hold_at:25", 0.5513, 0.4909)])
def test_best_reply_is_at_least_optimal_play(spec, first, second):
    assert best_response("pig", spec, 1) > first
    assert best_response("pig", spec, 0) > second


# --- fixed policies and best replies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("specs", [("hold_at:3", "hold_at:5"), ("keep_pace:4", "hold_at:6", "hold_at:2")], ids=len)
def test_policies_equal_the_oracle(specs):
    variant = "standard,goal=6"
    slow = oracle("pig", variant, *specs)
    assert evaluate("pig", specs, variant) == pytest.approx(slow.values[slow.first], abs=1e-9)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_reply_equals_the_oracle(seat):
    slow = oracle("pig", SMALL, *(["hold_at:5", None] if seat == 0 else [None, "hold_at:5"]))
    value = best_response("pig", "hold_at:5", seat, SMALL)
    assert value == pytest.approx(slow.values[slow.first][1 - seat], abs=1e-9)
    assert value >= small_pig().values[-1, 1 - seat] - 1e-12


@pytest.mark.parametrize("seat", [0, 1])
def test_best_reply_to_optimal_play_is_optimal_play(seat):
    optimal = optimal_table(small_pig(), GOAL)
    assert best_response("pig", optimal, seat, SMALL) == pytest.approx(small_pig().values[-1, 1 - seat], abs=1e-10)
    assert evaluate("pig", [optimal] * 2, SMALL) == pytest.approx(small_pig().values[-1], abs=1e-10)


@pytest.mark.parametrize(
    "game, variant, specs",
    [
        ("pig", "standard,goal=10", ("hold_at:3", "hold_at:6")),
        ("pig", "standard,goal=8", ("hold_at:3", "hold_at:6", "keep_pace:4")),
        pytest.param("dice-fever", "plain,target=12", ("race:2", "hold_pot:7"), marks=compiled_only),
        pytest.param("dice-fever", "plain,target=12", ("race:2", "never_stop", "hold_dice:3"), marks=compiled_only),
        pytest.param(
            "dice-fever",
            "standard,target=12,parade_cards=1,risk_cards=0",
            ("race:2,parade=asap", "expected_gain:0,parade=asap"),
            marks=compiled_only,
        ),
    ],
)
def test_simulation_agrees(game, variant, specs):
    games = 600 if INTERPRETED else 200_000
    specs = [load_policy(RULESETS[game], spec).spec for spec in specs]
    table = simulate(game, specs, games, seed=1, variant=variant, n_jobs=1, progress=False)
    for rotation in range(len(specs)):
        seating = [*specs[rotation:], *specs[:rotation]]
        for seat, (spec, exact) in enumerate(zip(seating, evaluate(game, seating, variant), strict=True)):
            row = table[(table.policy == spec) & (table.measure == "payoff") & (table.seat == seat)].squeeze()
            mean = row.total / row.deals
            stderr = np.sqrt((row.squares / row.deals - mean**2) / row.deals)
            assert stderr > 0
            assert abs(mean - exact * row.per_deal) < 5 * stderr


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_shares_sum_to_1(seats):
    values = evaluate("pig", [f"hold_at:{2 + seat}" for seat in range(seats)], "standard,goal=6")
    assert values.shape == (seats,)
    assert values.sum() == pytest.approx(1, abs=1e-11)
    assert (values > 0).all()
    assert small_pig().values.sum(axis=1) == pytest.approx(np.ones(len(small_pig().values)), abs=1e-10)


def test_a_ply_limit_makes_no_difference():
    assert solve("pig", f"{SMALL},ply_limit=1").first_seat_win == small_pig().first_seat_win


def test_variant_as_text_mapping_or_variant():
    for variant in (SMALL, {"goal": GOAL}, PIG.variant(SMALL)):
        solution = solve(PIG, variant)
        assert isinstance(solution, Solution)
        assert (solution.variant.name, solution.path) == (SMALL, None)
        assert solution.first_seat_win == small_pig().first_seat_win
        assert solution.seconds > 0


def test_room_grows(monkeypatch):
    monkeypatch.setattr(positions, "ROOM", 1)
    again = solve("pig", SMALL)
    assert again.values.tolist() == small_pig().values.tolist()
    assert again.choices.tolist() == small_pig().choices.tolist()


# --- a game with cycles, negative numbers, wide or narrow fields, and no end ----------------------------------------------

plain_jit = (lambda function: function) if INTERPRETED else numba.njit(nogil=True)  # not cached, like those of test_rulesets.py
PASS, TOSS = 0, 1
SIZE = 4
# Kernels are cached by the type of the state, and the key of the cache folder does not cover this file: so the type does.
EDITION = "edition_" + hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
LADDER_FIELDS = {"ply_limit": PLY_LIMIT, "steps": Field(SIZE, "steps to either end", low=1, high=20)}


@plain_jit
def reset(state):
    state.turn = state.tossing = 0
    for seat in range(2):
        state.score[seat] = state.turns[seat] = 0
    for k in range(3):
        state.marks[k] = 0


@plain_jit
def actor(state):
    if state.tossing:
        return CHANCE
    return OVER if abs(state.score[0]) == state.variant.steps else np.int64(state.turn)


@plain_jit
def chance(state):
    return 2


@plain_jit
def apply_chance(state, outcome):
    state.score[0] += 2 * outcome - 1
    for k in range(3):
        state.marks[k] = state.score[0] * (1 if state.marks.itemsize == 1 else 100_000_007)
    state.tossing = 0
    next_turn(state)


@plain_jit
def next_turn(state):
    state.turn = 1 - state.turn
    state.turns[state.turn] += 1


@plain_jit
def legal_actions(state, actions):
    actions[0], actions[1] = PASS, TOSS
    return 2


@plain_jit
def apply_action(state, action):
    if action == TOSS:
        state.tossing = 1
    else:
        next_turn(state)


@plain_jit
def payoffs(state, out):
    out[0] = state.score[0] > 0
    out[1] = 1 - out[0]


@plain_jit
def observe(state, seat, view):
    view.turn = state.turn


@cache
def ladder(kind, **functions):
    """A coin moves the score of seat 0 up or down; it wins at one end and loses at the other. Both may pass for ever."""
    fields = [("turn", np.int32), ("tossing", kind), ("score", np.int32, 2), ("turns", np.int32, 2), ("marks", kind, 3)]
    record = [("variant", variant_dtype(LADDER_FIELDS)), ("seats", np.int32), *fields, (EDITION + "x" * len(functions), kind)]
    rules = types.SimpleNamespace(
        STATE=np.dtype(record, align=True),
        FIELDS=LADDER_FIELDS,
        reset=reset,
        actor=actor,
        chance=chance,
        apply_chance=apply_chance,
        legal_actions=legal_actions,
        apply_action=apply_action,
        payoffs=payoffs,
        **functions,
    )
    return Ruleset(
        name=f"ladder of {np.dtype(kind)}",
        title="Ladder",
        version="1",
        seats=(2, 2),
        rules=rules,
        presets={"standard": {}},
        policies={},
        measures=("score", "turns"),
        named_policies=(),
        describe=lambda state, code: str(code),
        render=lambda state: f"step {state.score[0]}",
    )


@policy
def toss(view, actions, n, params, rng):
    """Always toss."""
    return TOSS


@policy
def wait(view, actions, n, params, rng):
    """Always pass."""
    return PASS


@policy
def reckless(view, actions, n, params, rng):
    """Say what is not legal."""
    return 99


@policy
def coin(view, actions, n, params, rng):
    """Draw, now and then."""
    return draw(rng, 2) if view.pot == 4 else ROLL


@policy
def counts_turns(view, actions, n, params, rng):
    """Look at the number of turns."""
    return ROLL if view.turns[0] < 3 and view.pot < 9 else HOLD


@pytest.mark.parametrize("kind", [np.int32, np.int8])
def test_a_fair_coin_is_worth_its_place_on_the_ladder(kind):
    """Chance is fair and tossing free, so from step x it is (x + size) / (2 size) whoever tosses; passing delays it."""
    game = ladder(kind)
    solution = solve(game)
    step, over = solution.field("score")[:, 0], np.abs(solution.field("score")[:, 0]) == SIZE
    assert sorted(set(step)) == list(range(-SIZE, SIZE + 1))
    assert solution.values[:, 0] == pytest.approx((step + SIZE) / (2 * SIZE), abs=1e-10)
    assert solution.field("marks").shape == (len(step), 3)
    assert solution.states == (~over & (solution.field("tossing") == 0)).sum()
    assert evaluate(game, [toss, toss]) == pytest.approx([0.5, 0.5], abs=1e-10)
    assert evaluate(game, [toss, wait]) == pytest.approx([0.5, 0.5], abs=1e-10)
    assert best_response(game, wait, 0) == pytest.approx(0.5, abs=1e-10)


def test_what_never_ends_is_won_by_nobody():
    assert evaluate(ladder(np.int32), [wait, wait]).tolist() == [0, 0]


def test_something_hidden_is_refused_but_for_fixed_policies():
    game = ladder(np.int32, observe=observe)
    with pytest.raises(InputError, match="hides something from its seats"):
        solve(game)
    assert evaluate(game, [toss, toss]) == pytest.approx([0.5, 0.5], abs=1e-10)


# --- what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"ruleset": "pog"}, "unknown ruleset: 'pog'; did you mean pig"),
        ({"variant": "standard,gaol=5"}, "did you mean goal"),
        ({"seats": 3}, "only a game of 2 seats can be solved, not of 3"),
        ({"seats": 11}, "2 to 10 seats, not 11"),
        ({"seats": "two"}, "seats must be a whole number"),
        ({"max_states": 0}, "max_states must be a whole number from 1"),
        ({"max_states": 50}, "pig standard,goal=6 has more than 50 positions"),
    ],
    ids=str,
)
def test_solve_refuses(arguments, words):
    with pytest.raises(InputError, match=words) as caught:
        solve(**{"ruleset": "pig", "variant": "standard,goal=6", **arguments})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n", [10, 1_000, 10_000_000])
def test_random_positions_that_all_differ_are_more_than_chance_allows(n):
    """The birthday problem with equal chances, the worst case: the chance that m of n are all different."""
    m = positions.sample_size(n)
    assert m > n or np.log1p(-np.arange(m) / n).sum() < -positions.SURE
    assert (m - 2) * (m - 3) / (2 * n) < positions.SURE  # and not many more of them than needed


@pytest.mark.parametrize("asked", [(None, None), ("hold_at:3", None), ("hold_at:3", "hold_at:4")], ids=str)
@pytest.mark.parametrize("steps", [1, 7, 40])
def test_random_steps_lead_to_positions_that_are_enumerated(asked, steps):
    """Not so if a step passed by a win on the spot, or by the policy: a pot beyond the goal is not among them."""
    table = set_table("pig", [spec or "uniform" for spec in asked], SMALL)
    search = positions.Search(PIG, PIG.variant(SMALL), [spec is None for spec in asked], table, 10_000_000)
    search.run()
    stream, before, zeros = np.arange(1, 5, dtype=np.uint64), np.zeros_like(search._words), (np.zeros(2), np.zeros(3, np.int64))
    for _ in range(50 if INTERPRETED else 500):
        search._load(search._start)
        room = before, search._view, search._players, stream, *zeros
        with np.errstate(over="ignore"):
            assert positions.wander(search._state, search._words, *room, steps) == positions.DONE
        assert search.number(search._state.copy()) >= 0


@compiled_only
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("dicefest", marks=pytest.mark.slow),
        pytest.param("dice-land", marks=pytest.mark.long),
        pytest.param("dice-forge", marks=pytest.mark.long),
    ],
)
def test_far_too_many_positions_are_refused_before_they_are_enumerated(name, monkeypatch):
    monkeypatch.setattr(positions, "explore", lambda *arguments: pytest.fail("enumerated"))
    with pytest.raises(InputError, match=f"{name} standard has more than 10,000,000 positions"):
        solve(name)


def test_room_for_exactly_all_positions_is_enough():
    enough = len(small_pig().values)
    assert len(solve("pig", SMALL, max_states=enough).values) == enough
    with pytest.raises(InputError, match="positions"):
        solve("pig", SMALL, max_states=enough - 1)


@pytest.mark.parametrize(
    "policies, words",
    [
        (["uniform", "hold_at:3"], "policy uniform in seat 0 draws random numbers"),
        (["hold_at:3", coin], "policy coin in seat 1 draws random numbers"),
        (["hold_at:3", counts_turns], "policy counts_turns in seat 1 looks at one of turns, busts"),
        (["hold_at:3"], "2 to 10 seats, not 1"),
        (["hold_at:3", "hold_it"], "did you mean hold_at"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else value,
)
def test_evaluate_refuses(policies, words):
    with pytest.raises(InputError, match=words) as caught:
        evaluate("pig", policies, "standard,goal=6")
    assert "\n" not in str(caught.value)


def test_a_policy_that_never_holds_has_no_end_of_positions():
    with pytest.raises(InputError, match="more than 500 positions"):
        evaluate("pig", [toss, "hold_at:3"], "standard,goal=6", max_states=500)


@pytest.mark.parametrize("seat", [-1, 2, "first"])
def test_best_response_refuses_a_seat_that_there_is_not(seat):
    with pytest.raises(InputError, match="seat must be a whole number from 0 to 1"):
        best_response("pig", "hold_at:3", seat, SMALL)


def test_illegal_action_is_named():
    with pytest.raises(IllegalAction, match=r"policy reckless in seat 1 returned action 99.*scores 0 0.*legal: 0 \(HOLD\)"):
        evaluate("pig", [toss, reckless], "standard,goal=6")
    with pytest.raises(IllegalAction, match="in seat 0"):
        best_response("pig", reckless, 0, SMALL)


def test_positions_of_another_game_or_out_of_reach_are_refused():
    solution, state = small_pig(), PIG.new_state(2, SMALL)
    assert solution.value(state)[0] == solution.first_seat_win
    with pytest.raises(InputError, match="nobody decides here: scores 0 0"):
        solution.action(state)
    far = state.copy()
    far.score[0] = GOAL - 1
    far.pot = 10 * GOAL
    for other in (far, PIG.new_state(2, "standard,goal=99"), PIG.new_state(3, SMALL), FEVER.new_state(2, "plain"), 7):
        with pytest.raises(InputError, match="not a position of pig"):
            solution.value(other)
    with pytest.raises(InputError, match="number must be"):
        solution.position(len(solution.values))
    for name in ("turns", "variant", "colour"):
        with pytest.raises(InputError, match="unknown field of a position"):
            solution.field(name)


def test_measures_of_a_position_make_no_difference():
    state = follow(PIG, PIG.new_state(2, SMALL), "2")
    again = state.copy()
    again.turns[:2], again.busts[0] = 9, 5
    assert small_pig().number(again) == small_pig().number(state)
    assert small_pig().action(again) in (HOLD, ROLL)
