"""The folders with sessions: naming, walking, and locating a transcript by the session's name."""

import os
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts import transcript_files
from engine.corpus.transcripts.registry import may_be_transcript, owner_of_part, parts_changed
from engine.corpus.transcripts.session_stores import find_stores, find_transcripts, locate_transcript, names_session
from engine.settings import Settings
from engine.settings.options import SessionSettings


def listing(*folders: Path | str) -> Settings:
    return Settings(sessions=SessionSettings(folders=tuple(map(str, folders))))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (
        ".claude/projects/-home-ada-boat/one.jsonl",
        ".claude/projects/-home-ada-boat/notes.txt",
        ".codex/sessions/2026/03/01/rollout-2.jsonl",
        ".openclaw/agents/main/sessions/three.jsonl.reset.2026-03-01T10-00-00.000Z",
        ".openclaw/agents/main/sessions/three.jsonl.bak",
        "exports/conversations.json",
        "opencode/storage/session/p/ses_1.json",
        "opencode/storage/message/ses_1/msg_1.json",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")
    return tmp_path


def test_a_listed_folder_switches_sessions_on() -> None:
    assert "sessions" not in Settings().sources
    assert listing("/x").sources == ("memory", "sessions")


def test_stores_are_called_after_their_agents(home: Path) -> None:
    folders = (
        home / ".claude/projects", home / ".codex/sessions", home / ".openclaw/agents/main/sessions",
        home / "exports", home / "exports" / "conversations.json",
    )  # fmt: skip
    names = [store.name for store in find_stores(listing(*folders, home / ".claude/projects"))]
    assert names == ["sessions/claude", "sessions/codex", "sessions/main", "sessions/exports"]


def test_same_named_stores_distinguished_permanently(home: Path) -> None:
    (home / "other/exports").mkdir(parents=True)
    one, other = (store.name for store in find_stores(listing(home / "exports", home / "other/exports")))
    assert one.startswith("sessions/exports-")
    assert other.startswith("sessions/exports-")
    assert one != other
    (alone,) = find_stores(listing(home / "other/exports"))
    assert alone.name == "sessions/exports"


def test_only_possible_transcripts_newest_first(home: Path) -> None:
    os.utime(home / ".codex/sessions/2026/03/01/rollout-2.jsonl", (2e9, 2e9))
    found = find_transcripts(
        listing(home / ".claude/projects", home / ".codex/sessions", home / ".openclaw/agents/main/sessions")
    )
    assert found.files[0].name == "sessions/codex/2026/03/01/rollout-2.jsonl"
    assert {file.name for file in found.files[1:]} == {
        "sessions/claude/-home-ada-boat/one.jsonl",
        "sessions/main/three.jsonl.reset.2026-03-01T10-00-00.000Z",
    }
    assert all(file.source == "sessions" for file in found.files)


def test_message_folders_of_sessions_are_not_listed(home: Path) -> None:
    found = find_transcripts(listing(home / "opencode/storage"))
    assert [file.name for file in found.files] == ["sessions/opencode/session/p/ses_1.json"]


def test_missing_linked_and_secret_folders_are_reported(home: Path) -> None:
    (home / "link").symlink_to(home / "exports")
    (home / ".ssh").mkdir()
    (home / "exports/linked.jsonl").symlink_to(home / ".claude/projects/-home-ada-boat/one.jsonl")
    found = find_transcripts(listing(home / "nowhere", home / "link", home / ".ssh", home / "exports"))
    assert [issue.rule for issue in found.skipped] == ["missing", "symlink", "secret", "symlink"]
    assert [file.name for file in found.files] == ["sessions/exports/conversations.json"]


def test_other_files_are_named_only_in_folders_of_the_user(home: Path) -> None:
    for number in range(22):
        (home / "exports" / f"page-{number:02}.html").write_text("x")
    (home / "exports" / ".hidden").write_text("x")
    found = find_transcripts(listing(home / "exports", home / ".claude/projects"))
    assert [issue.path for issue in found.skipped] == [
        *(f"sessions/exports/page-{number:02}.html" for number in range(20)),
        "sessions/exports/…",
    ]
    assert {issue.rule for issue in found.skipped} == {"no-transcript"}
    assert found.skipped[-1].detail.startswith("2 more files here are not transcripts")


def test_examined_file_is_read_again_once_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    for number in range(3):
        (saved / f"boat-{number}.json").write_text('{"name": "boats"}')
    opened: list[str] = []

    def opening(path: str) -> object:
        opened.append(Path(path).name)
        return open_binary(path)

    monkeypatch.setattr(transcript_files, "open_binary", opening)
    assert [issue.detail for issue in find_transcripts(listing(saved)).skipped] == [
        "The file is not a transcript of a known agent."
    ] * 3
    assert sorted(opened) == ["boat-0.json", "boat-1.json", "boat-2.json"]
    export = Path(__file__).parent / "fixtures/chatgpt/conversations.json"
    (saved / "boat-1.json").write_bytes(export.read_bytes())
    for _ in range(2):
        assert [file.name[-11:] for file in find_transcripts(listing(saved)).files] == ["boat-1.json"]
    assert opened[3:] == ["boat-1.json"]


def test_name_resolves_to_transcript_and_key(home: Path) -> None:
    settings = listing(home / ".claude/projects", home / "exports/conversations.json")
    path, key = locate_transcript("sessions/claude/-home-ada-boat/one.jsonl", settings)
    assert (path, key) == (home / ".claude/projects/-home-ada-boat/one.jsonl", "")
    path, key = locate_transcript("sessions/conversations/conversations.json/abc", settings)
    assert (path, key) == (home / "exports/conversations.json", "abc")


@pytest.mark.parametrize(
    "name",
    [
        "sessions/claude/-home-ada-boat/notes.txt", "sessions/claude/../projects/-home-ada-boat/one.jsonl",
        "sessions/claude", "sessions/claude/-home-ada-boat", "sessions/other/one.jsonl", "/etc/passwd",
        "sessions/claude/-home-ada-boat/one.jsonl\0", "sessions/claude//one.jsonl",
        "sessions/claude/linked/one.jsonl", "sessions/claude/linked.jsonl",
    ],
)  # fmt: skip
def test_every_other_name_is_refused(home: Path, name: str) -> None:
    projects = home / ".claude/projects"
    (projects / "linked").symlink_to(projects / "-home-ada-boat")
    (projects / "linked.jsonl").symlink_to(projects / "-home-ada-boat/one.jsonl")
    with pytest.raises(PathRefused):
        locate_transcript(name, listing(projects))


def test_deleted_transcript_is_missing(home: Path) -> None:
    with pytest.raises(FileNotFoundError):
        locate_transcript("sessions/claude/-home-ada-boat/two.jsonl", listing(home / ".claude/projects"))


def test_notes_folder_named_sessions_is_not_a_store(home: Path) -> None:
    settings = listing(home / ".claude/projects")
    assert names_session("sessions/claude/x.jsonl", settings)
    assert not names_session("sessions/2026-03-01.md", settings)
    assert not names_session("sessions/claude/x.jsonl", msgspec.structs.replace(settings, sessions=SessionSettings()))


def test_nested_store_is_part_of_outer_one_in_any_order(home: Path) -> None:
    project = home / ".claude/projects/-home-ada-boat"
    for folders in ((project, home / ".claude/projects"), (home / ".claude/projects", project)):
        settings = listing(*folders)
        assert [store.name for store in find_stores(settings)] == ["sessions/claude"]
        assert [file.name for file in find_transcripts(settings).files] == ["sessions/claude/-home-ada-boat/one.jsonl"]


def test_note_next_to_store_of_its_name_is_not_a_session(home: Path) -> None:
    settings = listing(home / "exports")
    assert names_session("sessions/exports/conversations.json/abc", settings)
    assert not names_session("sessions/exports/diary.md", settings)


def test_later_message_makes_opencode_session_due(home: Path) -> None:
    settings = listing(home / "opencode/storage")
    os.utime(home / "opencode/storage/message/ses_1", (2e9, 2e9))
    assert [file.mtime_ns for file in find_transcripts(settings).files] == [2 * 10**18]


def test_a_database_changes_with_its_wal(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"12345")
    os.utime(path, (1e9, 1e9))
    wal = tmp_path / "opencode.db-wal"
    for folder in (path, tmp_path):
        wal.unlink(missing_ok=True)
        (alone,) = find_transcripts(listing(folder)).files
        assert (alone.size, alone.mtime_ns) == (5, 10**18)
        wal.write_bytes(b"123")
        os.utime(wal, (2e9, 2e9))
        (file,) = find_transcripts(listing(folder)).files
        assert (file.name, file.size, file.mtime_ns) == (alone.name, 8, 2 * 10**18)
    assert names_session("sessions/opencode.db/opencode.db/ses_1", listing(path))
    assert locate_transcript("sessions/opencode.db/opencode.db/ses_1", listing(path)) == (path, "ses_1")


def test_compressed_transcript_same_name_once(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    plain, packed = folder / "rollout-1.jsonl", folder / "rollout-1.jsonl.zst"
    for name in ("rollout-1.jsonl.zst", "other.jsonl.zst", "rollout-2.zst", "rollout-compress-1.tmp"):
        (folder / name).write_bytes(b"123")
    name = "sessions/sessions/rollout-1.jsonl"
    (file,) = find_transcripts(listing(folder)).files
    assert (file.name, file.path) == (name, str(packed))
    assert locate_transcript(name, listing(folder)) == (packed, "")
    assert names_session(name, listing(folder))
    plain.write_bytes(b"12345")
    (file,) = find_transcripts(listing(folder)).files
    assert (file.name, file.path) == (name, str(plain))
    assert locate_transcript(name, listing(folder)) == (plain, "")
    with pytest.raises(PathRefused):
        locate_transcript("sessions/sessions/other.jsonl", listing(folder))


@pytest.mark.parametrize(
    ("part", "transcript"),
    [
        ("c/workspace.yaml", "c/events.jsonl"),
        ("g/summary.json", "g/chat_history.jsonl"),
        ("v/meta.json", "v/messages.jsonl"),
        ("p/config.toml", "p/conversation.jsonl"),
        ("o/events/event-00007.json", "o/base_state.json"),
        ("o/events/7.json", "o/events/0.json"),
        (".factory/sessions/b/s.settings.json", ".factory/sessions/b/s.jsonl"),
        (".kiro/sessions/cli/s.json", ".kiro/sessions/cli/s.jsonl"),
        (".kiro/sessions/9f3c/sess_a/session.json", ".kiro/sessions/9f3c/sess_a/messages.jsonl"),
    ],
)
def test_file_next_to_transcript_belongs_to_it(tmp_path: Path, part: str, transcript: str) -> None:
    assert owner_of_part(str(tmp_path / part)) == "", "there is no transcript"
    (tmp_path / transcript).parent.mkdir(parents=True)
    (tmp_path / transcript).write_text("{}\n")
    assert owner_of_part(str(tmp_path / part)) == str(tmp_path / transcript)
    assert owner_of_part(str(tmp_path / transcript)) == ""


@pytest.mark.parametrize(
    ("transcript", "beside"),
    [
        (".factory/sessions/b/s.jsonl", "s.settings.json"),
        (".kiro/sessions/cli/s.jsonl", "s.json"),
        (".kiro/sessions/9f3c/sess_a/messages.jsonl", "session.json"),
    ],
)
def test_description_of_a_transcript_changes_it(tmp_path: Path, transcript: str, beside: str) -> None:
    path = tmp_path / transcript
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    assert parts_changed(str(path)) == 0
    (path.parent / beside).write_text("{}")
    assert parts_changed(str(path)) == (path.parent / beside).stat().st_mtime_ns


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("history-session-state/session_1.json", True),
        ("session_1.json", True),
        ("chats/session-2026.json", True),
        ("session/ses_1.json", True),
        ("sessions/notes.json", False),
        (".json", False),
    ],
)
def test_transcript_names_are_recognised(name: str, expected: bool) -> None:
    assert may_be_transcript(name.replace("/", os.sep)) is expected
    assert may_be_transcript(str(Path(os.sep, "home", name))) is expected
