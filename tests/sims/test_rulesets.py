"""What every registered ruleset keeps to, by being registered; and a toy with something hidden."""

import dataclasses
import random
import types
from pathlib import Path

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sims
from sims import RULESETS, InputError, Policy, policy
from sims.jit import INTERPRETED, ask, jit, players
from sims.playouts import FINISHED, play_game
from sims.policy import load_policy
from sims.ruleset import BY_STATE, CHANCE, MAX_ACTIONS, OVER, PLY_LIMIT, Field, Ruleset, observed, variant_dtype
from sims.simulate import set_table
from sims.streams import draw, open_deal

FOLDER = Path(sims.__file__).parent / "rulesets"
PLAYTHROUGHS = Path(__file__).parent / "playthroughs"
each_ruleset = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
each_game = pytest.mark.parametrize(
    "ruleset, preset, seats",
    [
        pytest.param(ruleset, preset, seats, id=f"{ruleset.name}-{preset}-{seats}")
        for ruleset in RULESETS.values()
        for preset in ruleset.presets
        for seats in range(ruleset.seats[0], ruleset.seats[1] + 1)
    ],
)
quick = settings(
    max_examples=4 if INTERPRETED else 12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
seeds = st.integers(0, 2**32 - 1)
MAX_STEPS = 50_000


def copy(state):
    again = np.zeros(1, state.dtype).view(np.recarray)
    again[0] = np.frombuffer(state.tobytes(), state.dtype)[0]
    return again[0]


def choices(ruleset, state):
    """Codes that are possible at a node."""
    if ruleset.rules.actor(state) == CHANCE:
        return range(int(ruleset.rules.chance(state)))
    return ruleset.legal(state)


def walk(ruleset, state, rng, limit=400):
    """Random play: yields the position before each step and the code chosen, until the end or `limit` decisions."""
    plies = 0
    for _ in range(MAX_STEPS):
        who = ruleset.rules.actor(state)
        if who == OVER or plies == limit:
            return
        code = rng.choice(choices(ruleset, state))
        yield state, who, code
        if who == CHANCE:
            ruleset.rules.apply_chance(state, code)
        else:
            ruleset.rules.apply_action(state, code)
            plies += 1
    raise AssertionError(f"{MAX_STEPS} steps and neither the end nor {limit} decisions")


def any_value(field, rng):
    if isinstance(field.default, bool):
        return rng.choice([False, True])
    if isinstance(field.default, tuple):
        return tuple(rng.choices(field.choices, k=rng.randint(1, Field.MAX_FACES)))
    if isinstance(field.default, str):
        return rng.choice(field.choices)
    return rng.choice([field.low, rng.randrange(field.low, min(field.high, 2 * field.default + 2) + 1, field.step), *field.named])


# --- conformance ----------------------------------------------------------------------------------------------------------


@each_game
@quick
@given(seed=seeds)
def test_random_play_keeps_the_contract(ruleset, preset, seats, seed):
    """Nodes offer something, what they offer is distinct, and a game that ends shares out one win."""
    check_a_game(ruleset, ruleset.new_state(seats, preset), random.Random(seed))


@each_ruleset
@settings(quick, max_examples=10 if INTERPRETED else 150)
@given(seed=seeds)
def test_random_play_of_random_variants_keeps_the_contract(ruleset, seed):
    rng = random.Random(seed)
    variant = ruleset.variant({name: any_value(field, rng) for name, field in ruleset.fields.items()})
    check_a_game(ruleset, ruleset.new_state(rng.randint(*ruleset.seats), variant), rng)


def check_a_game(ruleset, state, rng):
    seats, variant = int(state.seats), state.variant.tobytes()
    for now, who, code in walk(ruleset, state, rng):
        before = now.tobytes()
        options = choices(ruleset, now)
        assert len(options) == len(set(options))
        if who == CHANCE:
            assert len(options) > 0
            assert -1 <= now.turn < seats
        else:
            assert 0 <= who < seats
            assert 2 <= len(options) <= MAX_ACTIONS  # one option is no decision
            words = [ruleset.describe(now, option) for option in options]
            assert len(set(words)) == len(words)
        for option in options:
            word = ruleset.describe(now, option)
            assert word
            assert " " not in word
        assert "\n" not in ruleset.render(now)
        assert now.tobytes() == before  # asking changes nothing
        assert code in options
    assert (state.seats, state.variant.tobytes()) == (seats, variant)
    if ruleset.rules.actor(state) == OVER:
        shares = np.full(seats, np.nan)
        ruleset.rules.payoffs(state, shares)
        assert abs(shares.sum() - 1) < 1e-12
        winners = shares[shares > 0]
        assert (winners == 1 / len(winners)).all()
        assert (shares >= 0).all()
    for name in ruleset.measures:
        assert state[name][seats:].sum() == 0 or seats == state[name].size


@each_game
@quick
@given(seed=seeds)
def test_state_bytes_determine_the_future(ruleset, preset, seats, seed):
    rng = random.Random(seed)
    state = ruleset.new_state(seats, preset)
    steps = rng.randint(0, 60)
    for n, _ in enumerate(walk(ruleset, state, rng)):
        if n == steps:
            break
    again = copy(state)
    codes = [(who, code) for _, who, code in walk(ruleset, state, random.Random(seed), limit=100)]
    assert [(who, code) for _, who, code in walk(ruleset, again, random.Random(seed), limit=100)] == codes
    assert again.tobytes() == state.tobytes()


@each_game
def test_reset_forgets_the_game_before(ruleset, preset, seats):
    fresh = ruleset.new_state(seats, preset)
    first = fresh.tobytes()
    for seed in range(3):
        for _ in walk(ruleset, fresh, random.Random(seed), limit=150):
            pass
        assert fresh.tobytes() != first
        ruleset.rules.reset(fresh)
        assert ruleset.render(fresh) == ruleset.render(ruleset.new_state(seats, preset))
        codes = [(who, code) for _, who, code in walk(ruleset, fresh, random.Random(9), limit=60)]
        other = ruleset.new_state(seats, preset)
        assert codes == [(who, code) for _, who, code in walk(ruleset, other, random.Random(9), limit=60)]
        assert [fresh[name].tolist() for name in ruleset.measures] == [other[name].tolist() for name in ruleset.measures]


@jit
def answer_of(player, state, who, view, n):
    return ask(player, observed(state, who, view), n)


@each_ruleset
def test_policies_answer_legally_and_write_nothing(ruleset):
    specs = list(dict.fromkeys([*ruleset.named_policies, *(p.spec for p in ruleset.policies.values())]))
    loaded = [load_policy(ruleset, spec) for spec in specs if not spec.endswith(":")]  # a table needs its file
    loaded = [p for p in loaded if p.solve is None or ruleset.solver is None]  # one that needs a solver is tested beside it
    actions, rng = np.zeros(MAX_ACTIONS, np.int32), np.array([[1, 2, 3, 1]], np.uint64)
    decisions, every = 0, 4 if INTERPRETED else 1  # interpreted, a policy that looks ahead takes a second
    for preset in ruleset.presets:
        solved = [p.solved_for(ruleset, ruleset.variant(preset)) for p in loaded]
        asked = [(each, players([each], ruleset.state, actions, rng)[0, 0]) for each in solved]
        for seats in dict.fromkeys(ruleset.seats):
            view, seen = ruleset.new_state(seats, preset), ruleset.new_state(seats, preset)
            for step, (state, who, _) in enumerate(walk(ruleset, ruleset.new_state(seats, preset), random.Random(seats), 150)):
                if who == CHANCE or step % every:
                    continue
                n = ruleset.rules.legal_actions(state, actions)
                before, offered = state.tobytes(), actions.tobytes()
                if hasattr(ruleset.rules, "observe"):
                    ruleset.rules.observe(state, who, seen)
                for each, player in asked:
                    numbers = each.params.tobytes()
                    with np.errstate(over="ignore"):
                        answer = answer_of(player, state, who, view, n)
                    assert answer in actions[:n].tolist(), each.spec
                    assert state.tobytes() == before, each.spec
                    assert view.tobytes() == seen.tobytes(), each.spec
                    assert actions.tobytes() == offered, each.spec
                    assert each.params.tobytes() == numbers, each.spec
                    decisions += 1
    assert decisions > 100


def test_state_types_differ():
    """The loop finds the rules by the type of the state."""
    assert len({ruleset.state for ruleset in RULESETS.values()}) == len(RULESETS)


@each_ruleset
def test_state_has_the_fields_that_the_loop_needs(ruleset):
    for name in ("variant", "seats", "turn", "score", "turns", *ruleset.measures):
        assert name in ruleset.state.names
    assert ruleset.state["variant"].names[-1] == "ply_limit" or "ply_limit" in ruleset.state["variant"].names
    for name in ("score", "turns", *ruleset.measures):
        assert ruleset.state[name].shape == (ruleset.seats[1],)
    assert len(set(ruleset.measures)) == len(ruleset.measures)
    assert {"score", "turns"} <= set(ruleset.measures)


@each_ruleset
def test_no_field_hides_behind_an_attribute_of_numpys_records(ruleset):
    """Interpreted, ``state.flat`` would be NumPy's own attribute and not the field."""
    taken = set(dir(np.record))
    assert not taken & set(ruleset.state.names)
    assert not taken & set(ruleset.state["variant"].names)


# --- completeness ---------------------------------------------------------------------------------------------------------


@each_ruleset
def test_ruleset_is_registered_under_its_name(ruleset):
    assert RULESETS[ruleset.name] is ruleset
    assert (FOLDER / ruleset.name.replace("-", "_") / "__init__.py").is_file()


@each_ruleset
def test_readme_names_every_variant_field_and_policy(ruleset):
    readme = (FOLDER / ruleset.name.replace("-", "_") / "README.md").read_text("utf-8")
    for name in (*ruleset.fields, *ruleset.presets, *ruleset.policies):
        assert f"`{name}" in readme, name


@each_ruleset
def test_fields_are_explained(ruleset):
    assert ruleset.fields["ply_limit"].low == 1
    for name, field in ruleset.fields.items():
        assert field.note, name
        assert field.parse(name, field.format(field.default)) == field.default


@each_ruleset
def test_named_policies_load(ruleset):
    assert len(set(ruleset.named_policies)) == len(ruleset.named_policies) > 2
    for spec in ruleset.named_policies:
        assert load_policy(ruleset, spec).params.size


@each_ruleset
def test_a_playthrough_is_committed(ruleset):
    assert list(PLAYTHROUGHS.glob(f"{ruleset.name}-*.txt"))


def test_every_playthrough_is_of_a_ruleset():
    assert {path.stem.rpartition("-")[0] for path in PLAYTHROUGHS.glob("*.txt")} <= set(RULESETS)


# --- a toy with a hidden die ----------------------------------------------------------------------------------------------
# Each seat in turn throws a die behind a screen, then guesses whether it is high; a right guess by seat 0 wins.

FIELDS = {"ply_limit": PLY_LIMIT}
SECRET = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("turn", np.int32),
        ("secret", np.int32),
        ("phase", np.int32),
        ("score", np.int32, 2),
        ("turns", np.int32, 2),
    ],
    align=True,
)
OPEN = np.dtype([(name, SECRET[name]) for name in SECRET.names] + [("open", np.int32)], align=True)
plain_jit = numba.njit(nogil=True)  # not cached: the key of the cache folder does not cover this file


