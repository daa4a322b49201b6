import msgspec
import pytest
from PySide6.QtGui import QFontMetrics

from engine import (
    BatchJobStatus,
    BatchStatus,
    FallbackStatus,
    FileIssue,
    FtsStatus,
    MemoryProviderStatus,
    UserDataStatus,
    VectorStatus,
    WatcherStatus,
)
from engine.base import language
from engine.memory.status_report import with_degraded
from gui.diagnostics.group_view import label_width
from gui.diagnostics.status_diagnostics import Diagnostic, diagnostics_of
from gui.style.stylesheet import BASE_PIXELS, font_at
from tests.helpers.fake_records import make_estimate, make_progress, make_status, make_summary

NOW = 1_772_535_600.0


def _diagnostic(group: str, label: str, **changes) -> Diagnostic:
    groups = {found.title: found for found in diagnostics_of(make_status(**changes), NOW)}
    return next(diagnostic for diagnostic in groups[group].diagnostics if diagnostic.label == label)


def _vector(**changes) -> VectorStatus:
    return msgspec.structs.replace(make_status().vector, **changes)


def test_group_order_is_constant():
    wanted = [
        "Search engine",
        "Index",
        "Sources",
        "Embedding",
        "Keywords",
        "Vectors",
        "Cache",
        "Batch jobs",
        "Updates",
        "Watcher",
    ]
    wanted.append("Missing features")
    busy = make_status(syncing=make_progress(), failed_files=(FileIssue(path="a", rule="b", detail="c"),))
    for status in (make_status(), busy, make_status(files=0, chunks=0, source_counts=(), last_sync=None)):
        assert [group.title for group in diagnostics_of(status, NOW)] == wanted


def test_labels_are_unique_within_group():
    paid = {"tokens": 1200, "cost": 0.02}
    for group in diagnostics_of(make_status(syncing=make_progress(**paid), last_sync=make_summary(**paid)), NOW):
        labels = [diagnostic.label for diagnostic in group.diagnostics]
        assert len(set(labels)) == len(labels), group.title


@pytest.mark.parametrize("tag", ["en", "de"])
def test_labels_are_narrower_than_their_column(qtbot, tag):
    language.set_language(tag)
    try:
        many = make_status(
            syncing=make_progress(tokens=1200, cost=0.02),
            last_sync=make_summary(tokens=1200, cost=0.02),
            failed_files=(FileIssue(path="a", rule="b", detail="c"),),
            custom={"unknownScripts": ["Greek"], "key": "keychain", "remote": True, "server": "work.example"},
            user_data=UserDataStatus(problem="It is missing.", backup=None),
        )
        labels = {
            diagnostic.label
            for status in (make_status(), many)
            for group in diagnostics_of(status, NOW)
            for diagnostic in group.diagnostics
        }
        metrics = QFontMetrics(font_at(BASE_PIXELS))
        assert len(labels) > 25
        assert [words for words in labels if metrics.horizontalAdvance(words) >= label_width()] == []
    finally:
        language.set_language("en")


@pytest.mark.parametrize(
    ("changes", "state", "value", "remedy"),
    [
        ({}, "fine", "up to date", None),
        ({"dirty": True}, "working", "changes waiting", "sync"),
        ({"files": 0}, "off", "empty", "sync"),
        ({"syncing": make_progress()}, "working", "embedding, 48%", None),
        ({"syncing": make_progress(), "paused": True}, "off", "paused, 48%", None),
        ({"writer_elsewhere": True}, "working", "another program is indexing", None),
        ({"index_error": "It was damaged."}, "degraded", "had a problem with the index", "rebuild"),
        ({"index_error": "It is gone.", "backend": "qmd"}, "degraded", "had a problem with the index", "sync"),
        ({"index_error": "No rights.", "custom": {"readOnly": "No rights."}}, "degraded", "read only", "show-index"),
    ],
)
def test_index_state_value_and_remedy(changes, state, value, remedy):
    found = _diagnostic("Index", "State", **changes)
    assert (found.state, found.value, found.remedy) == (state, value, remedy)


def test_engine_in_use_shows_name_and_state_fine():
    assert _diagnostic("Search engine", "In use").value == "built-in index"
    lacking = {
        "backend": "qmd",
        "unsupported": {"insight": "qmd keeps its index to itself.", "path-states": "It does not tell."},
    }
    in_use = _diagnostic("Search engine", "In use", **lacking)
    assert (in_use.value, in_use.state) == ("qmd", "fine")


