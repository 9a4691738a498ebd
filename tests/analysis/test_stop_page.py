"""The page of the STOP adviser, in a headless browser: its numbers are those of ``dicelab stop --json``, it works by keyboard and
by touch, and it says of impossible positions what the command says."""

import html
import json
import re
import shutil
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from analysis import advice, report
from analysis.chapters import dice_fever
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import readable, rules
from sims.rulesets.dice_fever.adviser import Adviser
from sims.rulesets.dice_fever.compact import BONUSES, STEP

DICE_FEVER = RULESETS["dice-fever"]
REPORTS = Path(__file__).parents[2] / "reports"
SMALL = "standard,target=20,parade_cards=1,risk_cards=1"
DUELS = "plain,target=20,parade_cards=1,risk_cards=2,risk_faces=DUEL/RELANCE/X2,last_turn_strict=false"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=60000",  # waits are skipped, so it is no time to wait for
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(INTERPRETED, reason="solving takes minutes in plain Python"),
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the PATH"),
]


@pytest.fixture(scope="module")
def advisers(tmp_path_factory):
    """Advisers by variant, each solved once; `standard` may be in the user's cache already, the others are not kept there."""
    made, folder = {}, tmp_path_factory.mktemp("cache")

    def adviser(variant):
        if variant not in made:
            made[variant] = Adviser(DICE_FEVER, variant)
            with pytest.MonkeyPatch.context() as patch:
                if variant != "standard":
                    patch.setattr("sims.rulesets.dice_fever.exact.user_cache_path", lambda name: folder)
                assert made[variant].solution
        return made[variant]

    return adviser


@pytest.fixture(scope="module")
def page(advisers):
    """The page of a variant as text; the command then takes the same solution."""

    @cache
    def text(variant):
        patch.setattr(dice_fever, "SOLVED", variant)
        return report._template(REPORTS, "stop").render(dice_fever.stop_page())

    with pytest.MonkeyPatch.context() as patch:
        for module in (dice_fever, advice):
            patch.setattr(module, "Adviser", lambda ruleset, name: advisers(name))
        yield text


def run(folder, page, script, address="", *options):
    """Load a page in the browser, let an async script loose on it, and return what the script returns."""
    path = folder / "page.html"
    task = f"""<pre id="answers"></pre><script>(async () => {{ {script} }})()
        .catch((error) => ({{ failed: String(error.stack) }}))
        .then((answers) => {{ byId("answers").textContent = JSON.stringify(answers); }})</script></body>"""
    path.write_text(page.replace("</body>", task))
    command = [BROWSER, *OPTIONS, f"--user-data-dir={folder}", *options, "--dump-dom", f"{path.as_uri()}{address}"]
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=300, text=True).stdout
    answers = json.loads(html.unescape(re.search(r'<pre id="answers">(.*?)</pre>', shown, re.DOTALL)[1]))
    assert not (isinstance(answers, dict) and "failed" in answers), answers
    return answers


# --- the numbers ------------------------------------------------------------------------------------------------------------


def command_says(variant, position):
    """What ``dicelab stop --json`` prints, or the line with which it refuses."""
    sequences = {name: tuple(value) if isinstance(value, list) else value for name, value in position.items()}
    try:
        return json.loads(json.dumps(advice.to_win(variant, **sequences)[0]))
    except InputError as error:
        return {"refused": str(error)}


def pulled_leaders(target):
    """Last turns about the score to which a Duel of this turn, if it was one, may have pulled the leader."""
    for theirs, my_relance, cards in product((target - 6, target - 5, target - 1, target), (False, True), (None, [0, 0])):
        yield position(scores=[3, theirs], seat=2, last_turn=True, my_relance=my_relance, cards=cards)


def position(**changed):
    """A position of a turn, with what is not told as the command has it by default."""
    start = {"track": [1, 4], "shields": 0, "bonus": "none", "tripled": 0, "double_score": False, "scores": [3, 12]}
    game = {"cards": None, "their_cards": None, "seat": 1, "last_turn": False, "relance": False, "my_relance": False}
    return {**start, **game, **changed}


def random_position(rng, target, cards):
    """What somebody might ask, a good part of it impossible."""

    def flag(share):
        return bool(rng.random() < share)

    def hand():
        return [int(rng.integers(n + 1)) for n in cards] if flag(0.7) else None

    track = sorted(int(value) for value in rng.choice(6, rng.integers(1, 6), replace=False) + 1)
    bonus, tripled = BONUSES[rng.integers(len(BONUSES))] if len(track) >= 4 else BONUSES[0]
    last_turn = flag(0.3)
    theirs = rng.integers(target - 5, target + 20) if last_turn else rng.integers(-3, target + 3)
    return {
        "track": track,
        "shields": int(rng.integers(cards[0] + 1)),
        "bonus": bonus,
        "tripled": tripled,
        "double_score": flag(0.3),
        "scores": [int(rng.integers(-3, target + 3)), int(theirs)],
        "cards": hand(),
        "their_cards": hand(),
        "seat": 2 if last_turn and flag(0.95) else int(rng.integers(1, 3)),
        "last_turn": last_turn,
        "relance": flag(0.3),
        "my_relance": flag(0.3),
    }


