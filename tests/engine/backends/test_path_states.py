"""The status of a path: every state, every notation of a path, and the setting that contains the rule."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.path_status import PathFinder
from engine.memory.path_explanation import MISSING, NOT_SEARCHED
from engine.settings import Settings, load_settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.engine.backends.conftest import NOTES

NFD = unicodedata.normalize("NFD", "grün.md")
TRANSCRIPT = (
    '{"type": "session", "id": "s1", "cwd": "/home/ada", "timestamp": "2026-03-01T10:00:00.000Z"}\n'
    '{"type": "message", "id": "m1", "timestamp": "2026-03-01T10:00:00.000Z",'
    ' "message": {"role": "user", "content": [{"type": "text", "text": "The mast is bare."}]}}\n'
)


def write(path: Path, content: str | bytes = "Words.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def config(tmp_path: Path, workspace: Path) -> Path:
    return write(
        tmp_path / "own.toml",
        f"""version = 1
[defaults]
provider = "none"
max_file_bytes = 1000
exclude = ["*.tmp.md"]
store.path = "{(tmp_path / "data").as_posix()}"

[workspace."{workspace.as_posix()}"]
exclude = [
    "drafts/",
]
""",
    )


@pytest.fixture
def memory(workspace: Path, config: Path) -> Iterator[BuiltinMemory]:
    """Open a workspace with files of every kind, after a sync and some later changes."""
    write(workspace / "drafts/idea.md")
    write(workspace / "node_modules/readme.md")
    write(workspace / ".obsidian/plugin.md")
    write(workspace / ".hidden.md")
    write(workspace / "daily/photo.jpg")
    write(workspace / "id_rsa.md")
    write(workspace / "large.md", "x" * 1001)
    write(workspace / "broken.md", bytes(range(256)))
    write(workspace / "zeros.md", bytes(99))
    write(workspace / "gone.md")
    write(workspace / "changed.md")
    write(workspace / NFD)
    (workspace / "link.md").symlink_to(workspace / "shopping.md")
    (workspace / "linked").symlink_to(workspace / "daily")
    write(workspace.parent / "elsewhere/other.md")
    memory = BuiltinMemory(workspace, load_settings(workspace, config=config), executor=None, background=False)
    memory.sync()
    (workspace / "gone.md").unlink()
    write(workspace / "changed.md", "Other words now.\n")
    write(workspace / "new.md")
    yield memory
    memory.close()


@pytest.mark.parametrize(
    ("path", "state", "rule", "remedy"),
    [
        ("greenhouse.md", "indexed", "", "open"),
        ("changed.md", "pending", "", "sync"),
        ("new.md", "pending", "", "sync"),
        ("gone.md", "deleted", "", "sync"),
        ("nothing.md", "missing", "", None),
        ("broken.md", "not-text", "binary", "open"),
        ("zeros.md", "not-text", "binary", "open"),
        ("large.md", "too-large", "too-large", "settings"),
        ("drafts/idea.md", "excluded", "exclude", "settings"),
        ("drafts", "excluded", "exclude", "settings"),
        ("node_modules/readme.md", "excluded", "ignored-folder", "add"),
        (".obsidian/plugin.md", "excluded", "hidden", "add"),
        (".hidden.md", "excluded", "hidden", None),
        ("daily/photo.jpg", "excluded", "extension", "settings"),
        ("id_rsa.md", "excluded", "secret", None),
        ("link.md", "excluded", "symlink", None),
        ("linked", "excluded", "symlink", None),
        ("../elsewhere/other.md", "outside", "", "add"),
        ("..", "outside", "", None),
        ("daily", "folder", "", None),
        (".", "folder", "", "sync"),
    ],
)
def test_path_is_explained_in_every_state(
    memory: BuiltinMemory, path: str, state: str, rule: str, remedy: str | None
) -> None:
    found = memory.explain_path(path)
    assert (found.state, found.rule, found.remedy) == (state, rule, remedy)
    assert found.sentence.endswith(".")


def test_the_rules_agree_with_discovery(memory: BuiltinMemory, workspace: Path) -> None:
    """Paths that a sync indexes are reported as indexed, those that it skips by name with that rule."""
    memory.sync()
    status = memory.status()
    indexed = {
        name
        for folder, _, files in os.walk(workspace)
        for file in files
        if memory.explain_path(name := str(Path(folder, file).relative_to(workspace))).state == "indexed"
    }
    assert indexed == {*NOTES, "changed.md", "new.md", NFD}
    assert status.files == len(indexed)
    named = [issue for issue in status.skipped_files if issue.rule != "extension"]
    assert len(named) == 8
    assert {issue.path: issue.rule for issue in named} == {
        issue.path: memory.explain_path(issue.path).rule for issue in named
    }


def test_excluding_rule_names_its_setting_layer_and_line(memory: BuiltinMemory, workspace: Path, config: Path) -> None:
    own = memory.explain_path("drafts/idea.md", config=config)
    assert own.origin is not None
    assert (own.origin.key, own.origin.value, own.origin.layer) == ("exclude", "drafts/", "workspace")
    assert (own.origin.file, own.origin.line) == (str(config), 9)
    assert own.rule_path == "drafts"
    assert own.sentence.startswith("The path is in drafts: ")

    size = memory.explain_path("large.md", config=config).origin
    assert size is not None
    assert (size.key, size.layer, size.line) == ("max_file_bytes", "defaults", 4)

    kind = memory.explain_path("daily/photo.jpg", config=config).origin
    assert kind is not None
    assert (kind.key, kind.value, kind.layer, kind.line) == (
        "extensions",
        ".md, .markdown, .mdx, .txt, .org, .rst, .adoc",
        "built-in",
        0,
    )

    built_in = memory.explain_path("id_rsa.md", config=config).origin
    assert built_in is not None
    assert (built_in.key, built_in.layer) == ("", "built-in")


def test_every_spelling_of_a_path_is_explained(memory: BuiltinMemory, workspace: Path, user_home: Path) -> None:
    path = workspace / "people/ines.md"
    (user_home / "way").symlink_to(workspace)
    ways = [
        "people/ines.md",
        "./people/../people/ines.md",
        "People/INES.md",
        "people\\ines.md",
        str(path),
        f'"{path}"',
        f"  {path}\n",
        path.as_uri(),
        path.as_uri().replace("file://", "file://localhost"),
        "~/way/people/ines.md",
        str(user_home / "way/people/ines.md"),
    ]
    for way in ways:
        found = memory.explain_path(way)
        assert (way, found.state, found.path) == (way, "indexed", "people/ines.md")


def test_name_in_other_unicode_form_is_the_same_file(memory: BuiltinMemory) -> None:
    for form in ("NFC", "NFD"):
        found = memory.explain_path(unicodedata.normalize(form, "grün.md"))
        assert (found.state, found.path) == ("indexed", NFD)


@pytest.mark.parametrize(
    ("asked", "path", "state"),
    [
        ("photo.jpg", "daily/photo.jpg", "excluded"),
        ("Photo", "daily/photo.jpg", "excluded"),
        ("*.jpg", "daily/photo.jpg", "excluded"),
        ("idea", "drafts/idea.md", "excluded"),
        ("plugin", ".obsidian/plugin.md", "excluded"),
        ("ines", "people/ines.md", "indexed"),
        ("readme.md", "node_modules/readme.md", "excluded"),
        ("gone.md", "gone.md", "deleted"),
        ("other", "", "missing"),
        ("daily/photo", "", "missing"),
        ("*", "", "missing"),
    ],
)
def test_name_without_folder_finds_file(memory: BuiltinMemory, asked: str, path: str, state: str) -> None:
    found = memory.explain_path(asked)
    assert (found.path, found.state) == (path, state)


def test_name_is_found_with_other_separators(memory: BuiltinMemory, workspace: Path) -> None:
    write(workspace / "projects/walnut-cake_2024.md")
    assert memory.explain_path("Walnut cake 2024").path == "projects/walnut-cake_2024.md"


def test_highest_of_several_files_with_name_is_found(memory: BuiltinMemory, workspace: Path) -> None:
    write(workspace / "a/deep/plan.md")
    write(workspace / "z/plan.txt")
    assert memory.explain_path("plan").path == "z/plan.txt"
    assert memory.explain_path("plan.md").path == "a/deep/plan.md"


class _Folder:
    """A folder that has one file many times, and counts how many entries were read."""

    def __init__(self, file: os.DirEntry[str], number: int, cancel: CancelToken | None = None) -> None:
        self.read = 0
        self._file, self._number, self._cancel = file, number, cancel

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        for _ in range(self._number):
            self.read += 1
            if self._cancel is not None and self.read == 10:
                self._cancel.cancel()
            yield self._file

    def __exit__(self, *_: object) -> None:
        """The file is not open."""


@pytest.mark.parametrize("typed", ["daily/shopping.md", "shoping.md", "Shop-ping.txt", "archive/Shopping"])
def test_missing_path_names_similar_files(memory: BuiltinMemory, typed: str) -> None:
    state = memory.explain_path(typed)
    assert state.state == "missing"
    assert state.sentence == "There is no such file or folder. Did you mean “shopping.md”?"


@pytest.mark.parametrize(("number", "sentence"), [(90_000, MISSING), (110_000, NOT_SEARCHED)])
def test_names_not_searched_completely_are_reported(
    memory: BuiltinMemory, workspace: Path, monkeypatch, number: int, sentence: str
) -> None:
    with os.scandir(workspace) as entries:
        file = next(entry for entry in entries if entry.name == "shopping.md")
    monkeypatch.setattr(os, "scandir", lambda _: _Folder(file, number))
    assert memory.explain_path("other.md").sentence == sentence
    assert memory.explain_path("daily/other.md").sentence == MISSING, "a path is not searched for"


def test_cancel_ends_search_for_name_within_a_folder(workspace: Path, monkeypatch) -> None:
    finder = PathFinder(workspace, Settings())
    with os.scandir(workspace) as entries:
        file = next(entry for entry in entries if entry.name == "shopping.md")
    cancel = CancelToken()
    folder = _Folder(file, 1000, cancel)
    monkeypatch.setattr(os, "scandir", lambda _: folder)
    with pytest.raises(Cancelled):
        finder.find_by_name("other.md", cancel)
    assert folder.read == 10


def test_indexed_file_has_title_chunks_vectors_and_size(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    found = memory.explain_path("greenhouse.md")
    state = (workspace / "greenhouse.md").stat()
    assert (found.title, found.chunks, found.vectors, found.size) == ("Greenhouse", 1, 1, state.st_size)
    assert found.modified == pytest.approx(state.st_mtime)
    assert found.sentence == "The file is indexed: 1 passage, found by words and by meaning."


def test_a_folder_counts_its_files(memory: BuiltinMemory, workspace: Path) -> None:
    contents = memory.explain_path(str(workspace)).contents
    assert contents is not None
    assert (contents.indexed, contents.pending, contents.deleted, contents.failed) == (5, 2, 1, 2)
    assert {issue.rule for issue in contents.skipped} == {
        *("symlink", "hidden", "secret", "too-large", "ignored-folder", "exclude", "extension")
    }
    daily = memory.explain_path("daily").contents
    assert daily is not None
    assert (daily.indexed, daily.pending, daily.deleted, daily.skipped_total) == (1, 0, 0, 1)


def test_folder_that_cannot_be_listed_failed(open_memory, workspace: Path, monkeypatch) -> None:
    locked = write(workspace / "locked/a.md").parent
    memory = open_memory()
    scan = os.scandir

    def refuse(folder: str | int) -> object:
        if folder == str(locked) or (isinstance(folder, int) and os.fstat(folder).st_ino == locked.stat().st_ino):
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    found = memory.explain_path("locked")
    assert (found.state, found.remedy) == ("failed", "sync")
    assert found.sentence == "Can't be read now: Permission denied. Files that were indexed before stay in the index."
    assert memory.explain_path("daily").state == "folder"


def test_path_next_to_memory_folder_is_explained(workspace: Path, open_memory) -> None:
    write(workspace / "memory/day.md")
    write(workspace / "MEMORY.md")
    memory = open_memory()
    memory.sync()
    assert memory.explain_path("memory/day.md").state == "indexed"
    assert memory.explain_path(str(workspace / "MEMORY.md")).state == "indexed"
    beside = memory.explain_path("shopping.md")
    assert (beside.state, beside.rule, beside.remedy) == ("excluded", "outside-memory", "add")
    whole = memory.explain_path(str(workspace)).contents
    assert whole is not None
    assert (whole.indexed, whole.deleted) == (2, 0)


def test_extra_paths_have_names_of_their_own(workspace: Path, tmp_path: Path, open_memory) -> None:
    extra = write(tmp_path / "more/deep/a.md").parent.parent
    memory = open_memory(extra_paths=(str(extra),))
    memory.sync()
    for path in (str(extra / "deep/a.md"), "more/deep/a.md"):
        found = memory.explain_path(path)
        assert (found.state, found.path) == ("indexed", "more/deep/a.md")


@pytest.fixture
def transcripts(workspace: Path, tmp_path: Path) -> Iterator[BuiltinMemory]:
    folder = tmp_path / "agents/main/sessions"
    write(folder / "boat.jsonl", TRANSCRIPT)
    write(folder / "strange.jsonl", '{"no": "session"}\n')
    write(folder / "notes.txt")
    settings = Settings(
        provider="none",
        sessions=SessionSettings(folders=(str(folder),)),
        store=StoreSettings(path=str(tmp_path / "data")),
    )
    memory = BuiltinMemory(workspace, settings, executor=None, background=False)
    memory.sync()
    write(folder / "late.jsonl", TRANSCRIPT)
    yield memory
    memory.close()


def test_session_is_explained_by_its_name_and_its_transcript(transcripts: BuiltinMemory, tmp_path: Path) -> None:
    folder = tmp_path / "agents/main/sessions"
    for path in ("sessions/main/boat.jsonl", str(folder / "boat.jsonl")):
        found = transcripts.explain_path(path)
        assert (found.state, found.source, found.path) == ("indexed", "sessions", "sessions/main/boat.jsonl")
        assert (found.sessions, found.chunks) == (1, 1)
    assert transcripts.explain_path(str(folder / "late.jsonl")).state == "pending"
    strange = transcripts.explain_path(str(folder / "strange.jsonl"))
    assert (strange.state, strange.rule) == ("excluded", "unknown-format")
    other = transcripts.explain_path(str(folder / "notes.txt"))
    assert (other.state, other.rule) == ("excluded", "no-transcript")
    write(folder / "boat.jsonl", TRANSCRIPT + TRANSCRIPT.splitlines()[1] + "\n")
    assert transcripts.explain_path("sessions/main/boat.jsonl").changed
    contents = transcripts.explain_path(str(folder)).contents
    assert contents is not None
    assert (contents.indexed, contents.pending, [one.rule for one in contents.skipped]) == (0, 2, ["unknown-format"])
    (folder / "boat.jsonl").unlink()
    assert transcripts.explain_path("sessions/main/boat.jsonl").state == "deleted"


def test_note_is_excluded_if_only_sessions_are_searched(workspace: Path, tmp_path: Path, open_memory) -> None:
    memory = open_memory(sources=("sessions",))
    memory.sync()
    found = memory.explain_path("shopping.md")
    assert (found.state, found.rule, found.origin and found.origin.key) == ("excluded", "source-off", "sources")


def test_cancelled_folder_listing_ends(memory: BuiltinMemory) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        memory.explain_path(".", cancel=cancel)


def test_explaining_path_reads_nothing_outside(memory: BuiltinMemory, workspace: Path, monkeypatch) -> None:
    opened: list[str] = []
    scan = os.scandir
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", lambda path: (opened.append(str(path)), scan(path))[1])
        patch.setattr(os, "open", lambda path, *_: pytest.fail(f"opened {path}"))
        assert memory.explain_path(str(workspace.parent / "elsewhere")).state == "outside"
        assert memory.explain_path(str(workspace / "linked/2026-02-08.md")).rule == "symlink"
        assert memory.explain_path("id_rsa.md").rule == "secret"
    assert set(opened) == {str(workspace)}


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=[])),
        st.text(alphabet="a./\\~:# %[]\"'\0-", max_size=12),
        st.lists(st.sampled_from(["..", ".", "daily", "shopping.md", "~", "", "sessions", "file:", "C:"])).map(
            "/".join
        ),
        st.text(max_size=8).map(lambda text: f"file://{text}"),
    )
)
@example("x" * 5_000)
@example("file://[")
@example("file:%zz")
@example("~\0")
@example("\ud800.md")
@example("~nobody-at-all/x")
def test_any_text_has_an_answer(memory: BuiltinMemory, text: str) -> None:
    from engine.records import to_json

    found = memory.explain_path(text)
    assert found.sentence
    assert to_json(found)
