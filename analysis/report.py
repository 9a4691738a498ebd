"""The report: for each chapter study -> results -> figures, tables and text; all of it in one self-contained HTML file.

What is said of a game is in :mod:`analysis.chapters` and in the chapter's template; here is the frame, which knows no game. The
page is the same byte for byte for the same seed, games and sources: no dates, no host names, fixed SVG identifiers. A chapter is
remembered with its files for as long as nothing that it depends on changes; what takes long in the others is done first, in as
many processes as there are jobs, as most of a first run is compilation, which only processes can do at the same time.
"""

import base64
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import matplotlib.pyplot as plt
from joblib import Memory, Parallel, delayed
from matplotlib.figure import Figure
from tqdm import tqdm

from analysis import figures
from analysis.chapters import CHAPTERS
from sims import jit
from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.study import Planned, Study, load_study, plan, run_matchup, run_study

UNKEYED = ["study", "template", "results", "games", "seed", "n_jobs"]  # the key says what of them matters
SOURCES = jit.sources_hash(Path(__file__).parent)


class Made(NamedTuple):
    """A finished chapter."""

    title: str
    text: str
    files: dict[str, bytes]  # by their paths in the build folder


def write_report(folder: Path, games: int | None = None, seed: int | None = None, n_jobs: int = -1) -> Path:
    """Play what is missing, draw everything, and write ``build/report.html``, its figures and its tables as CSV.

    Parameters
    ----------
    folder : Path
        The project's ``reports`` folder: studies/, templates/; build/ is made.
    games, seed : int, optional
        Instead of those of each study.

    Returns
    -------
    Path
        The page.
    """
    if not (folder / "studies").is_dir():
        raise InputError(f"{str(folder)!r} has no folder studies; name the project's reports folder with --reports")
    studies = {name: load_study(folder / "studies" / f"{name}.toml") for name in CHAPTERS}
    for name, chapter in CHAPTERS.items():
        chapter.check(studies[name])
    templates = {name: _template(folder / "templates", name) for name in ("report", *CHAPTERS)}
    build = folder / "build"
    for place in ("results", *(f"{kind}/{name}" for kind in ("tables", "figures") for name in CHAPTERS)):
        make_folder(build / place, "the report")
    planned = {name: plan(study, games, seed) for name, study in studies.items()}
    make = Memory(build / "results", verbose=0).cache(_chapter, ignore=UNKEYED)
    arguments = {
        name: (name, _key(folder / "templates", planned[name]), study, templates[name], build / "results", games, seed, n_jobs)
        for name, study in studies.items()
    }
    is_kept = {name: each[1] is not None and make.check_call_in_cache(*each) for name, each in arguments.items()}
    stale = [name for name in CHAPTERS if not is_kept[name]]
    _do_ahead([CHAPTERS[name] for name in stale], [each for name in stale for each in planned[name]], build / "results", n_jobs)
    parts = []
    for name, each in arguments.items():
        made = _chapter(*each) if each[1] is None else make(*each)
        for path, data in made.files.items():
            _write(build / path, data)
        parts.append({"name": name, "title": made.title, "text": made.text})
    _write(build / "report.html", templates["report"].render(chapters=parts).encode())
    return build / "report.html"


def _key(templates: Path, matchups: Sequence[Planned]) -> str | None:
    """Return a hash of all that a chapter depends on; None if it cannot be told what one of its policies does."""
    if any(matchup.key is None for matchup in matchups):
        return None
    parts = [SOURCES, jit.SOURCES, *map(repr, matchups), *(path.read_text() for path in sorted(templates.glob("*.j2")))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _do_ahead(chapters: Sequence[Any], matchups: Sequence[Planned], results: Path, n_jobs: int) -> None:
    """Do, at the same time, all that takes long for these chapters; it is kept on disk, where they find it."""
    missing = [matchup for matchup in matchups if matchup.key is not None and not matchup.path(results).is_file()]
    tasks = [delayed(run_matchup)(matchup, results, 1) for matchup in missing]
    tasks[1:1] = [task for chapter in chapters if hasattr(chapter, "ahead") for task in chapter.ahead()]
    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for _ in tqdm(done, desc="report", total=len(tasks), unit=" tasks", disable=None):
        pass


def _chapter(
    name: str,
    key: str | None,
    study: Study,
    template: jinja2.Template,
    results: Path,
    games: int | None,
    seed: int | None,
    n_jobs: int,
) -> Made:
    """Make a chapter; `key` stands for all else that it depends on."""
    chapter, played = CHAPTERS[name], run_study(study, results, games, seed, n_jobs)
    with plt.rc_context(figures.STYLE):
        drawn, tables, words = chapter.content(study, played, games or study.games, study.seed if seed is None else seed)
        images, files = _images({key: each.figure for key, each in drawn.items()}, f"figures/{name}")
    for table_name, table in tables.items():
        files[f"tables/{name}/{table_name}.csv"] = table.to_csv(index=False, lineterminator="\n", float_format="%.10g").encode()
    return Made(chapter.TITLE, template.render(chapter=name, title=chapter.TITLE, images=images, **words), files)


def _template(folder: Path, name: str) -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined)
    try:
        return environment.get_template(f"{name}.html.j2")
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        path = folder / f"{name}.html.j2"
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