@plain_jit
def reset(state):
    state.turn = state.secret = state.phase = 0
    for seat in range(2):
        state.score[seat] = state.turns[seat] = 0
    state.turns[0] = 1


@plain_jit
def actor(state):
    return (CHANCE, 0, OVER)[state.phase]


@plain_jit
def chance(state):
    return 6


@plain_jit
def apply_chance(state, outcome):
    state.secret = outcome + 1
    state.phase = 1


@plain_jit
def legal_actions(state, actions):
    actions[0], actions[1] = 0, 1
    return 2


@plain_jit
def apply_action(state, action):
    state.score[0] = (state.secret > 3) == action
    state.phase = 2


@plain_jit
def payoffs(state, out):
    out[0], out[1] = state.score[0], 1 - state.score[0]


@plain_jit
def observe(state, seat, view):
    view.seats, view.turn, view.phase, view.secret = state.seats, state.turn, state.phase, 0
    for each in range(2):
        view.score[each], view.turns[each] = state.score[each], state.turns[each]


def toy(state, **functions):
    rules = types.SimpleNamespace(
        STATE=state,
        FIELDS=FIELDS,
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
        name="toy",
        title="Toy",
        version="1",
        seats=(2, 2),
        rules=rules,
        presets={"standard": {}},
        policies={},
        measures=("score", "turns"),
        named_policies=(),
        describe=lambda state, code: str(code),
        render=lambda state: str(state),
    )


