"""Fixed policies between two: against the evaluator of any game, the solution and simulated games."""

import numpy as np
import pytest
from joblib import Memory
from numba import njit

from sims import RULESETS, IllegalAction, InputError, policy, simulate
from sims import exact as any_game
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import evaluation, exact, optimal, rules
from sims.rulesets.dice_fever.evaluation import evaluate, regret, sampled_regret
from sims.trace import follow

FEVER = RULESETS["dice-fever"]
SMALL = "standard,target=6,parade_cards=1,risk_cards=1"
compiled_only = pytest.mark.skipif(INTERPRETED, reason="solves games, or searches those with cards")
NO_CARDS = "expected_gain:0"
MANY_CARDS = "expected_gain:0,parade=asap,risk=asap"
SOME_CARDS = "race:2,parade=near,risk=behind"


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(exact, "user_cache_path", lambda name: folder)
        patch.setattr(evaluation, "_kept_regret", Memory(folder, verbose=0).cache(evaluation._regret, ignore=evaluation.UNKEYED))
        yield


@compiled_only
def test_a_regret_is_remembered_for_what_the_policy_does(monkeypatch):
    found = regret(FEVER, "hold_pot:7", SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "_wins", None)  # would fail if anything were evaluated again
        again = regret(FEVER, "hold_pot:7", SMALL)
        assert (again.win == found.win).all()
        assert again.worst == found.worst
        for policy, variant in (("hold_pot:8", SMALL), ("hold_pot:7", f"{SMALL},suite_value=5"), (saves_cards, SMALL)):
            with pytest.raises(TypeError):
                regret(FEVER, policy, variant)


# --- the generic evaluator --------------------------------------------------------------------------------------------------

PLAIN = "plain,target=3" if INTERPRETED else "plain,target=12"


@pytest.mark.parametrize(
    "seats",
    [("race:2", "hold_pot:7"), ("hold_dice:3", NO_CARDS), ("hold_pot:12,goal=1", "never_stop:0")],
    ids=" v ".join,
)
def test_it_equals_the_evaluator_of_any_game(seats):
    assert evaluate(FEVER, seats, PLAIN) == pytest.approx(any_game.evaluate(FEVER, seats, PLAIN), abs=1e-9)


@policy
def adds(view, actions, n, params, rng):
    """Commits a RISK card whenever there is one, and after its throw every PARADE card."""
    if view.phase == rules.COMMIT:
        return rules.CARDS + (1 if view.risk[view.turn] else 0)
    return actions[n - 1] if view.phase == rules.ADD_PARADE else actions[0]


CARDS = (
    "standard,parade_cards=1,risk_cards=1"  # faces and targets are few, as it takes millions of positions to search whole games
)
WITH_CARDS = {
    "score x2": ("target=2,risk_faces=X2", MANY_CARDS, SOME_CARDS),
    "duel": ("target=3,parade_cards=0,risk_faces=DUEL,duel_stake=difference,bonus_die=false", MANY_CARDS, SOME_CARDS),
    "not strict": (
        "target=4,parade_cards=0,risk_faces=DUEL/X2,duel_stake=3,last_turn_strict=false,bonus_die=false", MANY_CARDS, SOME_CARDS
    ),
    "relance": ("target=2,parade_cards=0,risk_faces=RELANCE,relance_keeps_x3=true,bonus_at=2", SOME_CARDS, MANY_CARDS),
    "forced": ("target=2,risk_faces=RELANCE,relance_mode=forced,six_partial_bonus=false", MANY_CARDS, SOME_CARDS),
    "six dice": ("target=2,risk_faces=SIX,six_partial_bonus=false,sudden_death=share_win", MANY_CARDS, SOME_CARDS),
    "late parade": ("target=2,risk_faces=X2,parade_after_risk=true", adds, SOME_CARDS),
    "no risk": ("target=3,max_risk_per_turn=0", "hold_dice:2,cards=asap", MANY_CARDS),
}  # fmt: skip


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("fields, one, two", WITH_CARDS.values(), ids=WITH_CARDS)
def test_it_equals_the_evaluator_of_any_game_with_cards(fields, one, two):
    variant = FEVER.variant(CARDS, **dict(field.split("=") for field in fields.split(",")))
    for seats in ([one, two], [two, one]):
        assert evaluate(FEVER, seats, variant) == pytest.approx(any_game.evaluate(FEVER, seats, variant), abs=1e-9)


