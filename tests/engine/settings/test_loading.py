from pathlib import Path

import pytest

from engine.base.errors import SettingsError
from engine.settings import Settings, load_settings, settings_path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def load(config: Path, text: str, workspace: Path | None = None) -> Settings:
    config.write_text(text, encoding="utf-8", newline="")
    return load_settings(workspace, config=config)


def refusal(config: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(config, text)
    message = str(caught.value)
    assert message.startswith(str(config))
    assert "\n" not in message
    return message.removeprefix(str(config))


def test_defaults_are_the_references_but_for_the_provider() -> None:
    settings = Settings()
    assert (settings.provider, settings.fallback, settings.sources) == ("embedded", "none", ("memory",))
    assert (settings.chunking.tokens, settings.chunking.overlap) == (400, 80)
    assert (settings.query.max_results, settings.query.min_score) == (6, 0.35)
    assert settings.query.hybrid.candidate_multiplier == 4
    assert settings.query.hybrid.vector_weight is None
    assert settings.sync.on_session_start
    assert settings.sync.on_search
    assert settings.sync.watch
    assert (settings.sync.watch_debounce_ms, settings.sync.interval_minutes) == (1500, 0)
    assert settings.cache.max_entries == 50_000


def test_missing_default_settings_file_gives_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.settings.loading.user_folder", lambda _: tmp_path / "none")
    assert settings_path() == tmp_path / "none" / "settings.toml"
    assert load_settings(tmp_path) == Settings()
    assert not (tmp_path / "none").exists()


def test_a_named_file_must_exist(config: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(config=config)


def test_workspace_layer_overrides_defaults(config: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "link").symlink_to(notes)
    text = f"""
[defaults]
extra_paths = ["a", "b"]
query.max_results = 9
[defaults.chunking]
tokens = 300
[workspace."{tmp_path}/link"]
extra_paths = ["b", "c"]
chunking.overlap = 10
[workspace."{tmp_path}/other"]
query.max_results = 1
"""
    settings = load(config, text, notes)
    assert (settings.chunking.tokens, settings.chunking.overlap) == (300, 10)
    assert settings.query.max_results == 9
    assert settings.extra_paths == ("a", "b", "c")
    assert load(config, text).extra_paths == ("a", "b")


def test_a_home_relative_workspace_is_found(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert load(config, '[workspace."~/notes"]\nprovider = "none"', tmp_path / "notes").provider == "none"


@pytest.mark.parametrize(
    ("given", "section", "name", "expected"),
    [
        ("chunking.tokens = 0", "chunking", "tokens", 1),
        ("chunking.overlap = 900", "chunking", "overlap", 399),
        ("chunking.overlap = -1", "chunking", "overlap", 0),
        ("query.min_score = 1.5", "query", "min_score", 1),
        ("query.min_score = -3", "query", "min_score", 0),
        ("sync.watch_debounce_ms = -5", "sync", "watch_debounce_ms", 0),
        ("cache.max_entries = 0", "cache", "max_entries", 1),
    ],
)
def test_numbers_move_to_the_end_of_their_range(
    config: Path, given: str, section: str, name: str, expected: float
) -> None:
    assert getattr(getattr(load(config, f"[defaults]\n{given}"), section), name) == expected


@pytest.mark.parametrize(("given", "expected"), [(0, 1), (21, 20), (7, 7)])
def test_the_multiplier_is_between_1_and_20(config: Path, given: int, expected: int) -> None:
    hybrid = load(config, f"[defaults.query.hybrid]\ncandidate_multiplier = {given}").query.hybrid
    assert hybrid.candidate_multiplier == expected


@pytest.mark.parametrize(
    ("given", "vector", "text"),
    [
        ("vector_weight = 0.5\ntext_weight = 0.5", 0.5, 0.5),
        ("vector_weight = 9\ntext_weight = 1", 0.5, 0.5),
        ("vector_weight = 0\ntext_weight = 0", 0.7, 0.3),
        ("text_weight = 0.1", 0.875, 0.125),
        ("vector_weight = 0", 0.0, 1.0),
    ],
)
def test_hybrid_weights_are_normalised_to_shares(config: Path, given: str, vector: float, text: float) -> None:
    hybrid = load(config, f"[defaults.query.hybrid]\n{given}").query.hybrid
    assert hybrid.vector_weight == pytest.approx(vector)
    assert hybrid.text_weight == pytest.approx(text)


def test_empty_sources_mean_the_notes(config: Path) -> None:
    assert load(config, "[defaults]\nsources = []").sources == ("memory",)


def test_windows_line_ends_and_byte_order_mark_are_read(config: Path) -> None:
    assert load(config, '\ufeff[defaults]\r\nprovider = "none"\r\n').provider == "none"


ENTRIES = ', line 2: "sessions.machines" must have entries such as laptop=~/Sync/laptop.'
MACHINES = ', line 2: "sessions.machines" must be a list of names with folders, such as ["laptop=~/Sync/laptop"].'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "version = 1\n\n[defaults.query]\nmin_scroe = 1",
            ', line 4: "query.min_scroe" is not known; did you mean "min_score"?',
        ),
        ("[defaults]\nzzzzz = 1", ', line 2: "zzzzz" is not known.'),
        ('version = 1\nprovider = "openai"', ', line 2: "provider" belongs below the line [defaults].'),
        ("[query]\n", ', line 1: "query" is a table of its own: write [defaults.query].'),
        (
            '[workspace."/a.b"]\nminScore = 1',
            ', line 2: "minScore" belongs below one of the lines [workspace."/a.b".query], [workspace."/a.b".qmd].',
        ),
        (
            '[workspace]\nprovider = "openai"',
            ', line 2: "workspace.provider" must be in a table such as [defaults] or [workspace."/path/to/notes"].',
        ),
        ("[defaultz]\n", ', line 1: "defaultz" is not known; did you mean "defaults"?'),
        (
            '[defaults]\nfacts.agent_writes = "no"',
            ', line 2: "facts.agent_writes" must be "on", "review" or "off".',
        ),
        ('[defaults]\nsync.watch = "yes"', ', line 2: "sync.watch" must be true or false.'),
        ("[defaults]\nquery = 3", ', line 2: "query" must be a table of options.'),
        ("[defaults]\nquery.min_score = nan", ', line 2: "query.min_score" must be a number.'),
        ("[defaults]\nquery.max_results = 1.5", ', line 2: "query.max_results" must be a whole number.'),
        ('[defaults]\nextra_paths = "a"', ', line 2: "extra_paths" must be a list of texts in quotes.'),
        ('[defaults.sessions]\nmachines = "laptop"', MACHINES),
        *((f"[defaults.sessions]\nmachines = {value}", ENTRIES) for value in ('["~/Sync"]', '["=~/a"]')),
        ('[defaults]\nsources = ["mail"]', ', line 2: "sources" must be a list of "memory" or "sessions".'),
        ("[defaults]\nmodel = 7", ', line 2: "model" must be text in quotes.'),
        (
            "[defaults.query.hybrid]\n\ntext_weight = true",
            ', line 3: "query.hybrid.text_weight" must be a number.',
        ),
        (
            '[workspace."/a"]\nworkspace = "/b"',
            ', line 2: "workspace" can only be set in [defaults].',
        ),
        ('[workspace."/a.b"]\nquery.x = 1', ', line 2: "query.x" is not known.'),
        (
            "workspace = 1",
            ', line 1: "workspace" must consist of tables such as [workspace."/path/to/notes"].',
        ),
        ("version = 0", ', line 1: "version" must be a whole number from 1.'),
        (
            "\nversion = 2",
            ', line 2: "version" is 2: a newer version of the program wrote this file; this one knows 1.',
        ),
        ("[defaults]\na = ", ", line 2: the settings cannot be read: invalid value. Correct this line."),
        ("[defaults]\n\na = [1,\n2\n", ", line 4: the settings cannot be read: unclosed array. Correct this line."),
        (
            "[defaults]\na = 1\na = 2\n",
            ", line 3: the settings cannot be read: cannot overwrite a value. Correct this line.",
        ),
    ],
)
def test_refusals_name_line_and_key(config: Path, text: str, expected: str) -> None:
    assert refusal(config, text) == expected


