"""Damaged transcripts of every agent: crashes, CPU time of the slowest one, and memory."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.measuring import Cost, Figure, measure, megabytes
from tests.benchmarks.prepared import Bench
from tests.helpers.agent_databases import DATABASES
from tests.helpers.mutated_transcripts import Outcome, read_damaged, read_damaged_database, samples

_INPUTS = 20_000
"""Number of inputs per agent, divided among its samples."""


def run(_bench: Bench) -> Iterator[Figure]:
    yield _figure("files", [measure(read_files, agent, _INPUTS) for agent in agents_with_files()])
    yield _figure("databases", [measure(read_databases, agent, _INPUTS) for agent in agents_with_databases()])


def agents_with_files() -> list[str]:
    return sorted({sample.agent for sample in samples()})


def agents_with_databases() -> list[str]:
    return sorted({database.name.split(":")[0] for database in DATABASES})


def read_files(agent: str, inputs: int) -> list[Outcome]:
    """Read damaged versions of an agent's files, in the child process."""
    held = [sample for sample in samples() if sample.agent == agent]
    with tempfile.TemporaryDirectory() as folder:
        return [
            read_damaged(sample, -(-inputs // len(held)), Path(folder, str(number)))
            for number, sample in enumerate(held)
        ]


def read_databases(agent: str, inputs: int) -> list[Outcome]:
    """Read damaged versions of an agent's databases, in the child process."""
    held = [database for database in DATABASES if database.name.split(":")[0] == agent]
    with tempfile.TemporaryDirectory() as folder:
        return [
            read_damaged_database(database, -(-inputs // len(held)), Path(folder, str(number)))
            for number, database in enumerate(held)
        ]


def _figure(kind: str, costs: Sequence[Cost]) -> Figure:
    outcomes: list[Outcome] = [outcome for cost in costs for outcome in cost.value]
    crashes: dict[str, int] = defaultdict(int)
    for outcome in outcomes:
        for crash in outcome.crashes:
            crashes[crash.split(": ")[1]] += 1
    failed = ", ".join(f"{count:,} {error}" for error, count in crashes.items()) or "no crash"
    inputs, messages = (sum(values) for values in zip(*((one.inputs, one.messages) for one in outcomes), strict=True))
    return Figure(
        f"damaged transcripts, {kind} of {len(costs)} agents, {_INPUTS:,} inputs each",
        "no crash",
        f"{inputs:,} inputs, {messages:,} messages read, {sum(one.refused for one in outcomes):,} refused; {failed}; "
        f"slowest {max(one.slowest for one in outcomes) * 1000:,.0f} CPU ms; peak "
        f"{megabytes(max(cost.peak for cost in costs))}",
    )
