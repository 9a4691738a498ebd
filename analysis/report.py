"""The report: for each chapter study -> results -> figures, tables and text; a front page and a page on the methods join them.

What is said of a game is in :mod:`analysis.chapters` and in the chapter's template; here is the frame, which knows no game. Every
page stands alone in one file, the same byte for byte for the same seed, games and sources: no dates, no host names, fixed SVG
identifiers. A chapter is remembered with its files for as long as nothing that it depends on changes; what takes long in the
others is done first, in as many processes as there are jobs, as most of a first run is compilation, which only processes can do
at the same time.
"""

import base64
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import matplotlib.pyplot as plt
import pandas as pd
from joblib import Memory, effective_n_jobs
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from tqdm import tqdm

from analysis import figures
from analysis.chapters import CHAPTERS
from analysis.scorecard import TABLE, published
from sims import jit
from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.simulate import find_ruleset
from sims.study import Planned, Study, load_study, plan, run_matchup

UNKEYED = ["study", "folder", "games", "seed"]  # the key says what of them matters
SOURCES = jit.sources_hash(Path(__file__).parent)


MARKDOWN = MarkdownIt().enable("table")
for _part in ("link_open", "link_close"):  # what a document of the repository links to is not in the report
    MARKDOWN.add_render_rule(_part, lambda renderer, tokens, i, options, env: "")


class Made(NamedTuple):
    """A finished chapter."""

    name: str
    game: str
    title: str
    answer: str  # a part of its text that the front page shows too
    text: str
    images: dict[str, str]  # addresses that need no file
    files: dict[str, bytes]  # by their paths in the build folder


def write_report(folder: Path, games: int | None = None, seed: int | None = None, n_jobs: int = -1) -> Path:
    """Play what is missing, draw everything, and write ``build/index.html``, its chapters, their figures and tables as CSV.

    Parameters
    ----------
    folder : Path
        The project's ``reports`` folder: studies/, templates/; build/ is made.
    games, seed : int, optional
        Instead of those of each study.

    Returns
    -------
    Path
        The front page.
    """
    if not (folder / "studies").is_dir():
        raise InputError(f"{str(folder)!r} has no folder studies; name the project's reports folder with --reports")
    studies = {name: load_study(folder / "studies" / f"{name}.toml") for name in CHAPTERS}
    for name, chapter in CHAPTERS.items():
        chapter.check(studies[name])
    own_pages = (page for name in CHAPTERS for page in _own_pages(name))
    layout, *_ = (_template(folder, name) for name in ("layout", "index", *CHAPTERS, *own_pages))
    build, results = folder / "build", folder / "build" / "results"
    for place in ("results", *(f"{kind}/{name}" for kind in ("tables", "figures") for name in CHAPTERS)):
        make_folder(build / place, "the report")
    planned = {name: plan(study, games, seed) for name, study in studies.items()}
    keys = {name: _key(folder, name, matchups) for name, matchups in planned.items()}
    calls = {name: (name, keys[name], study, folder, games, seed) for name, study in studies.items()}
    kept = Memory(results, verbose=0).cache(_chapter, ignore=UNKEYED)
    stale = [name for name in CHAPTERS if keys[name] is None or not kept.check_call_in_cache(*calls[name])]
    makers = [partial(_chapter if keys[name] is None else kept, *calls[name]) for name in stale]
    new = _at_once(_long(stale, planned, results), makers, n_jobs)
    chapters = {each.name: each for each in [*new, *(kept(*calls[name]) for name in CHAPTERS if name not in stale)]}
    for chapter in chapters.values():
        for path, data in chapter.files.items():
            _write(build / path, data)
    made = [chapters[name] for name in CHAPTERS]
    for page in _pages(folder, made, studies):
        _write(build / f"{page.name}.html", layout.render(page=page, chapters=made).encode())
    return build / "index.html"


class Page(NamedTuple):
    """A page of the site; its name is that of its file."""

    name: str
    title: str
    text: str


def _pages(folder: Path, chapters: Sequence[Made], studies: Mapping[str, Study]) -> Iterator[Page]:
    """Yield the front page, each chapter and the rules of its game, and the methods."""
    yield Page("index", "dicelab", _template(folder, "index").render(chapters=chapters, scorecard=_scorecard(folder)))
    for each in chapters:
        rules = Path(str(find_ruleset(studies[each.name].ruleset).rules.__file__))
        yield Page(each.name, each.title, each.text)
        yield Page(f"{each.name}_rules", f"{each.game}: the rules", _document(rules.with_name("README.md")))
    yield Page("methods", "Methods", _document(Path(__file__).with_name("README.md")))


def _scorecard(folder: Path) -> dict[str, Any] | None:
    """Return the address of the picture of all games' balance, and how it was made; None if the folder holds no scorecard."""
    if not (folder / TABLE).is_file():
        return None
    balances = published(folder)
    with plt.rc_context(figures.STYLE):
        images, _ = _images({"balance": figures.plot_balance(balances)}, "figures")
    first = balances.iloc[0]
    return {"image": images["balance"], "games": int(first.games), "seed": int(first.seed)}


