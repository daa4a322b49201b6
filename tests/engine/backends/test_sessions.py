"""Sessions, from their transcripts to search results and back to the message."""

import json
import os
import shutil
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PathRefused, TranscriptUnreadable, WorkspaceError
from engine.corpus.safe_open import FolderFiles
from engine.corpus.transcripts.parsers.openclaw import OpenClawParser
from engine.indexing import note_preparation, session_row_builder, transcript_stage
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of

SECRET = "ghp_" + "a1B2c3D4" * 5
NAME = "sessions/main/boat.jsonl"
THREAD = "T-0c1d2e3f-0000-4000-8000-000000000004.json"


def spoken(role: str, text: str, minute: int, id: str = "") -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    stamp = f"2026-03-01T10:{minute:02}:00.000Z"
    return json.dumps({"type": "message", "id": id or f"m{minute}", "timestamp": stamp, "message": message}) + "\n"


class CountingToken(CancelToken):
    checkpoints = 0

    def checkpoint(self) -> None:
        self.checkpoints += 1
        super().checkpoint()


HEAD = json.dumps({"type": "session", "id": "s1", "cwd": "/home/ada/boat", "timestamp": "2026-03-01T10:00:00.000Z"})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def boat(store: Path) -> Path:
    path = store / "boat.jsonl"
    path.write_text(
        f"{HEAD}\n"
        + spoken("user", f"The varnish peels off the mast. My token is {SECRET}", 1)
        + spoken("assistant", "Sand it down and apply seven thin coats of varnish.", 2)
    )
    return path


@pytest.fixture
def memory(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BuiltinMemory]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "garden.md").write_text("# Garden\n\nSow the carrots.\n")
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    opened = BuiltinMemory(notes, settings, executor=None, background=False)
    yield opened
    opened.close()


def paths(memory: BuiltinMemory, query: str) -> list[str]:
    return [result.path for result in memory.search(query).results]


def test_message_result_has_its_location(memory: BuiltinMemory, boat: Path) -> None:
    report = memory.sync()
    assert (report.files_indexed, report.failed) == (2, ())
    (result,) = memory.search("seven coats of varnish").results
    assert (result.path, result.source, result.title) == (NAME, "sessions", "The varnish peels off the mast.")
    assert (result.start_line, result.end_line) == (2, 3)
    assert result.message is not None
    assert (result.message.ordinal, result.message.id) in [(1, "m1"), (2, "m2")]
    assert (result.message.agent, result.message.project) == ("openclaw", "/home/ada/boat")
    assert result.snippet_line == result.message.ordinal + 1
    assert {count.source: count.files for count in memory.status().source_counts} == {"memory": 1, "sessions": 1}


def test_an_unchanged_transcript_is_not_read_again(memory: BuiltinMemory, boat: Path, monkeypatch) -> None:
    memory.sync()
    monkeypatch.setattr(
        transcript_stage.TranscriptIndexer, "index", lambda *_: pytest.fail("the transcript was read again")
    )
    report = memory.sync()
    assert (report.files_indexed, report.files_unchanged) == (0, 2)