def outs(adviser, state):
    """Lowest and highest chance of OUT, if a Relance's owner may do anything that is best to within what the page can tell."""
    if state.outs[:2].any():
        return np.ones(2)
    if state.fevers[:2].any() or state.phase == rules.DECIDE:
        return np.zeros(2)
    if rules.actor(state) == CHANCE:
        n = rules.chance(state)
        return sum(outs(adviser, DICE_FEVER.after(state, outcome)) for outcome in range(n)) / n
    options = adviser.solution.options(state)
    good = [action for action, win in options.items() if win >= max(options.values()) - STEP]
    found = np.array([outs(adviser, DICE_FEVER.after(state, action)) for action in good])
    return np.array([found[:, 0].min(), found[:, 1].max()])


@pytest.mark.parametrize("variant, n", [(SMALL, 30), (DUELS, 60), pytest.param("standard", 1000, marks=pytest.mark.long)])
def test_random_positions_have_the_numbers_of_the_command(page, advisers, tmp_path, variant, n):
    text, adviser, rng = page(variant), advisers(variant), np.random.default_rng(8)
    values = adviser.variant.values
    asked = list(pulled_leaders(values["target"]))
    said = [command_says(variant, each) for each in asked]
    while sum("refused" not in each for each in said) < n:
        asked.append(random_position(rng, values["target"], (values["parade_cards"], values["risk_cards"])))
        said.append(command_says(variant, asked[-1]))
    answers = run(
        tmp_path,
        text,
        f"""const {{ advise }} = await openAdviser(byId("facts").textContent, byId("table").textContent);
        return {json.dumps(asked)}.map((position) => {{
          try {{ return advise(position); }} catch (error) {{
            if (!(error instanceof InputError)) throw error;
            return {{ refused: error.message }};
          }} }});""",
    )
    for position, command, answer in zip(asked, said, answers, strict=True):
        if "refused" in command:
            assert answer == command
            continue
        for name in ("rules", "inputs", "for_points"):
            assert answer[name] == command[name]
        for option in ("stop", "throw"):
            assert abs(answer[option]["win"] - command[option]["win"]) <= STEP / 2 + 1e-12
            assert answer[option]["points"] == pytest.approx(command[option]["points"])
        assert answer["stop"]["out"] == command["stop"]["out"]
        assert answer["regret"] == pytest.approx(command["regret"])
        assert abs(answer["regret_win"] - command["regret_win"]) <= STEP + 1e-12
        assert answer["advice"] == command["advice"] or command["regret_win"] <= STEP
        if answer["p_out"] != pytest.approx(command["p_out"]):
            assert position["relance"]
            inputs = {name: tuple(value) if isinstance(value, list) else value for name, value in command["inputs"].items()}
            turn = adviser.position(*(inputs.pop(name) for name in ("track", "shields", "bonus", "tripled", "double_score")))
            low, high = outs(adviser, DICE_FEVER.after(adviser._in_game(turn, advice.Table(**inputs)), rules.THROW))
            assert low - 1e-9 <= answer["p_out"] <= high + 1e-9
    seen = [(each["inputs"]["relance"], each["inputs"]["last_turn"], each["advice"]) for each in said if "refused" not in each]
    assert len({*seen}) >= 6
    assert len({each["refused"][:20] for each in said if "refused" in each}) >= 6


