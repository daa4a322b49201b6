from pathlib import Path

import pytest

from tests.helpers.command_line import Run
from tests.helpers.fake_insight import FakeInsight, make_group
from tests.helpers.fake_memory import FakeMemory

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample"


@pytest.fixture
def insight(memory: FakeMemory) -> FakeInsight:
    memory.insight = FakeInsight(memory)
    memory.insight.groups = (make_group("a.md", "b.md"), make_group("a.md", "c.md", kind="identical", similarity=1.0))
    return memory.insight


def test_duplicate_groups_are_listed_with_lines(run: Run, insight: FakeInsight) -> None:
    answer = run("duplicates")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "Nearly the same · 90%, 50 words in 2 notes:",
        "  a.md#L1-L3",
        "  b.md#L1-L3",
        "",
        "The same text, 50 words in 2 notes:",
        "  a.md#L1-L3",
        "  c.md#L1-L3",
        "",
        "2 groups among 4 notes.",
    ]


def test_hidden_groups_skipped_but_counted(run: Run, insight: FakeInsight) -> None:
    insight.hidden = {insight.groups[0].key}
    out = run("duplicates").out
    assert "b.md" not in out
    assert out.endswith("1 group among 4 notes, 1 hidden (--all lists them).\n")
    assert "b.md" in run("duplicates", "--all").out
    assert run("duplicates", "--json").json["hidden"] == 1


def test_json_has_the_records(run: Run, insight: FakeInsight) -> None:
    answer = run("duplicates", "--json").json
    assert (answer["total"], answer["files"]) == (2, 4)
    assert answer["groups"][0]["members"][0]["startLine"] == 1
    assert answer["groups"][0]["kind"] == "similar"


def test_unsupported_backend_is_reported(run: Run, memory: FakeMemory) -> None:
    memory.unsupported = {"insight": "Its index is kept elsewhere."}
    answer = run("duplicates")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "mnemoscope: Its index is kept elsewhere.\n"


def test_duplicates_without_index_advises_an_update(verb: Run) -> None:
    assert verb("duplicates").out.startswith("No notes are indexed, and only notes are compared.")


def test_the_sample_has_a_copied_list_and_a_copied_table(verb: Run, folder: Path) -> None:
    for note in SAMPLE.rglob("*.md"):
        target = folder / note.relative_to(SAMPLE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(note.read_bytes())
    assert verb("index").code == 0
    groups = verb("duplicates", "--json").json["groups"]
    assert [(group["kind"], {member["path"] for member in group["members"]}) for group in groups] == [
        ("similar", {"travel/packing-list.md", "travel/packing-list-2025.md"}),
        ("passage", {"projects/mites-for-the-club.md", "projects/bees-2026.md"}),
    ]