def _document(path: Path) -> str:
    """Return a Markdown file as HTML."""
    return f'<div class="document">\n{MARKDOWN.render(path.read_text())}</div>'


def _key(folder: Path, name: str, matchups: Sequence[Planned]) -> str | None:
    """Return a hash of all that a chapter depends on; None if it cannot be told what one of its policies does."""
    if any(matchup.key is None for matchup in matchups):
        return None
    parts = [path for page in _own_pages(name) for path in sorted((folder / "templates").glob(f"{page}.*"))]
    templates = [path.read_text() for path in (*(folder / "templates" / f"{each}.html.j2" for each in (name, "macros")), *parts)]
    return hashlib.sha256("\n".join([SOURCES, jit.SOURCES, *map(repr, matchups), *templates]).encode()).hexdigest()


def _long(names: Sequence[str], planned: Mapping[str, Sequence[Planned]], results: Path) -> list[Callable]:
    """Return what takes long for these chapters as calls; what they find is kept on disk, where the chapters look for it."""
    missing = [[each for each in planned[name] if each.key is not None and not each.path(results).is_file()] for name in names]
    # The first of each game comes first: whoever plays it compiles the game's loop for all that follow.
    matchups = [*(each[0] for each in missing if each), *(matchup for each in missing for matchup in each[1:])]
    calls: list[Callable] = [partial(run_matchup, matchup, results, 1) for matchup in matchups]
    calls[1:1] = [call for name in names if hasattr(CHAPTERS[name], "ahead") for call in CHAPTERS[name].ahead()]
    return calls


def _at_once(long: Sequence[Callable], makers: Sequence[Callable], n_jobs: int) -> list[Made]:
    """Make the long calls, then the chapters, each at the same time; return the chapters in the order in which they come.

    The pool is the standard library's, because a worker that dies is then an error; joblib's has been seen to wait for it.
    """
    jobs = effective_n_jobs(n_jobs)
    pool = ProcessPoolExecutor(jobs, get_context("spawn")) if makers and jobs > 1 else None
    bar = tqdm(total=len(long) + len(makers), desc="report", unit=" tasks", disable=None)
    try:
        for _ in _results(long, pool):
            bar.update()
        made = []
        for each in _results(makers, pool):
            made.append(each)
            bar.update()
        return made
    finally:
        bar.close()
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _results(calls: Sequence[Callable], pool: Executor | None) -> Iterator[Any]:
    """Yield the results of calls as they come."""
    if pool is None:
        yield from (call() for call in calls)
    else:
        yield from (future.result() for future in as_completed([pool.submit(call) for call in calls]))


def _chapter(name: str, key: str | None, study: Study, folder: Path, games: int | None, seed: int | None) -> Made:
    """Make a chapter; `key` stands for all that it depends on but its name."""
    kept = folder / "build" / "results"
    results = pd.concat([run_matchup(matchup, kept) for matchup in plan(study, games, seed)], ignore_index=True)
    chapter, template = CHAPTERS[name], _template(folder, name)
    with plt.rc_context(figures.STYLE):
        drawn, tables, words = chapter.content(study, results, games or study.games, study.seed if seed is None else seed)
        images, files = _images({key: each.figure for key, each in drawn.items()}, f"figures/{name}")
    for page, own_words in _own_pages(name).items():
        files[f"{page}.html"] = _template(folder, page).render(own_words()).encode()
    for table_name, table in tables.items():
        files[f"tables/{name}/{table_name}.csv"] = table.to_csv(index=False, lineterminator="\n", float_format="%.10g").encode()
    made: Any = template.make_module({"chapter": name, "title": chapter.TITLE, "images": images, **words})
    return Made(name, find_ruleset(study.ruleset).title, chapter.TITLE, str(made.answer), str(made), images, files)


def _own_pages(chapter: str) -> Mapping[str, Callable[[], dict[str, Any]]]:
    """Return the pages of its own that a chapter has, and what makes their words."""
    return getattr(CHAPTERS[chapter], "PAGES", {})


def _template(folder: Path, name: str) -> jinja2.Template:
    path = folder / "templates" / f"{name}.html.j2"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    try:
        return environment.get_template(path.name)
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        raise InputError(f"cannot read the template {str(path)!r}: {type(error).__name__}: {error}") from error


def _images(drawn: dict[str, Figure], folder: str) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return each figure as an address that needs no file, an SVG, and as files, an SVG and, to print, a PDF."""
    addresses, files = {}, {}
    for name, figure in drawn.items():
        image = _svg(figure).encode()
        addresses[name] = "data:image/svg+xml;base64," + base64.b64encode(image).decode()
        files[f"{folder}/{name}.svg"], files[f"{folder}/{name}.pdf"] = image, _pdf(figure)
    plt.close("all")
    return addresses, files


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _pdf(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    with whole_file(path) as partial:
        partial.write_bytes(data)