@pytest.mark.parametrize("key", ["api_key", "openaiApiKey", "bearer-token", "PASSWORD", "client_secret"])
def test_secret_refused_with_hint_never_repeated(config: Path, key: str) -> None:
    message = refusal(config, f'[defaults]\n{key} = "sk-verysecret"')
    assert "environment variable" in message
    assert "verysecret" not in message


def test_text_that_is_not_utf8_names_its_line(config: Path) -> None:
    config.write_bytes(b'[defaults]\nmodel = "\xff"\n')
    with pytest.raises(SettingsError, match=r"line 2: the settings must be UTF-8"):
        load_settings(config=config)


def test_folder_in_place_of_file_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(config=tmp_path)


def test_ranking_extras_are_off_and_keep_the_references_ranges(config: Path) -> None:
    hybrid = Settings().query.hybrid
    assert (hybrid.mmr.enabled, hybrid.mmr.lambda_) == (False, 0.7)
    assert (hybrid.temporal_decay.enabled, hybrid.temporal_decay.half_life_days) == (False, 30)
    text = """
[defaults.query.hybrid]
mmr = { enabled = true, lambda = 1.5 }

[defaults.query.hybrid.temporal_decay]
enabled = true
half_life_days = 0.5
evergreen = ["reference/"]
half_life_by_path = { "daily/**" = 7.9, "people/**" = 0, "log/**" = 0.2 }
"""
    hybrid = load(config, text).query.hybrid
    assert (hybrid.mmr.enabled, hybrid.mmr.lambda_) == (True, 1)
    assert (hybrid.temporal_decay.enabled, hybrid.temporal_decay.half_life_days) == (True, 1)
    assert hybrid.temporal_decay.evergreen == ("reference/",)
    assert hybrid.temporal_decay.half_life_by_path == {"daily/**": 7, "people/**": 0, "log/**": 1}
    assert load(config, text.replace("0.5", "45.9")).query.hybrid.temporal_decay.half_life_days == 45


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("mmr.lambda_ = 0.5", 'line 2: "query.hybrid.mmr.lambda_" is not known; did you mean "lambda"?'),
        (
            'temporal_decay.half_life_by_path."a/**" = -1',
            'line 2: "query.hybrid.temporal_decay.half_life_by_path.a/**" must be a number of days; '
            "0 is for files that never age.",
        ),
    ],
)
def test_error_explains_invalid_ranking_option(config: Path, line: str, refused: str) -> None:
    assert refusal(config, f"[defaults.query.hybrid]\n{line}\n") == f", {refused}"