def test_a_session_is_listed_and_read_with_its_secrets_masked(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    (summary,) = memory.sessions()
    assert (summary.agent, summary.id, summary.project, summary.messages) == ("openclaw", "s1", "/home/ada/boat", 2)
    assert summary.started is not None
    text = memory.read_session(NAME)
    assert [(one.role, one.line) for one in text.messages] == [("user", 2), ("assistant", 3)]
    assert SECRET not in text.messages[0].text
    assert text.masked == 1
    assert SECRET in memory.read_session(NAME, reveal=True).messages[0].text
    assert SECRET not in memory.raw_lines(NAME, [2])[0]
    assert SECRET in memory.raw_lines(NAME, [2], reveal=True)[0]


def test_a_raw_line_has_its_secrets_masked_in_every_field(memory: BuiltinMemory, boat: Path) -> None:
    line = json.loads(spoken("user", "And the rudder?", 9))
    boat.write_text(f"{HEAD}\n" + json.dumps(line | {"env": {"NAME": SECRET}}) + "\n")
    memory.sync()
    assert memory.read_session(NAME).masked == 0
    assert "rudder" in memory.raw_lines(NAME, [2])[0]
    assert SECRET not in memory.raw_lines(NAME, [2])[0]
    assert json.loads(memory.raw_lines(NAME, [2], reveal=True)[0])["env"] == {"NAME": SECRET}


def test_image_of_a_session_is_read_by_its_message(memory: BuiltinMemory, store: Path) -> None:
    png = b"\x89PNG" + bytes(99)
    said: dict[str, Any] = {"role": "user", "content": f"Use {SECRET}"}
    images = [{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}]
    images += [{"type": "image", "source": {"media_type": "image/png", "data": b64encode(png).decode()}}]
    thread = {"id": "T-1", "messages": [said, {"role": "user", "content": images}]}
    (store / THREAD).write_text(json.dumps(thread))
    memory.sync()
    name = f"sessions/main/{THREAD}"
    shown = memory.read_session(name).messages
    assert [message.text for message in shown[1:]] == ["[image]\n[image: PNG, 1 KB]"]
    assert [memory.session_image(name, number, 0) for number in range(3)] == [None, None, None]
    assert [memory.session_image(name, 1, number) for number in (1, 2)] == [(png, "png"), None]
    (store / THREAD).unlink()
    with pytest.raises(FileNotFoundError):
        memory.session_image(name, 1, 1)


def test_many_raw_lines_are_read_in_one_pass(memory: BuiltinMemory, boat: Path) -> None:
    boat.write_text(f"{HEAD}\n" + "".join(spoken("assistant", f"Coat {number}", number) for number in range(40)))
    memory.sync()
    token = CountingToken()
    lines = memory.raw_lines(NAME, [30, 3, *range(10, 20), 3], cancel=token)
    assert [json.loads(line)["id"] for line in lines] == ["m28", "m1", *(f"m{at}" for at in range(8, 18)), "m1"]
    assert token.checkpoints == 30
    with pytest.raises(FileNotFoundError, match="line 42"):
        memory.raw_lines(NAME, [3, 42])
    token.cancel()
    with pytest.raises(Cancelled):
        memory.raw_lines(NAME, [3], cancel=token)


def test_read_file_returns_cited_messages(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    text = memory.read_file(NAME, start=3, lines=1)
    assert text.text == "Assistant: Sand it down and apply seven thin coats of varnish."
    assert memory.read_file(NAME).text.split("\n")[0] == ""
    assert SECRET not in memory.read_file(NAME).text
    assert memory.read_file("sessions/main/gone.jsonl").text == ""
    with pytest.raises(PathRefused):
        memory.open_file(NAME)


@pytest.mark.parametrize(("call", "part"), [("lstat", "boat.jsonl"), ("open", "boat.jsonl"), ("open", "sessions")])
def test_session_without_permission_names_the_reason(
    memory: BuiltinMemory, boat: Path, monkeypatch: pytest.MonkeyPatch, call: str, part: str
) -> None:
    memory.sync()
    _refuse(monkeypatch, call, part)
    for read in (memory.read_session, memory.read_file, lambda name: memory.raw_lines(name, [3])):
        with pytest.raises(WorkspaceError, match=f"{NAME}: Can't be read: Permission denied"):
            read(NAME)
    assert memory.read_file("garden.md").text


@pytest.mark.skipif(os.name == "nt", reason="folders are not opened by descriptor")
@pytest.mark.parametrize("part", ["bed.md", "beds"])
def test_note_without_permission_names_the_reason(
    memory: BuiltinMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    (tmp_path / "notes/beds").mkdir()
    (tmp_path / "notes/beds/bed.md").write_text("# Bed")
    _refuse(monkeypatch, "open", part)
    with pytest.raises(WorkspaceError, match=r"beds/bed\.md: Can.t be read: Permission denied"):
        memory.read_file("beds/bed.md")


def _refuse(monkeypatch: pytest.MonkeyPatch, call: str, part: str) -> None:
    """Let a function of `os` fail for each path that ends with `part`, as without permission; root has all."""
    allowed = getattr(os, call)

    def refuse(path: str, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith(part):
            raise PermissionError(13, "Permission denied", path)
        return allowed(path, *arguments, **options)

    monkeypatch.setattr(os, call, refuse)


def test_no_secret_reaches_the_index(memory: BuiltinMemory, boat: Path) -> None:
    with boat.open("a") as file:
        file.write(spoken("assistant", f"Never print {SECRET} again.", 3).rstrip("\n"))
    memory.sync()
    folder = memory.store.files.folder
    memory.close()
    for file in folder.iterdir():
        assert SECRET[8:].encode() not in file.read_bytes()


def test_growth_is_read_from_where_it_ended(memory: BuiltinMemory, boat: Path, monkeypatch) -> None:
    memory.sync()
    offsets: list[int] = []
    read = transcript_stage.LineReader.read

    def noted(self, *arguments):
        offsets.append(self.offset)
        return read(self, *arguments)

    monkeypatch.setattr(transcript_stage.LineReader, "read", noted)
    size = boat.stat().st_size
    with boat.open("a") as file:
        file.write(spoken("user", "And the rudder bearing?", 4))
    report = memory.sync()
    assert offsets == [size]
    assert report.files_indexed == 1
    assert paths(memory, "rudder bearing") == [NAME]
    assert paths(memory, "seven coats of varnish") == [NAME]
    assert memory.sessions()[0].messages == 3


@pytest.mark.parametrize("cut", [0, 1, 40, -3])
def test_incremental_growth_equals_full_read(memory: BuiltinMemory, boat: Path, tmp_path: Path, cut: int) -> None:
    whole = boat.read_bytes() + b"".join(
        spoken("user" if minute % 2 else "assistant", f"Word{minute} " * 90, minute).encode() for minute in range(3, 12)
    )
    lines = whole.splitlines(keepends=True)
    written = b""
    for line in lines:
        boat.write_bytes(written + line[:cut])
        memory.sync()
        written += line
        boat.write_bytes(written)
        memory.sync()
    grown = chunks(memory)
    memory.sync(force=True)
    assert grown == chunks(memory)
    assert len(grown) > 3


def chunks(memory: BuiltinMemory) -> list[tuple]:
    with memory.store.read() as snapshot:
        file = snapshot.files("sessions")[NAME]
        found = snapshot.chunks(snapshot.chunks_of_files([file.id]))
    return [(c.start_line, c.end_line, c.text, c.message_offsets) for c in sorted(found.values(), key=lambda c: c.id)]


@pytest.mark.parametrize("lines", [3, 8, 60])
def test_long_transcript_in_parts_resumes(
    memory: BuiltinMemory, boat: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    with monkeypatch.context() as small:
        small.setattr(transcript_stage, "_CHUNKS_PER_PART", 3)
        with boat.open("a") as file:
            for minute in range(60):
                file.write(spoken("user" if minute % 2 else "assistant", f"Word{minute} " * 90, minute))
        token, offsets = CancelToken(), []
        read = transcript_stage.LineReader.read

        def stopping(self, *arguments):
            offsets.append(self.offset)
            for number, found in enumerate(read(self, *arguments)):
                yield found
                if number == lines and len(offsets) == 1:
                    token.cancel()
                    token.checkpoint()

        monkeypatch.setattr(transcript_stage.LineReader, "read", stopping)
        assert memory.sync(cancel=token).cancelled
        memory.sync()
        assert (offsets[1] > 0) == (lines > 3)
        assert memory.sync().files_unchanged == 2
        assert memory.sessions()[0].messages == 62
        in_parts = chunks(memory)
        memory.sync(force=True)
    memory.sync(force=True)
    assert in_parts == chunks(memory)


def test_late_title_is_indexed_with_all_chunks(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    with boat.open("a") as file:
        file.write(spoken("assistant", "Word " * 600, 3) + spoken("user", "Other " * 600, 4))
    memory.sync()
    with boat.open("a") as file:
        file.write(json.dumps({"type": "session_info", "name": "Quarterdeck plan"}) + "\n")
    memory.sync()
    assert memory.sessions()[0].title == "Quarterdeck plan"
    with memory.store.read() as snapshot:
        fts = snapshot.tables.fts
        found = list(snapshot.connection.execute(f"SELECT rowid FROM {fts} WHERE {fts} MATCH 'title:quarterdeck'"))
    assert len(found) == len(chunks(memory)) > 2


def test_rewritten_transcript_reread(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    boat.write_text(f"{HEAD}\n" + spoken("user", "Which anchor chain? " * 20, 1) * 5)
    memory.sync()
    assert paths(memory, "varnish") == []
    assert set(paths(memory, "anchor chain")) == {NAME}


def test_deleted_transcript_is_removed_from_the_index(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    boat.unlink()
    assert memory.sync().files_removed == 1
    assert paths(memory, "varnish") == []
    assert memory.sessions() == ()


def test_a_file_of_another_kind_is_skipped_once(memory: BuiltinMemory, store: Path) -> None:
    (store / "log.jsonl").write_text('{"level": "info"}\n')
    for _ in range(2):
        (issue,) = memory.sync().skipped
        assert (issue.path, issue.rule) == ("sessions/main/log.jsonl", "unknown-format")


def test_zip_without_conversations_has_advice(open_memory, tmp_path: Path) -> None:
    export = tmp_path / "takeout.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("Takeout/My Activity/Gemini Apps/MyActivity.html", "<p>Hello</p>")
    memory = open_memory(sessions=SessionSettings(folders=(str(export),)))
    (issue,) = memory.sync().skipped
    assert (issue.rule, "Choose JSON in Google Takeout" in issue.detail) == ("unknown-format", True)


def test_an_empty_session_is_not_listed(memory: BuiltinMemory, store: Path) -> None:
    path = store / "new.jsonl"
    path.write_text(f"{HEAD}\n")
    memory.sync()
    assert memory.sessions() == ()
    path.write_text(f"{HEAD}\n" + spoken("user", "Which anchor chain?", 1))
    memory.sync()
    assert [summary.title for summary in memory.sessions()] == ["Which anchor chain?"]


def test_similar_sessions_are_those_with_similar_messages(memory: BuiltinMemory, boat: Path, store: Path) -> None:
    (store / "mast.jsonl").write_text(f"{HEAD}\n" + spoken("user", "Varnish the mast with thin coats?", 1))
    (store / "soup.jsonl").write_text(f"{HEAD}\n" + spoken("user", "How long do lentils simmer?", 1))
    memory.sync()
    assert [summary.path for summary, _ in memory.similar_sessions(NAME)] == ["sessions/main/mast.jsonl"]
    assert memory.similar_sessions("sessions/main/gone.jsonl") == ()


def test_common_content_makes_none_similar(memory: BuiltinMemory, store: Path) -> None:
    polite = "please could you be so kind to tell me in a few words, thank you very much"
    about = ("lentils simmer", "mast varnish", "tax return", "knee pain", "bread crumb", "boat tickets") * 2
    for number, what in enumerate(about):
        (store / f"{number}.jsonl").write_text(f"{HEAD}\n" + spoken("user", f"{polite} {what} {what} {what}", 1))
    memory.sync()
    near = {summary.path: cosine for summary, cosine in memory.similar_sessions("sessions/main/0.jsonl")}
    assert list(near) == ["sessions/main/6.jsonl"]
    assert near["sessions/main/6.jsonl"] > 0.9


def test_similar_sessions_of_a_long_session_are_found(memory: BuiltinMemory, boat: Path, store: Path) -> None:
    question = "Varnish the mast with thin coats? " * 40
    boat.write_text(f"{HEAD}\n" + "".join(spoken("user", f"{question} {number}", 1) for number in range(450)))
    (store / "mast.jsonl").write_text(f"{HEAD}\n" + spoken("user", "Varnish the mast with thin coats?", 1))
    memory.sync()
    assert [summary.path for summary, _ in memory.similar_sessions(NAME)] == ["sessions/main/mast.jsonl"]


def test_resume_command_continues_session(memory: BuiltinMemory) -> None:
    from engine.memory.session_library import summary_of
    from engine.store.sessions import StoredSession

    stored = StoredSession("p", "t", "codex", "abc; rm", "/home/ada/my boat", "", "", None, None, 1, 1)
    assert summary_of(stored).resume_command == "cd '/home/ada/my boat' && codex resume 'abc; rm'"
    assert summary_of(stored._replace(parent="x")).resume_command == ""
    assert summary_of(stored._replace(id="--yolo")).resume_command == ""
    below_home = stored._replace(id="abc", project="~/my boat")
    assert summary_of(below_home).resume_command == "cd ~/'my boat' && codex resume abc"


def test_a_sub_agents_messages_count_in_its_own_session(memory: BuiltinMemory, store: Path) -> None:
    fixture = Path(__file__).parents[1] / "corpus/transcripts/fixtures/claude_code"
    shutil.copytree(fixture, store / "claude")
    memory.sync()
    (agent,) = [session for session in memory.sessions() if session.parent]
    assert agent.messages > 0
    assert agent.resume_command == ""


def test_message_dated_9999_does_not_end_a_sync(memory: BuiltinMemory, boat: Path) -> None:
    boat.write_text(boat.read_text().replace("2026-03-01T10:02", "9999-12-31T10:02"))
    report = memory.sync()
    assert (report.error, report.failed) == ("", ())
    assert paths(memory, "seven coats of varnish") == [NAME]
    assert memory.search("seven coats of varnish", until=4e9).results == ()


def test_same_length_rewrite_reread(memory: BuiltinMemory, boat: Path) -> None:
    with boat.open("a") as file:
        file.write(spoken("user", "So it continues. " * 400, 3))
    memory.sync()
    text = boat.read_text()
    boat.write_text(text.replace("varnish", "lacquer"))
    os.utime(boat, ns=(0, boat.stat().st_mtime_ns + 1))
    memory.sync()
    assert not any("varnish" in chunk[2] for chunk in chunks(memory))


def test_unreadable_transcript_changes_index_once(
    memory: BuiltinMemory, boat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.sync()

    boat.touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(transcript_stage, "opened", refuse)
    monkeypatch.setattr(FolderFiles, "open", refuse)
    assert memory.sync().files_removed == 1
    report = memory.sync()
    assert (report.files_removed, [issue.rule for issue in report.failed]) == (0, ["unreadable"])


def test_note_in_a_folder_named_like_a_session_store_is_read(memory: BuiltinMemory, boat: Path, tmp_path: Path) -> None:
    note = tmp_path / "notes/sessions/main/carrots.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Carrots\n\nSow them in March.\n")
    memory.sync()
    assert paths(memory, "carrots in march")[0] == "sessions/main/carrots.md"
    assert "March" in memory.read_file("sessions/main/carrots.md").text


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs symbolic links")
def test_linked_project_root_file_is_not_read(memory: BuiltinMemory, store: Path, tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("Dear diary")
    (store / "chats").mkdir()
    (store / ".project_root").symlink_to(tmp_path / "diary")
    message = {"id": "1", "type": "user", "content": "Which anchor chain?"}
    (store / "chats/session-1.json").write_text(
        json.dumps({"sessionId": "a", "projectHash": "b", "messages": [message]})
    )
    memory.sync()
    (summary,) = memory.sessions()
    assert "diary" not in summary.project


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_has_no_raw_lines(memory: BuiltinMemory, store: Path, indent: int | None) -> None:
    said_ = [
        {"id": "1", "type": "user", "content": f"Which key? {SECRET}"},
        {"id": "2", "type": "gemini", "content": "It."},
    ]
    (store / "chats").mkdir()
    session = {"sessionId": "a", "projectHash": "b", "messages": said_}
    (store / "chats/session-1.json").write_text(json.dumps(session, indent=indent))
    memory.sync()
    (summary,) = memory.sessions()
    for message in memory.read_session(summary.path).messages:
        with pytest.raises(FileNotFoundError):
            memory.raw_lines(summary.path, [message.line])
    (store / "chats/session-1.json").write_text("")  # as before the agent writes it again
    with pytest.raises(TranscriptUnreadable):
        memory.read_session(summary.path)


@pytest.mark.parametrize(("module", "step"), [(session_row_builder, "redact"), (note_preparation, "chunk_rows")])
def test_a_cancel_ends_the_work_on_one_long_conversation(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str
) -> None:
    texts = [f"Word{number} " * 20_000 for number in range(9)]
    said_ = [{"uuid": f"m{at}", "sender": "human", "text": text} for at, text in enumerate(texts)]
    export = [{"uuid": "c", "name": "Words", "chat_messages": said_}]
    (store / "conversations.json").write_text(json.dumps(export))
    token, calls = CancelToken(), 0
    done = getattr(module, step)

    def cancelling(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        token.cancel()
        return done(*arguments)

    monkeypatch.setattr(module, step, cancelling)
    assert memory.sync(cancel=token).cancelled
    assert 0 < calls <= 2  # a text and its id
    assert memory.sessions() == ()


def test_words_of_a_deleted_session_are_in_no_file(memory: BuiltinMemory, boat: Path, store: Path) -> None:
    (store / "secret.jsonl").write_text(f"{HEAD}\n" + spoken("user", "The treasure lies at zyxquarrelsomecove.", 1))
    memory.sync()
    (store / "secret.jsonl").unlink()
    memory.sync()
    assert paths(memory, "seven coats of varnish") == [NAME]
    with memory.store.read() as snapshot:
        assert snapshot.meta("words to forget") is None
    folder = memory.store.files.folder
    memory.close()  # runs the last checkpoint
    for file in folder.iterdir():
        assert b"quarrelsomecove" not in file.read_bytes()


def test_shared_session_finds_no_sessions(memory: BuiltinMemory, boat: Path) -> None:
    memory.sync()
    assert paths(memory, "seven coats of varnish") == [NAME]
    shared = memory.search("seven coats of varnish", session_key="agent:main:discord:group:123")
    assert [result.path for result in shared.results if result.source == "sessions"] == []


def test_search_project_folder_of_session_is_not_text(memory: BuiltinMemory, store: Path) -> None:
    head = json.dumps(
        {"type": "session", "id": "s2", "cwd": "/home/ada/valve", "timestamp": "2026-03-01T10:00:00.000Z"}
    )
    (store / "talk.jsonl").write_text(f"{head}\n" + spoken("user", "What is the weather like in the harbour?", 1))
    (store / "fix.jsonl").write_text(f"{HEAD}\n" + spoken("user", "Fix the valve controller", 1))
    memory.sync()
    assert paths(memory, "valve") == ["sessions/main/fix.jsonl"]
    assert paths(memory, "project:valve weather") == ["sessions/main/talk.jsonl"]


def test_fault_of_a_parser_fails_one_transcript_only(
    memory: BuiltinMemory, store: Path, boat: Path, monkeypatch
) -> None:
    odd = store / "odd.jsonl"
    odd.write_text(f"{HEAD}\n" + spoken("user", "The keel has an odd bolt.", 1))
    feed = OpenClawParser.feed

    def faulty(parser, value, line):
        if "odd bolt" in str(value):
            raise KeyError("type")
        return feed(parser, value, line)

    monkeypatch.setattr(OpenClawParser, "feed", faulty)

    report = memory.sync()
    assert report.error == ""
    assert [(Path(issue.path).name, issue.rule) for issue in report.failed] == [("odd.jsonl", "broken")]
    assert "KeyError" in report.failed[0].detail
    assert memory.search("varnish").results
    monkeypatch.setattr(OpenClawParser, "feed", feed)
    assert memory.sync().failed == ()
    assert memory.search("keel bolt").results