def test_unsupported_features_are_listed_last():
    unsupported = {
        "insight": "qmd keeps its index to itself. The built-in index supports this.",
        "path-states": "It does not tell.",
    }
    *others, last = diagnostics_of(make_status(backend="qmd", unsupported=unsupported), NOW)
    assert [diagnostic.label for diagnostic in others[0].diagnostics] == ["In use"]
    assert [(diagnostic.label, diagnostic.state, diagnostic.value) for diagnostic in last.diagnostics] == [
        ("Index view", "off", "qmd keeps its index to itself."),
        ("File status", "off", "It does not tell."),
        ("Alternative", None, "the built-in index supports all of this"),
    ]
    assert last.diagnostics[-1].remedy == "engine"
    assert diagnostics_of(make_status(), NOW)[-1].diagnostics == ()


def test_engine_fallback_differs_from_provider_fallback():
    reason = "qmd search took longer than 4 s and was stopped."
    replaced = {
        "fallback": FallbackStatus(from_="qmd", reason=reason),
        "custom": {"fallback": {"disabled": True, "reason": reason}, "providerFallback": None},
    }
    found = _diagnostic("Search engine", "In use", **replaced)
    assert (found.state, found.value, found.reason) == ("degraded", "built-in index instead of qmd", reason)
    assert found.remedy == "try-again"
    assert _diagnostic("Embedding", "Fallback", **replaced).value == "not in use"
    both = replaced | {"custom": replaced["custom"] | {"providerFallback": {"from": "openai", "reason": "No key."}}}
    assert _diagnostic("Embedding", "Fallback", **both).value == "instead of OpenAI-compatible"


def test_texts_destination_and_key_source_are_shown():
    skipped = ["openai: no key."]
    here = {"remote": False, "server": None, "consent": None, "keyOrigin": None, "skippedProviders": skipped}
    found = _diagnostic("Embedding", "Texts", custom=here)
    assert (found.value, found.tip) == ("stay on this machine", "openai: no key.")
    away = here | {"remote": True, "consent": "agreed to", "skippedProviders": [], "keyOrigin": "the keychain"}
    found = _diagnostic("Embedding", "Texts", provider="gemini", custom=away)
    assert found.value == "sent to gemini"
    assert "You agreed to this provider" in found.tip
    assert _diagnostic("Embedding", "Texts", custom=away | {"server": "work.example"}).value == "sent to work.example"
    assert _diagnostic("Embedding", "Key", custom=away).value == "in the keychain"
    variable = _diagnostic("Embedding", "Key", custom=away | {"keyOrigin": "the environment variable OPENAI_API_KEY"})
    assert (variable.value, variable.tip) == (
        "in an environment variable",
        "The API key comes from the environment variable OPENAI_API_KEY.",
    )


def test_remote_fallback_appears_in_texts_destination():
    custom = {"remote": False, "server": None, "remoteFallback": {"provider": "openai", "server": "api.openai.com"}}
    found = _diagnostic("Embedding", "Texts", provider="embedded", custom=custom)
    assert (found.value, found.tip) == (
        "to api.openai.com as fallback",
        "If this provider fails, texts are sent to api.openai.com.",
    )
    away = _diagnostic("Embedding", "Texts", provider="voyage", custom=custom | {"remote": True})
    assert away.value == "sent to voyage"
    assert "If this provider fails, texts are sent to api.openai.com." in away.tip


def _watcher(mode: str, error: str) -> WatcherStatus:
    return WatcherStatus(enabled=True, mode=mode, roots=("a",), last_change=None, error=error)  # type: ignore[arg-type]