# --- best play --------------------------------------------------------------------------------------------------------------

LATE = (
    "standard,target=6,parade_cards=1,risk_cards=1,parade_after_risk=true,duel_stake=difference,bonus_die=false,"
    "last_turn_strict=false"
)
FORCED = "standard,target=6,parade_cards=0,risk_cards=2,relance_mode=forced,duel_stake=3,sudden_death=own"


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("variant", [SMALL, *(pytest.param(each, marks=pytest.mark.long) for each in (LATE, FORCED))])
def test_best_play_against_itself_is_the_solution(variant):
    found = regret(FEVER, "optimal", variant)
    first = exact.solution(FEVER, variant).first_seat_win
    assert found.win == pytest.approx([first, 1 - first], abs=1e-9)
    assert all((lost == 0).all() for lost in found.by_kind.values())
    assert found.worst == ()


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    "variant, spec",
    [(SMALL, SOME_CARDS), (SMALL, MANY_CARDS), (LATE, MANY_CARDS), (FORCED, MANY_CARDS), ("plain,target=20", "never_stop:0")],
)
def test_what_a_policy_gives_away_adds_up(variant, spec):
    """The performance difference lemma, in both seats; nothing is won by a mistake, so best play wins the most against any."""
    found = regret(FEVER, spec, variant)
    assert found.best - found.win == pytest.approx(sum(found.by_kind.values()), abs=1e-9)
    assert all((lost >= 0).all() for lost in found.by_kind.values())
    assert found.win[0] == pytest.approx(evaluate(FEVER, [spec, "optimal"], variant)[0], abs=1e-12)
    assert list(found.worst) == sorted(found.worst, key=lambda mistake: -mistake.lost)
    assert 0 < sum(mistake.lost for mistake in found.worst) <= sum(lost.mean() for lost in found.by_kind.values()) + 1e-12
    assert all(each.game_times * each.game_cost <= each.lost * (1 + 1e-9) for each in found.worst)


# --- best play but for one kind of decision -----------------------------------------------------------------------------------

best_move = njit(optimal.optimal.function)


@policy(solve=optimal.table)
def asked(view, actions, n, params, rng):
    """Best play, asked as a policy."""
    return best_move(view, actions, n, params, rng)


@policy(solve=optimal.table)
def saves_cards(view, actions, n, params, rng):
    """Never commits a card."""
    return rules.CARDS if view.phase == rules.COMMIT else best_move(view, actions, n, params, rng)


@policy(solve=optimal.table)
def stops_at_once(view, actions, n, params, rng):
    """Says STOP after the first die."""
    return rules.STOP if view.phase == rules.DECIDE else best_move(view, actions, n, params, rng)


@policy(solve=optimal.table)
def forgets_tokens(view, actions, n, params, rng):
    """Never uses a Relance token."""
    return rules.KEEP if view.phase == rules.WINDOW else best_move(view, actions, n, params, rng)


@compiled_only
@pytest.mark.long
def test_best_play_decides_as_the_policy_optimal():
    """So what is evaluated is what is simulated, also where several actions are best."""
    assert evaluate(FEVER, [asked, SOME_CARDS], SMALL).tolist() == evaluate(FEVER, ["optimal", SOME_CARDS], SMALL).tolist()


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong, kind, plays", [(saves_cards, "cards", "P0"), (stops_at_once, "stop", "STOP"), (forgets_tokens, "relance", "KEEP")]
)
def test_a_mistake_is_of_its_kind(wrong, kind, plays):
    found = regret(FEVER, wrong, SMALL)
    assert {name for name, lost in found.by_kind.items() if lost.any()} == {kind}
    assert {(mistake.kind, mistake.plays) for mistake in found.worst} == {(kind, plays)}


@compiled_only
def test_the_worst_position_in_words():
    worst = regret(FEVER, "hold_dice:3", "plain").worst[0]
    assert (worst.kind, worst.decision, worst.plays, worst.best) == ("stop", "track 5,6 worth 11, 0 shields", "THROW", "STOP")
    assert worst.game == "0 v 0, seat 0, hands 0P0R v 0P0R"
    state = FEVER.new_state(2, "plain")
    rules.apply_chance(state, 4), rules.apply_action(state, rules.THROW), rules.apply_chance(state, 5)
    options = exact.solution(FEVER, "plain").options(state)
    assert worst.game_cost == pytest.approx(options[rules.STOP] - options[rules.THROW], abs=1e-12)


