"""Duplicate texts: planted copies are found, and nothing else."""

import random
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.path_guard import PathGuard
from engine.insight import duplicate_candidates, duplicates
from engine.insight.duplicates import find_duplicates
from engine.records import DuplicateGroup
from engine.settings import Settings
from tests.benchmarks.copies import KINDS, plant, templated
from tests.benchmarks.notes import write_notes
from tests.helpers.document_files import pdf
from tests.helpers.fake_provider import FakeProvider

RECIPE = (
    "# Kimchi\n\nCut the cabbage into quarters and salt every leaf by hand, more at the thick white end.\n"
    "Weigh it down for two hours, turn it over once, then rinse it three times and let it drain.\n\n"
    "Mix the rice paste with chilli flakes, ginger, garlic and a spoon of fish sauce, and rub it in.\n"
    "Press it into the jar without air; after two days in the kitchen it goes into the cellar.\n"
)
LOG = (
    "Climbed up to the tank at seven and found the float stuck under the lid, so the pump had run all night.\n"
    "Bent the arm back, cleaned the seat with a toothbrush and marked the level with a piece of blue tape.\n"
    "Anton says that his tank did the same last winter after the first frost, and that copper would help.\n"
)


def filler(seed: int, words: int = 120) -> str:
    """Return random words that occur in this order in no other filler."""
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghiklmnoprstu", k=rng.randint(3, 9))) for _ in range(words)) + "\n"


@pytest.fixture
def groups_of(open_memory, workspace):
    """Return a function that indexes these notes and returns the groups."""

    def found(notes: Mapping[str, str], *, cancel=None) -> tuple[DuplicateGroup, ...]:
        for name, text in notes.items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text, "utf-8")
        memory = open_memory(use=None)
        memory.sync()
        return memory.insight.duplicates(cancel).groups

    return found


def paths(group: DuplicateGroup) -> set[str]:
    return {member.path for member in group.members}


def test_unrelated_notes_make_no_group(groups_of) -> None:
    assert groups_of({"a.md": filler(1), "b.md": filler(2)}) == ()


def test_files_without_text_make_no_group(open_memory, workspace: Path) -> None:
    files = {
        "lease.pdf": pdf([[]]),
        "map.pdf": pdf([[], []]),
        "exam.pdf": pdf([["A quagga"]], encrypted=True),
        "new.md": b"",
        "later.md": b"",
    }
    for name, content in files.items():
        (workspace / name).write_bytes(content)
    memory = open_memory(use=None, extensions=(".md", ".pdf"))
    assert len(memory.sync().failed) == 3
    assert memory.insight.duplicates().groups == ()


def test_files_with_the_same_text_are_identical(groups_of) -> None:
    (group,) = groups_of({"a.md": RECIPE, "old/b.md": RECIPE, "c.md": filler(1)})
    assert (group.kind, group.similarity, group.files, paths(group)) == ("identical", 1.0, 2, {"a.md", "old/b.md"})
    assert {(member.start_line, member.end_line, member.share) for member in group.members} == {(1, 7, 1.0)}
    assert group.excerpt.startswith("# Kimchi\nCut the cabbage")


def test_short_notes_are_the_same_or_nothing(groups_of) -> None:
    (group,) = groups_of({"a.md": "Buy milk.\n", "b.md": "Buy milk.\n", "c.md": "Buy milk!\n", "d.md": ""})
    assert paths(group) == {"a.md", "b.md"}


def test_note_with_other_case_and_punctuation_is_duplicate(groups_of) -> None:
    (group,) = groups_of({"a.md": RECIPE, "b.md": RECIPE.upper().replace(",", " –")})
    assert (group.kind, group.similarity) == ("similar", 1.0)


def test_notes_with_reordered_paragraphs_are_similar(groups_of) -> None:
    parts = RECIPE.split("\n\n")
    (group,) = groups_of({"a.md": RECIPE, "b.md": "\n\n".join(reversed(parts))})
    assert group.kind == "similar"
    assert group.similarity > 0.9


def test_log_copied_into_a_project_is_a_shared_passage(groups_of) -> None:
    notes = {
        "daily/2026-02-08.md": f"# Sunday\n\n{filler(1)}\n{LOG}\n{filler(2)}",
        "projects/tank.md": f"# Tank\n\n{filler(3)}\n## Log\n\n{LOG}\n## Next\n\n{filler(4)}",
    }
    (group,) = groups_of(notes)
    assert group.kind == "passage"
    assert group.words >= duplicates.PASSAGE_TOKENS
    for member in group.members:
        lines = notes[member.path].split("\n")[member.start_line - 1 : member.end_line]
        assert "\n".join(lines) == LOG.strip()
    assert group.excerpt.startswith("Climbed up to the tank")


