from pathlib import Path

import pytest

import engine
from engine import BackendError, FallbackStatus, IndexTooNew, Settings, SettingsError
from engine.settings.search_settings import QuerySettings
from gui.core.workspace import Workspace
from gui.text.status_texts import FailedService
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_unsupported import LimitedMemory, reason


@pytest.fixture
def opens(monkeypatch) -> list[FakeMemory]:
    """Every memory that was opened, in order."""
    made: list[FakeMemory] = []

    def open_fake(folder, settings, *, executor, background):
        assert background
        assert isinstance(settings, Settings)
        assert executor.submit(abs, -1).result() == 1
        made.append(FakeMemory())
        return made[-1]

    monkeypatch.setattr(engine, "open_memory", open_fake, raising=False)
    return made


@pytest.fixture
def workspace(jobs, opens) -> Workspace:
    workspace = Workspace(jobs)
    yield workspace
    workspace.feed.set_manager(None)
    workspace.close_all_now()


def _open(qtbot, workspace: Workspace, folder: Path) -> None:
    with qtbot.waitSignal(workspace.opened):
        workspace.open(folder)


def test_open_sets_current_and_status(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    assert workspace.current.folder == tmp_path
    qtbot.waitUntil(lambda: workspace.status is not None)
    assert workspace.current.manager is opens[0]


def test_opening_another_folder_closes_the_first(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    _open(qtbot, workspace, tmp_path)
    qtbot.waitUntil(lambda: opens[0].closed)
    assert not opens[1].closed


@pytest.mark.parametrize(
    ("error", "in_settings"),
    [(IndexTooNew("A newer version wrote this index."), False), (SettingsError("line 3"), True)],
)
def test_open_failure_reports_sentence_and_kind(qtbot, workspace, monkeypatch, tmp_path, error, in_settings):
    def refuse(*_args, **_options):
        raise error

    monkeypatch.setattr(engine, "open_memory", refuse)
    with qtbot.waitSignal(workspace.failed) as failed:
        workspace.open(tmp_path)
    assert (failed.args[0].sentence, failed.args[0].in_settings) == (str(error), in_settings)
    assert workspace.current is None


def test_missing_folder_fails_before_index_is_created(qtbot, workspace, opens, tmp_path):
    with qtbot.waitSignal(workspace.failed) as failed:
        workspace.open(tmp_path / "gone")
    assert "gone" in failed.args[0].sentence
    assert opens == []


def test_manager_opened_during_shutdown_is_closed(qtbot, jobs, opens, tmp_path):
    workspace = Workspace(jobs)
    workspace.open(tmp_path)
    qtbot.waitUntil(lambda: bool(opens))
    workspace.feed.set_manager(None)
    assert jobs.shutdown(60_000, last=workspace.close_all_now)
    workspace.close_all_now()
    assert opens[0].closed
    workspace.deleteLater()


def test_several_opens_leave_only_the_last_one_open(qtbot, workspace, opens, tmp_path):
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        workspace.open(tmp_path / str(number))
    qtbot.waitUntil(lambda: workspace.current is not None)
    assert workspace.current.folder == tmp_path / "3"
    qtbot.waitUntil(lambda: [memory.closed for memory in opens].count(False) == 1)
    assert not workspace.current.manager.closed


def test_sync_can_be_paused_resumed_and_cancelled(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    memory = opens[0]
    memory.step_delay = 0.1
    memory.files = {f"{number}.md": "# x" for number in range(200)}
    workspace.sync("session-start")
    qtbot.waitUntil(lambda: memory.current_sync() is not None)
    workspace.pause()
    assert memory.current_sync().paused
    workspace.resume()
    assert not memory.current_sync().paused
    workspace.cancel()
    qtbot.waitUntil(lambda: memory.current_sync() is None)
    assert memory.status().last_sync.cancelled
    workspace.sync()
    qtbot.waitUntil(lambda: memory.syncs == [("session-start", False), ("manual", False)])
    workspace.cancel()


def test_repeated_sync_requests_run_once(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    opens[0].step_delay = 0.02
    for _ in range(10):
        workspace.sync()
    qtbot.waitUntil(lambda: opens[0].status().last_sync is not None)
    assert opens[0].syncs == [("manual", False)]


def test_failed_sync_reports_reason(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    opens[0].sync_error = engine.DiskFull("No room left on the disk of the index.")
    with qtbot.waitSignal(workspace.sync_failed) as failed:
        workspace.sync(force=True)
    assert failed.args == ["No room left on the disk of the index.", False]
    assert opens[0].syncs == [("manual", True)]


def test_store_path_overrides_index_path(qtbot, jobs, monkeypatch, tmp_path):
    received: list[Settings] = []

    def open_fake(folder, settings, **_options):
        received.append(settings)
        return FakeMemory()

    monkeypatch.setattr(engine, "open_memory", open_fake, raising=False)
    workspace = Workspace(jobs, store_path=str(tmp_path / "index"))
    _open(qtbot, workspace, tmp_path)
    assert received[0].store.path == str(tmp_path / "index")
    workspace.feed.set_manager(None)
    workspace.close_all_now()


def test_commands_without_workspace_cause_no_error(workspace):
    for act in (workspace.pause, workspace.resume, workspace.cancel, workspace.sync, workspace.close):
        act()
    assert workspace.current is None


def test_try_again_syncs_searches_and_reports_engine(qtbot, workspace, opens, tmp_path):
    _open(qtbot, workspace, tmp_path)
    with qtbot.waitSignal(workspace.engine_tried) as tried:
        workspace.try_again()
    assert (opens[0].syncs, len(opens[0].searches)) == ([("manual", False)], 1)
    assert tried.args == [None]
    why = FallbackStatus(from_="qmd", reason="It is gone.")
    opens[0].set_status(fallback=why, custom={"fallback": {"disabled": True, "reason": why.reason}})
    with qtbot.waitSignal(workspace.engine_tried) as tried:
        workspace.try_again()
    assert tried.args == [FailedService("qmd", "It is gone.")]
    opens[0].search_error = BackendError("Neither answers.")
    with qtbot.waitSignal(workspace.sync_failed) as failed:
        workspace.try_again()
    assert failed.args == ["Neither answers.", False]


def test_unsupported_features_are_known_on_open(qtbot, workspace, opens, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: LimitedMemory("insight"), raising=False)
    _open(qtbot, workspace, tmp_path)
    assert workspace.current.unsupported == {"insight": reason("insight")}


def test_settings_saved_while_opening_apply_once_open(qtbot, workspace, opens, tmp_path):
    strict = Settings(query=QuerySettings(min_score=0.7))
    with qtbot.waitSignal(workspace.opened) as emitted:
        workspace.open(tmp_path)
        workspace.apply_settings(strict, tmp_path)
    assert emitted.args[0].settings.query.min_score == 0.7
    assert [settings.query.min_score for settings in opens[0].answers_as] == [0.7]
    _open(qtbot, workspace, tmp_path)
    assert workspace.current.settings.query.min_score == Settings().query.min_score
    assert not opens[1].answers_as


def test_settings_of_another_folder_are_ignored(qtbot, workspace, opens, tmp_path):
    workspace.open(tmp_path / "gone")
    _open(qtbot, workspace, tmp_path)
    workspace.apply_settings(Settings(query=QuerySettings(min_score=0.7)), tmp_path / "gone")
    assert workspace.current.settings.query.min_score == Settings().query.min_score
    assert not opens[0].answers_as
