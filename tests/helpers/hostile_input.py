"""Feed hostile bytes to parsers of external input: `python -m tests.helpers.hostile_input NAME…`.

Runs in a separate process with limits of one gigabyte and some minutes, which stop a parser without bounds. Prints the
names of those that ended.
"""

import contextlib
import gzip
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.base.errors import MnemoscopeError, ProviderError, SettingsError

_MEMORY = 1 << 30
_SECONDS = 300
HOSTILE = (
    *(b"", bytes(4096), b"null", b"true", b'"text"', b"[null,1,{}]", b'{"data":[[[[[]]]]]}', b"1e999"),
    *(b"[" * 2_000_000, b'{"a":' * 400_000, b"[" * 5000 + b"]" * 5000),
    *(b"9" * 5000, b"-" + b"9" * 2_000_000, b'{"a":' + b"9" * 5000 + b"}", b'[{"index":' + b"9" * 5000 + b"}]"),
    *(b'{"a":1e9999999999}', b'{"a":NaN}', b'"\xff\xfe"', b'{"\xff":1}', b'{"a":"\\ud800"}'),
    *(b'"' + b"x" * 2_000_000, b'"' + b"\\" * 200_000, b"\xef\xbb\xbf{}", "{}".encode("utf-16")),
    *(gzip.compress(b"[" * 10_000_000), bytes(range(256)) * 40, b"SQLite format 3\0" + b"\xff" * 4096),
    *(b"bplist00" + b"\xff" * 100, b"<plist>" + b"<array>" * 100_000, b"PK\x03\x04" + b"\xff" * 200),
    *(b"GGUF\x03\0\0\0" + bytes(8) + b"\xff" * 200, b"\x28\xb5\x2f\xfd" + b"\xff" * 200),
)
Parse = Callable[[bytes], Any]