def test_note_contained_in_another_note(groups_of) -> None:
    (group,) = groups_of({"log.md": LOG, "year.md": f"# Year\n\n{filler(1, 300)}\n{LOG}\n{filler(2, 300)}"})
    assert group.kind == "contained"
    shares = {member.path: member.share for member in group.members}
    assert shares["log.md"] == 1.0
    assert shares["year.md"] < 0.2


def test_tripled_note_not_nearly_same(groups_of) -> None:
    (group,) = groups_of({"once.md": RECIPE, "thrice.md": "\n".join([RECIPE] * 3)})
    assert group.kind == "contained"


def test_copies_of_copies_are_one_group(groups_of) -> None:
    notes = {f"{number}.md": RECIPE + filler(number, 12) for number in range(5)}
    (group,) = groups_of(notes)
    assert (group.kind, group.files) == ("similar", 5)


def test_a_passage_in_four_notes_is_one_group(groups_of) -> None:
    (group,) = groups_of({f"{n}.md": f"{filler(n)}\n{LOG}\n{filler(10 + n)}" for n in range(4)})
    assert (group.kind, group.files) == ("passage", 4)


def test_recurring_text_is_one_group(groups_of) -> None:
    template = "Draft. Do not pass on without asking the office first, which keeps the list of all readers."
    notes = {f"{n:02}.md": f"{template}\n\n{filler(n)}" for n in range(9)}
    (group,) = groups_of(notes)
    assert (group.kind, group.files) == ("recurring", len(notes))
    assert all((member.start_line, member.end_line) == (1, 1) for member in group.members)


def test_copies_of_a_note_are_duplicates_not_recurring_text(groups_of) -> None:
    notes = {f"{n:02}.md": f"{RECIPE}\nBatch {n}\n" for n in range(duplicate_candidates.MAX_FILES + 5)}
    (group,) = groups_of(notes)
    assert (group.kind, group.files) == ("similar", len(notes))


def test_notes_made_from_one_template_are_not_duplicates(groups_of) -> None:
    """Text that many notes share doesn't make two of them similar, even if it is most of their text."""
    notes = {f"{n:02}.md": f"{RECIPE}\n{filler(n, 40)}" for n in range(duplicate_candidates.MAX_FILES + 5)}
    notes |= {"twin-a.md": f"{RECIPE}\n{LOG}", "twin-b.md": f"{RECIPE}\n{LOG}{filler(99, 8)}"}
    kinds = {group.kind: group for group in groups_of(notes)}
    assert set(kinds) == {"recurring", "similar"} or set(kinds) == {"similar"}
    twins = [group for group in kinds.values() if "twin-a.md" in paths(group)]
    assert any({"twin-a.md", "twin-b.md"} <= paths(group) for group in twins)


@pytest.mark.parametrize(
    "text",
    [
        "今天早上七点我去菜园看水箱，发现浮球卡在盖子下面，水泵整夜都在运转，所以我把杠杆弯了回来，用牙刷洗了阀座，"
        "又用蓝色胶带标了水位。邻居说他的水箱去年冬天第一场霜冻以后也这样，铜的会好一些。",
        "Утром поднялся к баку и увидел, что поплавок застрял под крышкой, поэтому насос работал всю ночь. Выпрямил "
        "рычаг, почистил седло зубной щёткой и отметил уровень синей лентой. Антон говорит, что у него прошлой зимой "
        "было то же самое после первых морозов, и что медь бы помогла.",
        "ตอนเช้าฉันไปดูถังน้ำในสวน พบว่าลูกลอยติดอยู่ใต้ฝา ปั๊มจึงทำงานทั้งคืน ฉันดัดแขนกลับ "
        "ทำความสะอาดบ่าวาล์วด้วยแปรงสีฟัน แล้วทำเครื่องหมายระดับน้ำด้วยเทปสีฟ้า",
    ],
    ids=["Chinese", "Russian", "Thai"],
)
def test_duplicates_are_found_in_any_script(groups_of, text: str) -> None:
    (group,) = groups_of({"a.md": f"{filler(1)}\n{text}\n{filler(2)}", "b.md": f"{filler(3)}\n\n{text}\n{filler(4)}"})
    assert group.kind in ("passage", "contained")
    assert {member.start_line for member in group.members} == {2, 3} or len(group.members) == 2