DEGRADED: list[tuple[str, str, dict]] = [
    ("Keywords", "State", {"fts": FtsStatus(enabled=True, available=False, error="No FTS5.")}),
    ("Vectors", "sqlite-vec", {"vector": _vector(requested="auto", available=False, load_error="No wheel.")}),
    ("Embedding", "Provider", {"provider": "none", "custom": {"providerUnavailableReason": "No model."}}),
    ("Embedding", "Provider", {"custom": {"providerError": "It did not answer."}}),
    ("Index", "Not indexed", {"failed_files": (FileIssue(path="a.md", rule="not-utf-8", detail="Byte 0xE9."),)}),
    ("Embedding", "Fallback", {"fallback": FallbackStatus(from_="openai", reason="No key.")}),
    ("Updates", "Last update", {"last_sync": make_summary(error="The disk is full.")}),
    (
        "Watcher",
        "Watching",
        {
            "watcher": WatcherStatus(
                enabled=True, mode="polling", roots=("a",), last_change=None, error="Watches ran out."
            )
        },
    ),
    ("Watcher", "Watching", {"watcher": _watcher("off", "No such folder.")}),
    ("Watcher", "Watching", {"watcher": _watcher("native", "A folder is not there.")}),
    (
        "Watcher",
        "Watching",
        {"watcher": WatcherStatus(enabled=False, mode="off", roots=(), last_change=None, error="No such folder.")},
    ),
    ("Vectors", "State", {"pending_vectors": 9, "awaiting_approval": make_estimate()}),
    (
        "Batch jobs",
        "State",
        {"batch": msgspec.structs.replace(make_status().batch, enabled=True, failures=2, last_error="Refused.")},
    ),
]


@pytest.mark.parametrize(("group", "label", "changes"), DEGRADED)
def test_degraded_value_has_reason_and_remedy(group, label, changes):
    found = _diagnostic(group, label, **changes)
    assert found.state == "degraded"
    assert found.reason
    assert found.remedy


@pytest.mark.parametrize(("group", "label", "changes"), DEGRADED)
def test_degraded_value_matches_degraded_part(group, label, changes):
    """The command line names the same parts as the window."""
    [part] = with_degraded(make_status(**changes)).degraded
    assert part.reason
    assert part.remedy


def test_healthy_status_has_no_degraded_part_or_value():
    status = make_status(last_sync=make_summary())
    assert with_degraded(status).degraded == ()
    shown = [diagnostic for group in diagnostics_of(status, NOW) for diagnostic in group.diagnostics]
    assert all(diagnostic.state != "degraded" for diagnostic in shown)


def test_unneeded_sqlite_vec_is_not_degraded():
    for requested, switches_at in (("numpy", None), ("auto", 2000)):
        vector = _vector(requested=requested, switches_at=switches_at, available=False, load_error="No wheel.")
        assert _diagnostic("Vectors", "sqlite-vec", vector=vector).state == "off"
        assert with_degraded(make_status(vector=vector)).degraded == ()


@pytest.mark.parametrize(
    ("group", "label", "changes"),
    [
        ("Vectors", "State", {"vector": _vector(enabled=False)}),
        ("Embedding", "Provider", {"provider": "none", "requested_provider": "none"}),
        ("Batch jobs", "State", {}),
        (
            "Watcher",
            "Watching",
            {"watcher": WatcherStatus(enabled=False, mode="off", roots=(), last_change=None, error=None)},
        ),
        ("Updates", "Last update", {"last_sync": None}),
    ],
)
def test_disabled_feature_is_off_not_degraded(group, label, changes):
    assert _diagnostic(group, label, **changes).state == "off"


def test_failed_files_take_precedence_over_skipped():
    issue = FileIssue(path="a.md", rule="not-utf-8", detail="Byte 0xE9.")
    both = _diagnostic("Index", "Not indexed", failed_files=(issue,), skipped_files=(issue,) * 31)
    assert (both.state, both.value, both.remedy) == ("degraded", "1 failed, 31 skipped", "show-failed")
    skipped = _diagnostic("Index", "Not indexed", skipped_files=(issue,) * 31)
    assert (skipped.state, skipped.value, skipped.remedy) == (None, "31 skipped", "show-skipped")


def test_pending_vectors_are_counted_against_total():
    found = _diagnostic("Vectors", "State", pending_vectors=13_563, vector=_vector(rows=12_480))
    assert (found.state, found.value) == ("working", "12,480 of 26,043")


@pytest.mark.parametrize(
    ("due", "takes"),
    [
        ({}, "$0.15 at $0.02 per million"),
        ({"cost": None, "price": None}, "at an unknown price"),
        ({"cost": 0.0, "provider": "gguf"}, "about 9 min 0 s, no cost"),
    ],
)
def test_vectors_awaiting_consent_show_estimate(due, takes):
    found = _diagnostic("Vectors", "State", pending_vectors=25_000, awaiting_approval=make_estimate(**due))
    assert (found.state, found.remedy) == ("degraded", "embed")
    assert "25,000 passages" in found.reason
    assert takes in found.reason