def test_rules_on_a_card_see_the_scores_as_the_policies_do(page, tmp_path):
    """With the scores of a whole game, at and about the numbers of their lines."""
    adviser, rng, asked, said = Adviser(DICE_FEVER, "standard"), np.random.default_rng(4), [], []
    edges = [0, 43, 44, 45, 47, 48, 59, 60, 67, 68, 69, 70, 75, 76, 80]
    asked_rules = [*readable.RULES, readable.rule_1(goal=1, dice=3)]  # between them they have every line that the page knows
    more = dict(zip(asked_rules[-1].parameters, asked_rules[-1].values, strict=True))
    while len(asked) < 2000:
        track = tuple(sorted(int(value) for value in rng.choice(6, rng.integers(1, 4), replace=False) + 1))
        shields, seat, double_score = int(rng.random() < 0.2), int(rng.integers(1, 3)), bool(rng.random() < 0.3)
        scores = tuple(int(score) for score in rng.choice(edges, 2))
        last_turn, relance = bool(seat == 2 and rng.random() < 0.4), bool(rng.random() < 0.3)
        table = advice.Table(scores, (0, 0), (0, 0), seat, last_turn, relance)
        state = adviser._in_game(adviser.position(track, shields, "none", 0, double_score), table)
        game = {"track": track, "tripled": 0, "shields": shields, **vars(table)}
        asked.append((game, int(rules.stop_points(state)), 6 in track))
        said.append([DICE_FEVER.describe(state, readable.answer(rule, state)) for rule in asked_rules])
    answers = run(
        tmp_path,
        page(SMALL),
        f"""while (!adviser) await new Promise((resolve) => setTimeout(resolve, 20));
        const facts = {{ ...adviser.facts, target: {adviser.variant.values["target"]} }};
        const rules = [...Object.values(facts.rules), {json.dumps(more)}];
        const says = (position) => rules.map((rule) => ruleSays(facts, rule, ...position));
        return {json.dumps(asked)}.map(says);""",
    )
    assert answers == said
    assert {rule: {each[i] for each in said} for i, rule in enumerate("137+")} == {rule: {"STOP", "THROW"} for rule in "137+"}
    assert len({tuple(each) for each in said}) >= 8


# --- the page ---------------------------------------------------------------------------------------------------------------

SHOWN = """
    const shown = () => ({ advice: byId("advice").textContent, message: byId("message").textContent,
      kind: byId("verdict").className, win: ["stop", "throw"].map((id) => byId(id).querySelector("b").textContent),
      rules: byId("rules").textContent, details: byId("details").textContent });
    const press = (key, at = document.body) =>
      at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const pick = (selector) => document.querySelector(selector).click();
    const type = (selector, value) => {
      const field = document.querySelector(selector);
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    while (!asked) await new Promise((resolve) => setTimeout(resolve, 20));
"""


def operate(folder, page, steps, address="#track=1,4&scores=3,12", *options):
    """Take steps, pieces of script, on the page; return what it shows before and after each, and the address after the last."""
    taken = "".join(f"{step}; views.push(shown());" for step in steps)
    wait = "await new Promise((resolve) => setTimeout(resolve, 400)); views.at(-1).hash = location.hash;"
    return run(folder, page, f"{SHOWN} const views = [shown()]; {taken} {wait} return views;", address, *options)


def check_view(view, expected):
    """The page shows what the command says of a position."""
    command = command_says(SMALL, expected)
    if "refused" in command:
        assert (view["kind"], view["message"], view["details"]) == ("unsure", command["refused"], "")
        return
    assert view["advice"] == command["advice"]
    assert view["kind"] == command["advice"].lower()
    for text, option in zip(view["win"], ("stop", "throw"), strict=True):
        assert abs(float(text.removesuffix(" %")) - 100 * command[option]["win"]) <= 0.05 + 100 * STEP
    said = {name: part.split(": ")[1] for part in view["rules"].split("; ") for name in part.split(": ")[0].split(", ")}
    assert said == command["rules"]
    assert f"{100 * command['p_out']:.1f} %" in view["details"]
    assert f"{command['throw']['points']:.2f}" in view["details"]
    lost = re.search(r"would cost (.*) percentage", view["message"])
    assert abs((float(lost[1]) if lost else 0) - 100 * command["regret_win"]) <= 0.05 + 100 * STEP
    assert ("would be OUT" in view["message"]) == command["stop"]["out"]