@compiled_only
@pytest.mark.parametrize(
    "script, decision, game",
    [
        ("", "before the first die, hand 3P2R", "0 v 0, seat 0, hands 3P2R v 3P2R"),
        (
            "P1R X2 1 THROW 2 THROW 4 THROW 5 X3",
            "track 1,2,4,5 worth 24, 1 shield, Score x2, BONUS X3 due",
            "0 v 0, seat 0, hands 2P1R v 3P2R",
        ),
        ("P0R RELANCE 1 STOP P0 6", "their turn, 6 just laid, track 6 worth 6, 0 shields", "1 v 0, seat 0, hands 3P1R v 3P2R"),
        (
            "P0R RELANCE 1 STOP P0 6 KEEP",
            "track 6 worth 6, 0 shields, under a Relance",
            "0 v 1, seat 1, hands 3P2R v 3P1R",
        ),
        (
            "P0R DUEL 1 2 1 STOP P0 1 STOP P0R RELANCE 1",
            "track 1 worth 1, 0 shields",
            "-4 v 6, seat 0, hands 3P0R v 3P2R, a Relance against their next turn",
        ),
    ],
)
def test_words(script, decision, game):
    state = follow(FEVER, FEVER.new_state(2, "standard"), script)
    assert (evaluation.turn_words(state), evaluation.game_words(state)) == (decision, game)


# --- regret by simulation -------------------------------------------------------------------------------------------------


@policy
def breaks_the_rules(view, actions, n, params, rng):
    """Commits cards for ever."""
    return 99 if view.score[view.turn] > 2 else actions[0]


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    "variant, spec",
    [
        ("standard,target=20,parade_cards=1,risk_cards=1", MANY_CARDS),
        ("standard,target=20,parade_cards=1,risk_cards=1", SOME_CARDS),
        (LATE, adds),
        ("plain,target=20", "never_stop:0"),
    ],
)
def test_sampled_regret_agrees_with_the_exact_one(variant, spec):
    """By seat and kind of decision, within 5 standard errors; and the worst habits cost about the same."""
    exactly, found = regret(FEVER, spec, variant), sampled_regret(FEVER, spec, 4_000, 3, variant)
    deals = len(found.wins)
    for kind, lost in found.by_kind.items():
        assert (np.abs(lost.mean(0) - exactly.by_kind[kind]) <= 5 * lost.std(0) / np.sqrt(deals) + 1e-12).all()
    assert (found.best == exactly.best).all()
    assert (np.abs(found.wins.mean(0) - exactly.win) < 5 * found.wins.std(0) / np.sqrt(deals)).all()
    rest = found.best - found.wins - sum(found.by_kind.values())
    assert (np.abs(rest.mean(0)) < 5 * rest.std(0) / np.sqrt(deals)).all()
    assert sum(each.lost for each in found.worst) <= sum(lost.mean() for lost in found.by_kind.values()) + 1e-12
    one, same = found.worst[0], next(each for each in exactly.worst if each.decision == found.worst[0].decision)
    assert (one.kind, one.plays, one.best) == (same.kind, same.plays, same.best)
    assert one.lost == pytest.approx(same.lost, rel=0.3)


@compiled_only
@pytest.mark.slow
def test_a_random_policy_loses_what_it_gives_away():
    found = sampled_regret(FEVER, "uniform", 4_000, 3, SMALL)
    rest = (found.best - found.wins - sum(found.by_kind.values())).mean(1)
    assert abs(rest.mean()) < 5 * rest.std() / np.sqrt(len(rest))
    assert all((lost >= 0).all() and lost.any() for lost in found.by_kind.values())
    again = sampled_regret(FEVER, "uniform", 10, 3, SMALL)
    assert (again.wins == found.wins[:5]).all()


@compiled_only
def test_best_play_gives_nothing_away_in_games():
    found = sampled_regret(FEVER, "optimal", 200, 3, SMALL)
    assert not any(lost.any() for lost in found.by_kind.values())
    assert found.worst == ()


