"""The documents: what they say to type can be typed, prints what they show, and their links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from analysis.cli import cli, main
from sims.jit import INTERPRETED

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), ROOT / "analysis" / "README.md", *ROOT.glob("sims/rulesets/*/README.md")]
COMMANDS = [
    (path.name, line.split("  #")[0].strip())
    for path in DOCUMENTS
    for line in re.findall(r"^    (?:\$ \.venv/bin/)?(dicelab .*)$", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("document, line", COMMANDS)
def test_commands_can_be_typed(document, line):
    _, name, *words = shlex.split(line)
    cli.commands[name].make_context(name, words)


def test_the_documents_have_commands():
    assert len(COMMANDS) > 20


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if re.match(r"https?:", link):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}, link


def test_the_readme_shows_what_is_printed(capsys):
    command, *lines = re.search(
        r"^    \$ \.venv/bin/dicelab (stop .*--shields.*)\n((?:    .*\n)+)", README, re.MULTILINE
    ).groups()
    main(command.split())
    assert capsys.readouterr().out == re.sub(r"^    ", "", lines[0], flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="plays thousands of games")
def test_the_policy_of_the_readme_is_compared():
    *code, verdict = re.search(r"```python\n(.*?)\n```", README, re.DOTALL).group(1).split("\n")
    scope = {}
    exec("\n".join(code), scope)
    assert eval(verdict, scope) in ("a_better", "b_better")