def test_keys(page, tmp_path):
    steps = [
        ("press('5')", {"track": [1, 4, 5]}),
        ("press('6')", {"track": [1, 4, 5, 6]}),  # refused: what did the BONUS die show?
        ("press('b')", {"track": [1, 4, 5, 6], "bonus": "plus5"}),
        ("press('4')", {"track": [1, 5, 6]}),  # and the BONUS throw is gone as well
        ("press('P')", {"track": [1, 5, 6], "shields": 1}),
        ("press('ArrowRight')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 12]}),
        ("press('ArrowDown')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11]}),
        ("press('ArrowUp', byId('mine'))", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11]}),  # belongs to the field
        ("press('x')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11], "double_score": True}),
        ("press('u')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11]}),
        ("pick('#keys'); press('2')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11]}),
        ("pick('#keys'); press('2'); press('u')", {"track": [1, 5, 6], "shields": 1, "scores": [4, 11]}),
        ("press('r')", {"track": [1, 4, 5], "scores": [40, 52]}),
    ]
    views = operate(tmp_path, page(SMALL), [step for step, _ in steps])
    for view, changed in zip(views, [{}, *(changed for _, changed in steps)], strict=True):
        check_view(view, position(**changed))


def test_clicks_and_fields(page, tmp_path):
    more = {"seat": 2, "last_turn": True, "scores": [3, 22], "cards": [0, 1], "relance": True}
    steps = [
        ("pick('[data-die=\"1\"]')", {"track": [4]}),
        ("pick('[data-die=\"4\"]')", {"track": []}),
        ("pick('#undo')", {"track": [4]}),
        ("pick('[name=seat][value=\"2\"]')", {"track": [4], "seat": 2}),
        ("type('#theirs', 22)", {"track": [4], "seat": 2, "scores": [3, 22]}),
        ("pick('[name=last_turn]')", {"track": [4], "seat": 2, "last_turn": True, "scores": [3, 22]}),
        (
            "type('[data-hand=cards][data-kind=\"0\"]', 0)",
            {"track": [4], "seat": 2, "last_turn": True, "scores": [3, 22], "cards": [0, 1]},
        ),
        ("pick('[name=relance]')", {"track": [4], **more}),
        ("pick('[name=my_relance]')", {"track": [4], **more, "cards": [0, 0], "my_relance": True}),  # the card leaves the hand
        (
            "pick('[data-score=mine][data-step=\"1\"]')",
            {"track": [4], **more, "cards": [0, 0], "my_relance": True, "scores": [4, 22]},
        ),
        ("type('#mine', 99)", {"track": [4], **more, "cards": [0, 0], "my_relance": True, "scores": [99, 22]}),
    ]
    views = operate(tmp_path, page(SMALL), [step for step, _ in steps])
    for view, changed in zip(views, [{}, *(changed for _, changed in steps)], strict=True):
        check_view(view, position(**changed))


def test_an_address_holds_the_position(page, tmp_path):
    asked = {"track": [1, 2, 4, 5, 6], "bonus": "x3-used", "tripled": 6, "scores": [-3, 12], "their_cards": [0, 0], "seat": 2}
    address = "#track=1,2,4,5,6&scores=-3,12&bonus=x3-used&tripled=6&their-cards=0,0&seat=2"
    view, *_ = operate(tmp_path, page(SMALL), [], address)
    assert view["hash"] == address
    check_view(view, position(**asked))
    nonsense, *_ = operate(tmp_path, page(SMALL), [], "#track=9,x&scores=1&bonus=seven&shields=-4&cards=1&seat=9&tripled=%")
    assert nonsense["hash"] == "#track=&scores=40,52"


def test_it_fits_a_phone_in_the_light_and_in_the_dark(page, tmp_path):
    """In a frame as narrow as a phone, as a browser's own window may not be."""
    narrow = """
        const frame = document.createElement("iframe");
        frame.style.width = "360px";
        frame.srcdoc = document.documentElement.outerHTML.replace(/<script[^]*?<.script>/g, "");
        document.body.append(frame);
        await new Promise((resolve) => { frame.onload = resolve; });
        const inside = frame.contentDocument, wide = [...inside.querySelectorAll("body *")].filter(
          (each) => each.getBoundingClientRect().right > 360);
        const small = [...inside.querySelectorAll("button, select, .choices label")].filter((each) =>
          each.getClientRects().length && (each.offsetHeight < 40 || each.offsetWidth < 40));
        return { wide: wide.map((each) => each.outerHTML), small: small.map((each) => each.outerHTML),
          paper: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color };"""
    text = page(SMALL)
    views = [run(tmp_path, text, SHOWN + narrow, "", f"--blink-settings=preferredColorScheme={scheme}") for scheme in (1, 0)]
    for view in views:
        assert (view["wide"], view["small"]) == ([], [])
    light, dark = ({name: sum(map(int, re.findall(r"\d+", view[name])[:3])) for name in ("paper", "ink")} for view in views)
    assert light["paper"] > 600 > 200 > light["ink"]
    assert dark["paper"] < 200 < 600 < dark["ink"]


def test_every_control_has_a_name_and_nothing_is_fetched(page, tmp_path):
    text = page(SMALL)
    unnamed = run(
        tmp_path,
        text,
        """const isNamed = (each) => each.getAttribute("aria-label") || each.textContent.trim()
          || [...(each.labels ?? [])].some((label) => label.textContent.trim());
        return [...document.querySelectorAll("button, input, select")].filter((each) => !isNamed(each))
          .map((each) => each.outerHTML);""",
    )
    assert unnamed == []
    assert text.count("<fieldset") == text.count("<legend>") >= 7
    assert 'aria-live="polite"' in text
    own = re.sub(r'<script type="text/plain".*?</script>', "", text, flags=re.DOTALL)
    assert re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", own) == ["dice_fever.html"]
    assert not re.search(r"https?:|@import|url\(|fetch\(|XMLHttpRequest|import\(", own)


@pytest.mark.long
def test_the_page_of_the_report_is_small(page):
    assert len(page(dice_fever.SOLVED).encode()) <= 3_000_000
