"""Measure the figures of the design: `python -m tests.benchmarks [ROW …] [--notes N] [--folder DIR]`.

Every row is a module in `rows`. It runs its work in separate processes and prints lines of a Markdown table. Notes, the
vectors of real sentences and the indexes of this code stay in the folder for the next run. `complaints` measures
nothing: it writes the results of queries that users complain about to COMPLAINTS.md.
"""

import argparse
import importlib
import pkgutil
import tempfile
from pathlib import Path

from tests.benchmarks import rows
from tests.benchmarks.measuring import Figure
from tests.benchmarks.prepared import Bench

COMPLAINTS = Path(__file__).with_name("COMPLAINTS.md")
NAMES = sorted(module.name for module in pkgutil.iter_modules(rows.__path__))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"what to measure, of: {', '.join(NAMES)} (default: all); or complaints"
    )
    parser.add_argument("--notes", type=int, default=10_000, help="size of the corpus (default: %(default)s)")
    cache = Path(tempfile.gettempdir(), "mnemoscope-benchmarks")
    parser.add_argument("--folder", type=Path, default=cache, help="where to put notes, vectors and indexes")
    arguments = parser.parse_args()
    if arguments.rows == ["complaints"]:
        write_complaints()
        return
    if unknown := set(arguments.rows) - set(NAMES):
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print("| what | target | ours | beside a baseline of the same run | row |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="run-") as scratch:
        bench = Bench(arguments.notes, arguments.folder, Path(scratch))
        for name in arguments.rows or NAMES:
            row = importlib.import_module(f"tests.benchmarks.rows.{name}")
            for figure in row.run(bench):
                print(_line(figure, name), flush=True)


def write_complaints() -> None:
    """Return the page that lists the results, made from the table that the tests check."""
    from tests.helpers.complaints.answering import answer_all
    from tests.helpers.complaints.page import complaints_page

    with tempfile.TemporaryDirectory(prefix="mnemoscope-complaints-") as folder:
        COMPLAINTS.write_text(complaints_page(answer_all(Path(folder))), "utf-8")


def _line(figure: Figure, name: str) -> str:
    return f"| {figure.what} | {figure.target} | {figure.ours} | {figure.ratio} | `{name}` |"


if __name__ == "__main__":
    main()