def test_planted_copies_are_found_and_nothing_else(open_memory, workspace: Path) -> None:
    words = write_notes(workspace, 400)
    names = sorted(path.relative_to(workspace).as_posix() for path in workspace.rglob("note-*.md"))
    planted = plant(workspace, names, words.all, each=4)
    memory = open_memory(use=None)
    memory.sync()
    groups = memory.insight.duplicates().groups
    copies = [group for group in groups if group.kind != "recurring"]
    pairs = {frozenset(pair) for group in copies for pair in combinations(sorted(paths(group)), 2)}
    assert {planted[pair] for pair in planted.keys() - pairs} == set()
    assert pairs - planted.keys() == set()
    assert set(planted.values()) == set(KINDS)
    (recurring,) = [group for group in groups if group.kind == "recurring"]
    assert paths(recurring) == set(templated(names))


def test_sample_finds_all_shingle_matches(open_memory, workspace: Path, monkeypatch) -> None:
    words = write_notes(workspace, 150)
    names = sorted(path.relative_to(workspace).as_posix() for path in workspace.rglob("note-*.md"))
    plant(workspace, names, words.all, each=3)
    memory = open_memory(use=None)
    memory.sync()
    guard = PathGuard(workspace, Settings())
    whole = find_duplicates(memory.store, guard)
    monkeypatch.setattr(duplicates, "_SAMPLED", 20_000)
    sampled = find_duplicates(memory.store, guard)
    assert {group.key for group in sampled.groups if group.kind != "recurring"} == {
        group.key for group in whole.groups if group.kind != "recurring"
    }


def test_vectors_find_reordered_words(open_memory, workspace: Path) -> None:
    words = LOG.split()
    random.Random(4).shuffle(words)
    (workspace / "log.md").write_text(LOG, "utf-8")
    (workspace / "shuffled.md").write_text(" ".join(words) + "\n", "utf-8")
    (workspace / "other.md").write_text(filler(5, 60), "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    assert memory.insight.duplicates().groups == ()
    memory.close()
    memory = open_memory()
    assert memory.insight.duplicates().groups == (), "there are no vectors yet"
    memory.sync()
    (group,) = memory.insight.duplicates().groups
    assert (group.kind, group.similarity, paths(group)) == ("passage", 1.0, {"log.md", "shuffled.md"})


def test_near_vectors_alone_make_no_duplicate(open_memory, workspace: Path) -> None:
    class Blind(FakeProvider):
        """A provider that gives every text the same vector."""

        def embed_documents(self, texts, *, cancel=None):
            return super().embed_documents(["the same"] * len(texts), cancel=cancel)

    for number in range(4):
        (workspace / f"{number}.md").write_text(filler(number), "utf-8")
    memory = open_memory(use=Blind())
    memory.sync()
    assert memory.insight.duplicates().groups == ()


def test_result_cached_until_text_changes(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    before = memory.insight.duplicates()
    assert memory.insight.duplicates() is before
    (workspace / "twin.md").write_text((workspace / "shopping.md").read_text("utf-8"), "utf-8")
    memory.sync()
    assert len(memory.insight.duplicates().groups) == 1
    (workspace / "twin.md").unlink()
    memory.sync()
    assert memory.insight.duplicates().groups == ()


def test_progress_reaches_one_and_cancel_stops(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    token = CancelToken()
    with pytest.raises(Cancelled):
        memory.insight.duplicates(cancel=token, progress=lambda _share: token.cancel())
    shares: list[float] = []
    memory.insight.duplicates(progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_hidden_duplicate_group_stays_hidden_after_restart(open_memory, workspace: Path) -> None:
    (workspace / "twin.md").write_text((workspace / "shopping.md").read_text("utf-8"), "utf-8")
    memory = open_memory()
    memory.sync()
    (group,) = memory.insight.duplicates().groups
    memory.insight.hide_duplicates(group.key, hidden=True)
    memory.close()
    memory = open_memory()
    assert memory.insight.hidden_duplicates() == {group.key}
    assert memory.insight.duplicates().groups[0].key == group.key
    memory.insight.hide_duplicates(group.key, hidden=False)
    assert memory.insight.hidden_duplicates() == frozenset()


def test_excluded_files_not_in_groups(open_memory, workspace) -> None:
    for name in ("recipes/kimchi.md", "private/kimchi.md"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(RECIPE, "utf-8")
    memory = open_memory()
    memory.sync()
    assert len(memory.insight.duplicates().groups) == 1
    assert open_memory(exclude=("private/**",)).insight.duplicates().groups == ()