@policy
def peek(view, actions, n, params, rng):
    """Say what the die shows, if it shows."""
    return 1 if view.secret > 3 else 0


@policy
def guess(view, actions, n, params, rng):
    """Guess."""
    return draw(rng, n)


def toy_wins(ruleset, policies, interpreted, games=200):
    """Games that seat 0 wins."""
    table = set_table(ruleset, policies, interpreted=interpreted)
    game = play_game if INTERPRETED else play_game.py_func
    if not (interpreted or INTERPRETED):
        game = numba.njit(nogil=True, error_model="numpy", _nrt=False, forceinline=True)(game)
    arguments, log, wins = table.arguments(), np.zeros(1, np.int64), 0
    state, _, _, dice, minds, _ = arguments
    with np.errstate(over="ignore"):
        for deal in range(games):
            open_deal(dice, minds, np.uint64(0), deal)
            status, plies, steps = game(*arguments, 0, log, None, None)
            assert (status, plies, steps) == (FINISHED, 1, 2)
            assert state.secret == log[0] + 1  # the game itself knows
            wins += int(state.score[0])
    return wins


@pytest.mark.parametrize("interpreted", [False, True])
def test_hidden_die_cannot_be_seen(interpreted):
    ruleset = toy(SECRET, observe=observe)
    low = sum(random_die <= 3 for random_die in toy_dice(200))
    assert toy_wins(ruleset, [peek, peek], interpreted) == low  # it always says 0, for it sees 0
    assert 60 < toy_wins(ruleset, [guess, guess], interpreted) < 140


@pytest.mark.parametrize("interpreted", [False, True])
def test_without_observe_the_die_would_be_seen(interpreted):
    """So the test above can fail."""
    assert toy_wins(toy(OPEN), [peek, peek], interpreted) == 200


def test_two_rulesets_of_one_state_are_refused():
    """Rules are found by the type of the state, so the second would play the first one's, or the other way round."""
    first = toy(SECRET, observe=observe)
    with pytest.raises(InputError, match="other has the same STATE as toy"):
        dataclasses.replace(first, name="other")
    assert BY_STATE[first.state] is first
    again = dataclasses.replace(first)  # as when a notebook cell is run again
    assert BY_STATE[first.state] is again


def toy_dice(games):
    dice, minds = np.zeros((3, 4), np.uint64), np.zeros((2, 4), np.uint64)
    with np.errstate(over="ignore"):
        for deal in range(games):
            open_deal(dice, minds, np.uint64(0), deal)
            yield draw(dice[0], 6) + 1


def test_toy_is_not_registered():
    assert "toy" not in RULESETS
    with pytest.raises(InputError):
        sims.simulate("toy", [peek, peek])
    assert isinstance(peek, Policy)
