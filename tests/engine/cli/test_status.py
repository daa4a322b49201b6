import re
from pathlib import Path

import msgspec
import pytest

from engine.records import BatchStatus, CacheStatus, Degraded, FallbackStatus, FileIssue, FtsStatus, VectorStatus
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_model, make_status, make_summary


def fields(out: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in out.splitlines())
    return {label: text.strip() for label, _, text in pairs}


def test_status_of_healthy_index_shows_its_figures(run: Run, memory: FakeMemory) -> None:
    memory.set_status(last_sync=make_summary())
    answer = run("status")
    assert answer.code == 0
    lines = fields(answer.out)
    assert lines["Provider"] == "embedded (requested: auto)"
    assert lines["Indexed"] == "4 files · 7 passages"
    assert lines["  sessions"] == "1 file · 1 passage"
    assert lines["Out of date"] == "no"
    assert lines["Keywords"] == "ready"
    assert lines["Vectors"] == "7 searched with numpy, 512 dimensions"
    assert lines["Vector cache"] == "enabled (7 of at most 50,000, 7.2 KB)"
    assert lines["Store"] == "/data/indexes/garden/index.sqlite (1.3 MB, generation 7)"
    assert lines["Last update"].startswith("20")
    assert not {"Fallback", "Batch", "Index error", "Embedding test", "sqlite-vec"} & set(lines)


def test_stored_models_listed(run: Run, memory: FakeMemory) -> None:
    paid = make_model(provider="openai", model="text-embedding-3-small", dims=1536, vectors=4000, active=False)
    memory.set_status(cache=CacheStatus(enabled=False, entries=1, max_entries=None, models=(paid, make_model())))
    lines = fields(run("status").out)
    assert lines["  openai"] == "text-embedding-3-small: 4,000 vectors, 12.3 MB"
    assert lines["  embedded"] == "use-multilingual-v3: 7 vectors, 7.2 KB, in use"


def test_status_shows_each_problem(run: Run, memory: FakeMemory) -> None:
    memory.set_status(
        dirty=True,
        extra_paths=("/a", "/b"),
        fallback=FallbackStatus(from_="openai", reason="No key."),
        fts=FtsStatus(enabled=True, available=False, error="No FTS5."),
        vector=VectorStatus(
            enabled=True,
            available=False,
            extension_path=None,
            load_error="Not found.",
            dims=512,
            engine="numpy",
            rows=0,
            requested="sqlite-vec",
            reason="sqlite-vec can't be loaded.",
        ),
        batch=BatchStatus(
            enabled=True,
            failures=1,
            limit=2,
            wait=True,
            concurrency=2,
            poll_interval_ms=2000,
            timeout_ms=1,
            last_error="Quota.",
            last_provider="openai",
        ),
        custom={
            "providerUnavailableReason": "Not installed.",
            "providerError": "Gone.",
            "unknownScripts": ["Ethiopic", "Georgian", "Greek", "Hebrew", "Khmer", "Lao"],
        },
        pending_vectors=9,
        last_sync=make_summary(error="The disk is full."),
        writer_elsewhere=True,
        index_error="Set aside.",
        failed_files=(
            FileIssue(path="a.md", rule="not-utf8", detail="Byte 3."),
            FileIssue(path="b.md", rule="not-embedded", detail="The service refused it."),
        ),
    )
    out = run("status").out
    lines = fields(out)
    assert lines["Out of date"] == "yes: another program is updating it"
    assert lines["Extra paths"] == "/a, /b"
    assert lines["Fallback"] == "from openai: No key."
    assert lines["Keywords"] == "unavailable: No FTS5."
    assert lines["Vector search method"] == "sqlite-vec can't be loaded. Not found."
    assert lines["Vectors"] == "0 searched with numpy, 512 dimensions; 9 pending"
    assert lines["Batch"] == "enabled (failures 1/2)"
    assert lines["Batch error"] == "Quota."
    assert lines["Unavailable"] == "Not installed."
    assert lines["Last failure"] == "Gone."
    assert lines["Unknown to the model"] == "Ethiopic, Georgian, Greek, Hebrew and 2 more scripts (found by words only)"
    assert lines["Last update"].endswith("manual: The disk is full.")
    assert lines["Index error"] == "Set aside."
    assert "Writing now" in lines
    assert "Could not be read:\n  not-utf8  a.md  Byte 3." in out
    assert "Could not be embedded:\n  not-embedded  b.md  The service refused it." in out