def test_search_is_keyword_only_before_first_vector():
    assert _diagnostic("Sources", "Search").value == "by words and meaning"
    assert _diagnostic("Sources", "Search", vector=_vector(rows=0)).value == "by words only"


def test_failing_provider_marks_pending_vectors_degraded():
    failing = {"pending_vectors": 9, "custom": {"providerError": "The server cannot be reached."}}
    assert _diagnostic("Vectors", "State", **failing).state == "degraded"
    assert _diagnostic("Vectors", "State", **failing, syncing=make_progress()).state == "working"


def test_cache_shows_vector_count_per_model():
    found = _diagnostic("Cache", "Entries")
    assert "use-multilingual-v3: 7 vectors" in found.tip


def test_user_data_with_backup_offers_restore():
    lost = UserDataStatus(problem="It is missing.", backup=1.0)
    found = _diagnostic("Index", "User data", user_data=lost)
    assert (found.state, found.reason, found.remedy) == ("degraded", "It is missing.", "restore-data")
    without = _diagnostic("Index", "User data", user_data=UserDataStatus(problem="It is missing.", backup=None))
    assert without.remedy is None


def test_every_status_field_affects_readings():
    """The test fails if a new field of the record is missing in the diagnostics."""
    base = make_status(last_sync=make_summary(), extra_paths=("/x",), pending_vectors=2)
    other = {
        "backend": "qmd",
        "sources": None,  # their counts are shown
        "recent_syncs": None,  # drawn as bars
        "custom": {"searchMode": "keyword"},
        "db_path": "/elsewhere",
        "provider": "openai",
        "model": "m2",
        "requested_provider": "openai",
        "files": 99,
        "chunks": 99,
        "dirty": True,
        "workspace_dir": "/other",
        "extra_paths": ("/x", "/y"),
        "source_counts": (),
        "cache": msgspec.structs.replace(base.cache, entries=99),
        "fts": FtsStatus(enabled=False, available=False, error=None),
        "fallback": FallbackStatus(from_="a", reason="b"),
        "vector": _vector(rows=99),
        "batch": BatchStatus(**{**msgspec.structs.asdict(base.batch), "enabled": True}),
        "pending_vectors": 3,
        "failed_files": (FileIssue(path="a", rule="b", detail="c"),),
        "skipped_files": (FileIssue(path="a", rule="b", detail="c"),),
        "last_sync": make_summary(files_indexed=77),
        "sizes": msgspec.structs.replace(base.sizes, wal=99_000_000),
        "generation": 99,
        "watcher": msgspec.structs.replace(base.watcher, last_change=NOW - 14),
        "syncing": make_progress(),
        "paused": None,  # only while syncing
        "writer_elsewhere": True,
        "index_error": "Damaged.",
        "user_data": UserDataStatus(problem="It is missing.", backup=1.0),
        "awaiting_approval": make_estimate(),
        "unsupported": {"insight": "Nobody can look into it."},
        "degraded": None,  # each part has a value of its own
    }
    assert set(other) == set(MemoryProviderStatus.__struct_fields__)
    before = diagnostics_of(base, NOW)
    for field, value in other.items():
        if value is not None:
            assert diagnostics_of(msgspec.structs.replace(base, **{field: value}), NOW) != before, field


def test_scripts_unknown_to_model_are_listed():
    found = _diagnostic("Embedding", "Alphabets", custom={"unknownScripts": ["Greek", "Thai"]})
    assert found.value == "2 found by keywords only"
    assert "Greek, Thai" in found.tip


def _batch(**options):
    return msgspec.structs.replace(make_status().batch, **options)


def test_open_batch_jobs_show_state_and_age():
    job = BatchJobStatus(
        provider="openai", model="small", id="b1", state="in_progress", texts=1234, created=NOW - 7200, attempt=1
    )
    found = _diagnostic("Batch jobs", "Jobs", batch=_batch(enabled=True, jobs=(job,)))
    assert (found.state, found.value) == ("working", "1 job open")
    assert found.tip == "openai, small: 1,234 texts, in_progress, begun 2 h ago"


def test_batch_job_with_few_failed_texts_is_not_degraded():
    found = _diagnostic(
        "Batch jobs", "State", batch=_batch(enabled=True, last_error="3 of 40 texts.", last_provider="openai")
    )
    assert found.state == "fine"
    assert "openai: 3 of 40 texts." in found.tip