@compiled_only
@pytest.mark.parametrize(
    "spec, games, error, words",
    [
        ("uniform", 0, InputError, "games must be"),
        ("nobody", 10, InputError, "unknown policy"),
        (breaks_the_rules, 10, IllegalAction, r"breaks_the_rules in seat [01] returned action 99.*seed 3, deal \d"),
    ],
)
def test_sampled_regret_refuses(spec, games, error, words):
    with pytest.raises(error, match=words) as refused:
        sampled_regret(FEVER, spec, games, 3, SMALL)
    assert "\n" not in str(refused.value)


# --- what is refused ----------------------------------------------------------------------------------------------------------


@policy
def counts_turns(view, actions, n, params, rng):
    """Goes by how many turns there were."""
    return actions[view.turns[view.turn] % n]


@policy
def remembers_six_dice(view, actions, n, params, rng):
    """Goes by how the turn began, which makes no difference any more."""
    return actions[n - 1] if view.phase != rules.DECIDE or view.six else actions[0]


@pytest.mark.parametrize(
    "seats, variant, error, words",
    [
        (["hold_dice:3", "uniform"], "plain", InputError, "policy uniform in seat 1 draws random numbers"),
        ([counts_turns, "hold_dice:3"], "plain", InputError, "policy counts_turns in seat 0 looks at one of turns, .*six, which"),
        (
            [breaks_the_rules, "hold_dice:3"],
            "plain",
            IllegalAction,
            r"breaks_the_rules in seat 0 returned action 99.*scores [3-6] 0",
        ),
        (["hold_dice:3"] * 3, "plain", InputError, "only a game of 2 seats can be evaluated exactly, not of 3"),
        (["hold_dice:3", "nobody"], "plain", InputError, "unknown policy"),
    ],
)
def test_refused(seats, variant, error, words):
    with pytest.raises(error, match=words) as refused:
        evaluate(FEVER, seats, variant)
    assert "\n" not in str(refused.value)


@compiled_only
def test_a_policy_that_remembers_more_than_the_position_is_refused():
    with pytest.raises(InputError, match="remembers_six_dice in seat 0 looks at one of"):
        evaluate(FEVER, [remembers_six_dice, "hold_dice:3"], SMALL)


@compiled_only
def test_tables_that_would_be_too_large_are_refused():
    with pytest.raises(InputError, match="too many positions to be evaluated"):
        evaluate(FEVER, ["hold_dice:3", "hold_dice:3"], "standard,parade_cards=1,bonus_die=false,risk_cards=9,duel_stake=1000")


# --- simulated games ----------------------------------------------------------------------------------------------------------


def check_simulation(seats, variant, games, seed):
    table = simulate(FEVER, seats, games=games, seed=seed, variant=variant, progress=False)
    wins = evaluate(FEVER, seats, variant)[0], evaluate(FEVER, seats[::-1], variant)[1]
    for seat, win in enumerate(wins):
        row = table[(table.measure == "payoff") & (table.policy == table.policy.iloc[0]) & (table.seat == seat)].iloc[0]
        mean = row.total / row.deals
        error = np.sqrt(row.squares / row.deals - mean**2) / np.sqrt(row.deals)
        assert abs(mean - win) < 5 * error


@compiled_only
@pytest.mark.slow
def test_simulated_games_agree():
    check_simulation([SOME_CARDS, MANY_CARDS], "standard,target=30,parade_cards=1,risk_cards=1", 100_000, seed=5)


@compiled_only
@pytest.mark.long
def test_simulated_games_of_standard_agree():
    check_simulation([SOME_CARDS, MANY_CARDS], "standard", 4_000_000, seed=5)


NAMED = [spec for spec in FEVER.named_policies if spec != "uniform"]


@compiled_only
@pytest.mark.long
@pytest.mark.parametrize(
    "variant, spec, games",
    [("plain", spec, 4_000_000 if spec == "race:2" else 400_000) for spec in NAMED if "=" not in spec]
    + [("standard", spec, 40_000) for spec in NAMED if "=" in spec],  # half a millisecond of best play a game
)
def test_simulated_games_against_best_play_agree(variant, spec, games):
    check_simulation(["optimal", spec], variant, games, seed=8)


@compiled_only
@pytest.mark.long
def test_best_play_wins_at_least_as_often_against_any():
    first = exact.solution(FEVER, "standard").first_seat_win
    for spec in NAMED:
        assert evaluate(FEVER, ["optimal", spec], "standard")[0] >= first - 1e-12
        assert evaluate(FEVER, [spec, "optimal"], "standard")[0] <= first + 1e-12