def test_vector_engine_is_shown_with_its_reason(run: Run, memory: FakeMemory) -> None:
    vector = VectorStatus(
        enabled=True,
        available=True,
        extension_path=None,
        load_error=None,
        dims=1,
        engine="sqlite-vec",
        rows=1,
        requested="auto",
        reason="Automatic.",
        switches_at=7,
    )
    memory.set_status(vector=vector)
    assert fields(run("status").out)["Vector search method"] == "Automatic."
    memory.set_status(vector=msgspec.structs.replace(vector, enabled=False))
    assert "Vector search method" not in fields(run("status").out)


def test_vectors_of_another_program_are_counted_without_dims(run: Run, memory: FakeMemory) -> None:
    vector = msgspec.structs.replace(make_status().vector, engine="qmd", dims=None, rows=9, requested="")
    memory.set_status(backend="qmd", vector=vector)
    assert fields(run("status").out)["Vectors"] == "9 searched with qmd"
    memory.set_status(vector=msgspec.structs.replace(vector, rows=0, load_error="qmd has no vectors yet."))
    lines = fields(run("status").out)
    assert (lines["Vectors"], "Vector search method" in lines) == ("off: qmd has no vectors yet.", False)


def test_degraded_parts_have_a_line_and_a_json_field(run: Run, memory: FakeMemory) -> None:
    assert "Degraded" not in run("status").out
    assert run("status", "--json").json["degraded"] == []
    parts = (Degraded("watcher", "No watches left.", "Restart."), Degraded("index", "Set aside.", ""))
    memory.set_status(degraded=parts)
    answer = run("status")
    assert answer.code == 0
    shown_parts = re.findall(r"^Degraded: +(.*)$", answer.out, re.MULTILINE)
    assert shown_parts == ["watcher: No watches left. Restart.", "index: Set aside."]
    first = run("status", "--json").json["degraded"][0]
    assert first == {"part": "watcher", "reason": "No watches left.", "remedy": "Restart."}


def test_deep_status_tests_provider_and_sqlite_vec(run: Run, memory: FakeMemory) -> None:
    memory.vectors = False
    lines = fields(run("status", "--deep").out)
    assert lines["Embedding test"] == "unavailable: No provider is configured."
    assert lines["sqlite-vec test"] == "ready"


def test_json_is_the_record(run: Run) -> None:
    status = run("status", "--json").json
    assert status["requestedProvider"] == "auto"
    assert status["sourceCounts"][0] == {"source": "memory", "files": 3, "chunks": 6}
    assert "embeddingProbe" not in status
    assert run("status", "--json", "--deep").json["embeddingProbe"] == {"ok": True, "error": ""}


@pytest.mark.parametrize("last", [None, make_summary(cancelled=True), make_summary(error="The disk is full.")])
def test_interrupted_update_means_out_of_date(run: Run, memory: FakeMemory, last) -> None:
    memory.set_status(dirty=False, last_sync=last)
    assert fields(run("status").out)["Out of date"].startswith("yes")


@pytest.fixture
def notes(folder: Path) -> Path:
    (folder / "a.md").write_text("A brass lamp.\n")
    return folder


@pytest.mark.parametrize("searched_before", [False, True])
def test_a_missing_qmd_is_named_without_deep(verb: Run, notes: Path, settings: Path, searched_before: bool) -> None:
    settings.write_text(settings.read_text() + 'backend = "qmd"\nqmd.command = "no-such-qmd"\n')
    if searched_before:
        assert "a.md" in verb("search", "lamp").out  # the built-in index is the fallback
    lines = fields(verb("status").out)
    assert "The command no-such-qmd was not found" in lines["Index error"]
    assert "npm i -g @tobilu/qmd" in lines["Index error"]
    assert lines["Keywords"].startswith("unavailable: ")
    assert "no-such-qmd" in verb("status", "--json").json["indexError"]


def test_a_missing_model_file_is_named_without_deep(verb: Run, notes: Path, settings: Path) -> None:
    pytest.importorskip("xllamacpp")
    settings.write_text(settings.read_text().replace('"none"', '"gguf"') + 'local.model_path = "/no/such.gguf"\n')
    lines = fields(verb("status").out)
    assert lines["Provider"] == "none (requested: gguf)"
    assert "/no/such.gguf" in lines["Unavailable"]
