"""The report: for each chapter study -> results -> figures, tables and text; all of it in one self-contained HTML file.

What is said of a game is in :mod:`analysis.chapters` and in the chapter's template; here is the frame, which knows no game. The
page is the same byte for byte for the same seed, games and sources: no dates, no host names, fixed SVG identifiers.
"""

import base64
import io
from pathlib import Path

import jinja2
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from analysis import figures
from analysis.chapters import CHAPTERS
from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.study import load_study, run_study


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
    parts = []
    for name, chapter in CHAPTERS.items():
        study = studies[name]
        results = run_study(study, build / "results", games, seed, n_jobs)
        with plt.rc_context(figures.STYLE):
            drawn, tables, words = chapter.content(study, results, games or study.games, study.seed if seed is None else seed)
            images = _write_figures({key: each.figure for key, each in drawn.items()}, build / "figures" / name)
        _write_tables(tables, build / "tables" / name)
        text = templates[name].render(chapter=name, title=chapter.TITLE, images=images, **words)
        parts.append({"name": name, "title": chapter.TITLE, "text": text})
    _write(build / "report.html", templates["report"].render(chapters=parts).encode())
    return build / "report.html"


def _template(folder: Path, name: str) -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined)
    try:
        return environment.get_template(f"{name}.html.j2")
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        path = folder / f"{name}.html.j2"
        raise InputError(f"cannot read the template {str(path)!r}: {type(error).__name__}: {error}") from error


def _write_figures(drawn: dict[str, Figure], folder: Path) -> dict[str, str]:
    """Write each figure as SVG and, to print, as PDF; return the SVG as addresses that need no file."""
    addresses = {}
    for name, figure in drawn.items():
        image = _svg(figure).encode()
        _write(folder / f"{name}.svg", image)
        _write(folder / f"{name}.pdf", _pdf(figure))
        addresses[name] = "data:image/svg+xml;base64," + base64.b64encode(image).decode()
    plt.close("all")
    return addresses


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _pdf(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return buffer.getvalue()


def _write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    for name, table in tables.items():
        _write(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n", float_format="%.10g").encode())


def _write(path: Path, data: bytes) -> None:
    with whole_file(path) as partial:
        partial.write_bytes(data)
