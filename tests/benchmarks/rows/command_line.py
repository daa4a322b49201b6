"""`mnemoscope search` as a whole process, by keywords alone."""

import statistics
from collections.abc import Iterator, Sequence

from tests.benchmarks.measuring import Cost, Figure, megabytes, run_program
from tests.benchmarks.prepared import Bench, questions

_ROUNDS = 9


def run(bench: Bench) -> Iterator[Figure]:
    store, _ = bench.index(bench.notes, "none")
    python = _median(["-c", "pass"])[0]
    for what, folder, where in (
        (f"{bench.notes:,} notes indexed", bench.folder(bench.notes), store),
        ("nothing indexed", bench.scratch / "no-notes", bench.scratch / "no-index"),
    ):
        folder.mkdir(exist_ok=True)
        config = bench.scratch / "command-line.toml"
        config.write_text(f'[defaults]\nprovider = "none"\nstore.path = "{where.as_posix()}"\n', "utf-8")
        arguments = ["-m", "gui", "search", "--json", "--workspace", str(folder), "--config", str(config)]
        cpu, wall, peak = _median([*arguments, "--min-score", "0", questions(1, natural=True)[0]])
        yield Figure(
            f"search on the command line by words, {what}",
            "≤ 0.3 CPU s",
            f"{cpu:.2f} CPU s, {wall:.2f} s, peak {megabytes(peak)}",
            f"{cpu / python:.1f}× of `python -c pass` ({python:.3f} CPU s)",
        )


def _median(arguments: Sequence[str]) -> tuple[float, float, int]:
    run_program(arguments)  # writes the bytecode
    costs: list[Cost] = [run_program(arguments) for _ in range(_ROUNDS)]
    return (
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        max(cost.peak for cost in costs),
    )