OLD = """# mine
[defaults]
extraPaths = ["a"] # here
maxFileBytes = 5
query = { minScore = 0.1, maxResults = 2 }

[defaults.store.vector]
extensionPath = "x" # there

[workspace."/notes".sync]
watchDebounceMs = 7

[workspace."/notes".query.hybrid.temporalDecay] # below
halfLifeDays = 3
"""


@pytest.fixture
def old_config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(OLD)
    return path


def test_reference_names_replaced_old_file_saved(old_config: Path) -> None:
    settings = load_settings(Path("/notes"), config=old_config)
    assert (settings.extra_paths, settings.max_file_bytes) == (("a",), 5)
    assert (settings.query.min_score, settings.query.max_results) == (0.1, 2)
    assert settings.store.vector.extension_path == "x"
    assert settings.sync.watch_debounce_ms == 7
    assert settings.query.hybrid.temporal_decay.half_life_days == 3
    assert old_config.with_name("settings.toml.bak").read_text() == OLD
    changed = OLD
    for old, new in [
        ("extraPaths", "extra_paths"),
        ("maxFileBytes", "max_file_bytes"),
        ("minScore", "min_score"),
        ("maxResults", "max_results"),
        ("extensionPath", "extension_path"),
        ("watchDebounceMs", "watch_debounce_ms"),
        ("temporalDecay", "temporal_decay"),
        ("halfLifeDays", "half_life_days"),
        ("# mine\n", "# mine\nversion = 1\n"),
    ]:
        changed = changed.replace(old, new)
    assert old_config.read_text().replace("\n\n", "\n") == changed.replace("\n\n", "\n")
    assert load_settings(Path("/notes"), config=old_config) == settings


def test_former_names_replaced(old_config: Path) -> None:
    old_config.write_text(
        '[defaults]\nremote.agreed = ["voyage"]\nwindow.keep_searches = false\nqmd.paths = {agreed = "~/agreed"}\n'
        'window.keys = {"index.turn" = ["G"], "file.wrap" = []}\n'
        "[defaults.sessions]\ncontext_characters = 600\n[defaults.remember]\nlongest_message = 200\n"
    )
    settings = load_settings(config=old_config)
    assert (settings.remote.approved, settings.window.search_history) == (("voyage",), False)
    assert (settings.sessions.context_max_chars, settings.remember.max_message_chars) == (600, 200)
    assert settings.window.keys == {"index.toggle-table": ("G",), "file.wrap": ()}
    assert list(settings.qmd.paths) == ["agreed"]
    assert "remote.agreed" not in old_config.read_text()


def test_unwritable_settings_file_still_applies(old_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engine.base.private_files.replacing", refuse)
    assert load_settings(config=old_config).query.min_score == 0.1
    assert old_config.read_text() == OLD


def test_both_names_together_refused(old_config: Path) -> None:
    old_config.write_text("[defaults.query]\nminScore = 0.1\nmin_score = 0.2\n")
    with pytest.raises(SettingsError, match=r'line 2: "query.minScore" is the old name of "min_score"'):
        load_settings(config=old_config)


def test_an_unknown_key_of_an_old_file_is_still_refused(old_config: Path) -> None:
    old_config.write_text("[defaults.query]\nminScore = 0.1\nminScores = 0.2\n")
    with pytest.raises(SettingsError, match="minScores"):
        load_settings(config=old_config)