def throw(parse: Parse, *allowed: type[Exception]) -> None:
    for data in HOSTILE:
        with contextlib.suppress(*allowed):
            parse(data)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class Files:
    """A folder for files that are read back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read_by(self, name: str, read: Callable[[Path], Any]) -> Parse:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)

        def parse(data: bytes) -> Any:
            path.write_bytes(data)
            return read(path)

        return parse


def embedding_answers(files: Files) -> None:
    from engine.embedding.response_parsing import indexed, read_json

    throw(lambda data: indexed(read_json(data), 1), ProviderError)


def embedding_errors(files: Files) -> None:
    from engine.embedding.service_errors import Service, response_error

    for status in (400, 429, 500):
        throw(
            lambda data, status=status: response_error(
                Service("x"), status, {"retry-after": text_of(data[:6000])}, data
            )
        )


def batch_results(files: Files) -> None:
    from engine.embedding.batch_jobs.job_files import read_gemini, read_openai, split

    throw(lambda data: [(read_openai(line), read_gemini(line)) for line in split([data])])


def transcript_lines(files: Files) -> None:
    from engine.corpus.transcripts.jsonl import parse_line

    throw(parse_line)
    throw(lambda data: parse_line(b'{"a":' + data + b"}" + b" " * 300_000))


def transcripts(files: Files) -> None:
    from engine.corpus.transcripts.transcript_reader import conversations

    rollout = "rollout-2026-01-01T10-00-00-0b8ae9a5-1111-4222-8333-123456789abc.jsonl.zst"
    names = ("a.jsonl", "session-2026-01-01T10-00-abc.json", "conversations.json", "export.zip", "opencode.db", rollout)
    for name in (*names, "ses_1.json"):
        throw(files.read_by(name, lambda path: list(conversations(path, None))), ValueError, OSError)


def tool_inputs(files: Files) -> None:
    from engine.corpus.transcripts.json_values import tool_input

    value: Any = [1] * 20_000
    for _ in range(480):
        value = [value]
    assert len(tool_input({"a": value, "b": 1})) < 1_000_000


def lists_of_other_programs(files: Files) -> None:
    from engine.corpus.source_detection import read_list

    throw(files.read_by("list.json", lambda path: read_list(str(path), [])))


def qmd(files: Files) -> None:
    from engine.backends.qmd import output_parsing
    from engine.backends.qmd.collections import read_applied
    from engine.backends.qmd.session_exports import StoredExportList

    throw(lambda data: output_parsing.parse_hits(text_of(data)), MnemoscopeError)
    for parse in (output_parsing.parse_counts, output_parsing.parse_collection, output_parsing.parse_skipped):
        throw(lambda data, parse=parse: parse(text_of(data)))
    throw(files.read_by("told.json", read_applied))
    throw(files.read_by("sessions.json", lambda path: StoredExportList(path).current()))


def files_of_an_index(files: Files) -> None:
    from engine.insight.map_data import load_layout
    from engine.store.vector_matrix_blocks import read_matrix
    from engine.store.workspace_record import recorded_workspaces

    throw(files.read_by("index/workspace.json", lambda path: recorded_workspaces(path.parents[1])))
    throw(files.read_by("chunks.map", lambda path: load_layout(path, "x")))
    throw(files.read_by("vectors.matrix", lambda path: read_matrix(path, generation=1, model_key="x")))


def settings(files: Files) -> None:
    from engine.settings import load_settings

    parse = files.read_by("settings.toml", lambda path: load_settings(config=path))
    throw(parse, SettingsError)
    throw(lambda data: parse(b"a = " + data), SettingsError)


def gguf_models(files: Files) -> None:
    from engine.embedding.gguf_file import read_gguf

    throw(files.read_by("model.gguf", lambda path: read_gguf(str(path))), ProviderError)


def hooks(files: Files) -> None:
    from engine.cli import main

    stderr = io.StringIO()
    for verb in (["remember"], ["facts", "capture"]):

        def run(data: bytes, verb: list[str] = verb) -> None:
            sys.stdin, sys.stderr = io.TextIOWrapper(io.BytesIO(data), "utf-8"), stderr
            assert main([*verb, "--workspace", str(files.folder)]) in (0, 1, 2)

        throw(run)
    sys.stderr = sys.__stderr__
    assert "Unexpected" not in stderr.getvalue(), stderr.getvalue()


def links(files: Files) -> None:
    from engine.records.passage_links import parse_link

    for start in ("", "workspace=/a&path=a.md&line="):
        throw(lambda data, start=start: parse_link(f"mnemoscope://open?{start}{text_of(data)}"), MnemoscopeError)


def window(files: Files) -> None:
    from gui.app.autostart import DesktopEntry, LaunchAgent
    from gui.app.single_instance import decode
    from gui.core.window_state import load_state
    from gui.window.drafts import drafts_path, load_drafts

    parse = files.read_by("window.json", load_state)
    throw(parse)
    throw(lambda data: parse(b'{"last_view": {"folder": ' + data + b"}}"))
    drafts_path().parent.mkdir(parents=True, exist_ok=True)
    throw(lambda data: (drafts_path().write_bytes(data), load_drafts()))
    throw(decode)
    throw(files.read_by("mnemoscope.plist", lambda path: LaunchAgent([], path.parent).is_on()), OSError)
    throw(files.read_by("mnemoscope.desktop", lambda path: DesktopEntry([], path.parent).is_on()), OSError)


PARSERS: dict[str, Callable[[Files], None]] = {
    parser.__name__: parser
    for parser in (
        *(embedding_answers, embedding_errors, batch_results, transcript_lines, transcripts, tool_inputs),
        *(lists_of_other_programs, qmd, files_of_an_index, settings, gguf_models, hooks, links, window),
    )
}


def main() -> None:
    if sys.platform == "linux":
        import resource
        import signal

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        signal.alarm(_SECONDS)
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            PARSERS[name](Files(Path(folder)))
        print(name, flush=True)


if __name__ == "__main__":
    main()
