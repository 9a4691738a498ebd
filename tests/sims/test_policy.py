import importlib
import sys
import textwrap

import numpy as np
import pytest

from sims import RULESETS, InputError, Policy, policy, simulate
from sims.jit import INTERPRETED
from sims.policy import FILE, load_policy

MODULE = importlib.import_module("sims.policy")  # `sims.policy` is the decorator
PIG, FEVER = RULESETS["pig"], RULESETS["dice-fever"]
NAMED = [(ruleset, spec) for ruleset in RULESETS.values() for spec in ruleset.named_policies]
GAMES = 20 if INTERPRETED else 2_000
BOLD = textwrap.dedent('''
    from sims import policy

    @policy(points=30, style=("calm", "wild"))
    def bold(view, actions, n, params, rng):
        """Hold late."""
        return 0 if view.pot >= params[0] else 1

    def plain(view, actions, n, params, rng):
        return 0

    NOT_A_POLICY = 5
''')


class Point:
    """An installed entry point."""

    def __init__(self, name, found):
        self.name, self.found = name, found

    def load(self):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def bold(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BOLD, "utf-8")
    return path


@pytest.fixture
def install(monkeypatch):
    """Pretend that these policies are installed."""

    def install(**found):
        points = [Point(name, each) for name, each in found.items()]
        monkeypatch.setattr(MODULE, "entry_points", lambda group: points if group == "dicelab.policies" else [])

    return install


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that can be imported until the end of the test."""
    names = []

    def module(name, text):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
        names.append(name)
        return name

    monkeypatch.syspath_prepend(tmp_path)
    yield module
    for name in names:
        sys.modules.pop(name, None)


def refusal(spec, ruleset=PIG):
    with pytest.raises(InputError) as caught:
        load_policy(ruleset, spec)
    return str(caught.value)


# --- specs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset, spec", NAMED, ids=lambda x: getattr(x, "name", x))
def test_named_policies_round_trip(ruleset, spec):
    loaded = load_policy(ruleset, spec)
    assert loaded.spec == str(loaded) == spec
    assert loaded == load_policy(ruleset, loaded.spec)


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_every_policy_round_trips_and_is_registered_under_its_name(ruleset):
    for name, each in ruleset.policies.items():
        assert each.name == name
        assert load_policy(ruleset, each.spec) == each
        assert load_policy(ruleset, name) == each
        assert each.function.__doc__


@pytest.mark.parametrize(
    "made, text, spec, params",
    [
        (FEVER.policies["hold_dice"](4, cards="asap"), "hold_dice:4,cards=asap", "hold_dice:4,cards=asap", [4, 1, 0]),
        (FEVER.policies["hold_dice"](4, "asap", 1), "hold_dice:4,asap,1", "hold_dice:4,cards=asap,goal=1", [4, 1, 1]),
        (FEVER.policies["hold_dice"](), "hold_dice", "hold_dice:3", [3, 0, 0]),
        (FEVER.policies["hold_dice"](dice=2), "hold_dice:dice=2", "hold_dice:2", [2, 0, 0]),
        (FEVER.policies["hold_dice"](goal=1), "hold_dice: goal = 1 ", "hold_dice:3,goal=1", [3, 0, 1]),
        (FEVER.policies["expected_gain"](0.25), "expected_gain:.25", "expected_gain:0.25", [0.25, 0, 0, 25, 0, 0]),
        (FEVER.policies["expected_gain"](-1.5), "expected_gain:-1.5", "expected_gain:-1.5", [-1.5, 0, 0, 25, 0, 0]),
        (FEVER.policies["uniform"], "uniform", "uniform", [0]),
        (PIG.policies["hold_at"](np.int64(25)), "hold_at:25.0", "hold_at:25", [25]),
    ],
    ids=lambda x: x.spec if isinstance(x, Policy) else None,
)
def test_values_in_code_and_text_agree(made, text, spec, params):
    assert made == load_policy(FEVER if made.name in FEVER.policies else PIG, text)
    assert made.spec == spec
    assert made.params.tolist() == params
    assert made.params.dtype == np.float64


def test_calling_a_policy_keeps_its_other_values():
    changed = FEVER.policies["race"](5, risk="near")
    assert changed(reach=10).spec == "race:5,risk=near,reach=10"
    assert FEVER.policies["race"].spec == "race:2"  # unchanged


def test_a_policy_is_returned_as_it_is_and_a_function_becomes_one():
    def own(view, actions, n, params, rng):
        return actions[0]

    assert load_policy(PIG, PIG.policies["hold_at"]) is PIG.policies["hold_at"]
    loaded = load_policy(PIG, own)
    assert (loaded.function, loaded.spec, loaded.params.tolist()) == (own, "own", [0])
    assert load_policy(PIG, policy(own)) == loaded


def test_first_parameter_that_is_a_word_is_written_with_its_name():
    @policy(style=("calm", "wild"), points=3)
    def moody(view, actions, n, params, rng):
        return actions[0]

    assert moody.spec == "moody"
    assert moody("wild", 4).spec == "moody:style=wild,points=4"
    assert moody("wild", 4).params.tolist() == [1, 4]


@pytest.mark.parametrize("points", [1_234_567, 0.123456789, 1e-7, 2**40 + 1, 20.000001])
def test_no_digit_is_lost_in_a_spec(points):
    made = PIG.policies["hold_at"](points)
    assert load_policy(PIG, made.spec) == made
    assert made.spec != PIG.policies["hold_at"](points * (1 + 1e-9)).spec


# --- where policies come from ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings, values", [("", (30, "calm")), (":12", (12, "calm")), (":12,style=wild", (12, "wild"))])
def test_from_a_file(bold, settings, values):
    loaded = load_policy(PIG, f"{bold}:bold{settings}")
    assert loaded.name == f"{bold}:bold"
    assert loaded.values == values
    again = load_policy(PIG, loaded.spec)
    assert (again.spec, again.values) == (loaded.spec, values)
    assert load_policy(PIG, f"{bold}:plain").params.tolist() == [0]


def test_from_a_file_in_the_working_directory(bold, monkeypatch):
    monkeypatch.chdir(bold.parent)
    assert load_policy(PIG, "mine.py:bold:12").spec == "mine.py:bold:12"


def test_from_a_file_in_a_folder_called_after_python(bold):
    folder = bold.parent / ".pyenv"
    folder.mkdir()
    (folder / "mine.py").write_text(BOLD, "utf-8")
    assert load_policy(PIG, f"{folder / 'mine.py'}:bold:12").values == (12, "calm")


def test_from_a_module(module):
    name = module("dicelab_test_module", BOLD)
    loaded = load_policy(PIG, f"{name}:bold:12,wild")
    assert loaded.spec == f"{name}:bold:12,style=wild"
    assert loaded == load_policy(PIG, loaded.spec)
    assert load_policy(PIG, f"{name}:plain").spec == f"{name}:plain"


def test_from_an_installed_package(install):
    def cautious(view, actions, n, params, rng):
        return actions[0]

    install(cautious=policy(points=5)(cautious), bare=cautious)
    loaded = load_policy(PIG, "cautious:7")
    assert (loaded.spec, loaded.values, loaded.function) == ("cautious:7", (7,), cautious)
    assert load_policy(PIG, "bare").spec == "bare"
    assert "cautious" in refusal("unheard_of")


def test_a_rulesets_own_policy_goes_before_an_installed_one(install):
    install(hold_at=policy(lambda view, actions, n, params, rng: 1))
    assert load_policy(PIG, "hold_at:20") == PIG.policies["hold_at"]


def test_policies_from_anywhere_play(bold, module, install):
    name = module("dicelab_test_player", BOLD)
    install(guest=PIG.policies["hold_at"])
    specs = [f"{bold}:bold:20", f"{name}:bold:20", "guest:20", "hold_at:20"]
    for spec in specs:
        table = simulate("pig", [spec, "hold_at:15"], games=GAMES, n_jobs=1)
        assert sorted(table.policy.dropna().unique()) == sorted([spec, "hold_at:15"])
        assert (table.games == GAMES).all()


# --- bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, parts",
    [
        ("hold_att:20", ["policy of pig", "'hold_att'", "did you mean hold_at?", *PIG.policies]),
        ("", ["''", *PIG.policies]),
        (":20", ["''", *PIG.policies]),
        ("json", ["'json'", *PIG.policies]),  # a module, not a policy
        ("no_such_module:bold", ["'no_such_module'", *PIG.policies]),
        ("json:no_such_name", ["'no_such_name'", "json"]),
        ("json:__name__", ["json:__name__", "str"]),
        ("hold_at:att=20", ["parameter of hold_at", "'att'", "did you mean at?"]),
        ("hold_at:twenty", ["at of hold_at", "number", "'twenty'"]),
        ("hold_at:nan", ["at of hold_at", "'nan'"]),
        ("hold_at:inf", ["at of hold_at", "'inf'"]),
        ("hold_at:at=", ["at of hold_at", "''"]),
        ("hold_at:20:30", ["at of hold_at", "'20:30'"]),
        ("hold_at:20,30", ["hold_at has 1 parameters, not 2"]),
        ("uniform:3", ["uniform has 0 parameters, not 1"]),
        ("keep_pace:base=20,8", ["keep_pace", "'8'", "parameter=value"]),
    ],
)
def test_bad_specs_are_refused(spec, parts):
    message = refusal(spec)
    for part in parts:
        assert part in message


def test_bad_choice_is_refused():
    message = refusal("hold_dice:3,cards=asp", FEVER)
    for part in ("cards of hold_dice", "'asp'", "did you mean asap?", "none, asap"):
        assert part in message


@pytest.mark.parametrize(
    "call, part",
    [
        (lambda hold: hold(1, 2), "not 2"),
        (lambda hold: hold(att=3), "did you mean at?"),
        (lambda hold: hold("many"), "'many'"),
        (lambda hold: hold(None), "None"),
        (lambda hold: hold([1, 2]), "[1, 2]"),
    ],
)
def test_bad_values_in_code_are_refused(call, part):
    with pytest.raises(InputError) as caught:
        call(PIG.policies["hold_at"])
    assert part in str(caught.value)


def test_bad_files_are_refused(bold):
    assert "'nowhere.py'" in refusal("nowhere.py:bold")
    assert "NAME" in refusal(str(bold))
    assert "NAME" in refusal(f"{bold}:")
    message = refusal(f"{bold}:bald")
    for part in (str(bold), "'bald'", "did you mean bold?"):
        assert part in message
    assert "int" in refusal(f"{bold}:NOT_A_POLICY")
    assert "points" in refusal(f"{bold}:bold:pints=3")
    assert "'tame'" in refusal(f"{bold}:bold:3,tame")
    assert "'folder.py'" in refusal("folder.py:bold")


@pytest.mark.parametrize("text", ["def bold(:\n", "1 / 0\n", "import no_such_module_anywhere\n"])
def test_files_that_do_not_load_are_refused(tmp_path, text):
    path = tmp_path / "broken.py"
    path.write_text(text, "utf-8")
    message = refusal(f"{path}:bold")
    assert str(path) in message
    assert "Error" in message


@pytest.mark.parametrize("text", ["def bold(:\n", "1 / 0\n", "import no_such_module_anywhere\n"])
def test_modules_that_do_not_load_are_refused(module, text):
    name = module("dicelab_test_broken", text)
    assert name in refusal(f"{name}:bold")


@pytest.mark.parametrize("error", [ImportError("no such thing"), ZeroDivisionError("oops"), SyntaxError("what?")])
def test_installed_policies_that_do_not_load_are_refused(install, error):
    install(broken=error)
    message = refusal("broken:3")
    assert "'broken'" in message
    assert str(error) in message
    assert load_policy(PIG, "hold_at:20").values == (20,)  # the others are unharmed


def test_installed_thing_that_is_no_policy_is_refused(install):
    install(number=5)
    assert "number is not a policy but a int" in refusal("number")


# --- tables ---------------------------------------------------------------------------------------------------------------


def hold_at_table(goal, points):
    """1 where `hold_at` rolls, by own score, best other score and pot."""
    score, _, pot = np.indices((goal, goal, goal))
    return ((score + pot < goal) & (pot < points)).astype(float)


def test_table_plays_as_it_is_filled(tmp_path):
    goal, path = 30, tmp_path / "hold.npy"
    np.save(path, hold_at_table(goal, 12))
    results = []
    for mine in (f"table:{path}", PIG.policies["table"](hold_at_table(goal, 12)), "hold_at:12"):
        table = simulate("pig", [mine, "hold_at:8"], GAMES, seed=3, variant=f"standard,goal={goal}", n_jobs=1)
        results.append(table.drop(columns=["policy", "matchup"]))
    assert results[0].equals(results[2])
    assert results[1].equals(results[2])


def test_table_spec_names_its_file(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros(8))
    loaded = load_policy(PIG, f"table:{tmp_path / 't.npy'}")
    assert loaded.spec == f"table:{tmp_path / 't.npy'}"
    assert load_policy(PIG, loaded.spec).spec == loaded.spec
    assert loaded.params.tolist() == [0] * 8


def test_bad_tables_are_refused(tmp_path):
    (tmp_path / "text.npy").write_text("no table", "utf-8")
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    for spec, part in [
        ("table", "table:FILE.npy"),
        (f"table:{tmp_path / 'none.npy'}", str(tmp_path / "none.npy")),
        (f"table:{tmp_path / 'text.npy'}", str(tmp_path / "text.npy")),
        (f"table:{tmp_path / 'objects.npy'}", str(tmp_path / "objects.npy")),
        (f"table:{tmp_path}", str(tmp_path)),
    ]:
        with pytest.raises(InputError) as caught:
            simulate("pig", [spec, "hold_at:20"], games=2, n_jobs=1)
        assert part in str(caught.value)


@pytest.mark.parametrize("size", [8, 30**3 - 1, 30**3 + 1])
def test_table_of_the_wrong_size_is_refused(size):
    """Compiled, a short one would be read beyond its end."""
    with pytest.raises(InputError):
        simulate("pig", [PIG.policies["table"](np.ones(size)), "hold_at:8"], 2, variant="standard,goal=30", n_jobs=1)


def test_a_table_may_follow_other_parameters():
    @policy(points=3, odds=FILE)
    def learned(view, actions, n, params, rng):
        return actions[0]

    assert learned.spec == "learned:3"
    assert learned(4, "odds.npy").spec == "learned:4,odds=odds.npy"
    assert learned(4, np.arange(3)).params.tolist() == [4, 0, 1, 2]


def test_two_tables_are_two_policies():
    table = PIG.policies["table"]
    results = simulate(
        "pig",
        [table(hold_at_table(30, 12)), table(hold_at_table(30, 5))],
        games=GAMES,
        variant="standard,goal=30",
        n_jobs=1,
    )
    assert results.policy.nunique() == 2


def test_table_follows_the_numbers_and_is_made_from_the_values():
    """A policy may have parameters and play from a table; other values or another variant need another table."""

    def tenfold(ruleset, variant, points, style):
        return np.array([10.0 * points, variant.values["goal"], len(style)])

    @policy(solve=tenfold, points=3, style=("calm", "wild"))
    def planned(view, actions, n, params, rng):
        return 0

    variant = PIG.variant("standard,goal=50")
    solved = planned.solved_for(PIG, variant)
    assert planned.params.tolist() == [3, 0]
    assert solved.params.tolist() == [3, 0, 30, 50, 4]
    assert solved(7).solved_for(PIG, variant).params.tolist() == [7, 0, 70, 50, 4]
    with pytest.raises(InputError, match="was solved for the variant standard,goal=50"):
        solved.solved_for(PIG, PIG.variant())
