import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMainWindow

import engine
from engine import Settings, SettingsError
from gui.controllers.settings import BrokenSettings, SettingsController
from gui.core.window_banner import WindowBanner
from gui.core.window_context import WindowContext
from gui.core.workspace import Workspace
from gui.settings.option_row import OptionRow
from gui.widgets.form_controls import ComboBox
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_estimate, make_summary
from tests.helpers.windows import make_context


@pytest.fixture
def opened(qtbot, jobs, monkeypatch, tmp_path) -> list[tuple[Settings, FakeMemory]]:
    """The memories opened so far, in order, with their settings."""
    made = []

    def open_fake(folder, settings, **_):
        made.append((settings, FakeMemory()))
        return made[-1][1]

    monkeypatch.setattr(engine, "open_memory", open_fake, raising=False)
    return made


@pytest.fixture
def workspace(jobs) -> Workspace:
    return Workspace(jobs)


@pytest.fixture
def context(qtbot, appearance, jobs, workspace) -> WindowContext:
    window = QMainWindow()
    qtbot.addWidget(window)
    return make_context(window, workspace, jobs)


@pytest.fixture
def controller(qtbot, context, opened, workspace, tmp_path) -> SettingsController:
    controller = SettingsController(context, BrokenSettings(context))
    with qtbot.waitSignal(workspace.opened):
        workspace.open(tmp_path)
    yield controller
    workspace.feed.set_manager(None)
    workspace.close_all_now()


def _choose(qtbot, controller, provider: str) -> None:
    controller.show_page("embedding")
    page = controller.dialog.pages.page("embedding")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    box = next(box for box in page.findChildren(ComboBox) if box.accessibleName() == "Provider")
    box.setCurrentIndex(box.findData(provider))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: controller.dialog.ready)


def test_save_reopens_folder_and_starts_accepted_embedding(qtbot, controller, opened, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    opened[0][1].estimate = make_estimate(cost=1.09)
    _choose(qtbot, controller, "openai")
    controller.dialog.pages.page("embedding").save_button.click()
    qtbot.waitUntil(lambda: len(opened) == 2)
    settings, memory = opened[1]
    assert settings.provider == "openai"
    qtbot.waitUntil(lambda: memory.approvals == 1)
    assert opened[0][1].closed
    assert not controller.dialog.isVisible()


def test_save_without_price_reopens_and_accepts_nothing(qtbot, controller, opened):
    _choose(qtbot, controller, "none")
    controller.dialog.pages.page("embedding").save_button.click()
    qtbot.waitUntil(lambda: len(opened) == 2 and len(opened[1][1].syncs) == 1)
    assert opened[1][1].approvals == 0


def test_approval_during_reopening_is_not_lost(qtbot, controller, opened):
    controller.show_page("general")
    controller.dialog.saved.emit(None)
    controller.dialog.saved.emit(make_estimate(cost=1.09))
    controller.dialog.saved.emit(None)
    qtbot.waitUntil(lambda: len(opened) == 3 and opened[2][1].approvals == 1)
    controller.dialog.close_without_saving()


def test_price_is_estimated_again_when_index_changes(qtbot, controller, opened):
    memory = opened[0][1]
    controller.show_page("embedding")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    for change in ({"last_sync": make_summary(files_indexed=9)}, {"chunks": 400_000}, {"pending_vectors": 399_000}):
        count = len(memory.estimated)
        memory.set_status(**change)
        qtbot.waitUntil(lambda count=count: len(memory.estimated) > count)
        qtbot.waitUntil(lambda: controller.dialog.ready)


def test_dialog_closes_with_its_workspace(qtbot, controller, workspace):
    controller.show_page("embedding")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    workspace.close()
    assert not controller.dialog.isVisible()
    controller.show_page("embedding")
    assert not controller.dialog.isVisible()


def test_apply_reopens_folder_below_dialog(qtbot, controller, opened):
    controller.show_page("advanced")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    controller.dialog.model.set("chunking.tokens", 200, "workspace")
    controller.dialog.model.apply()
    qtbot.waitUntil(lambda: len(opened) == 2 and len(opened[1][1].syncs) == 1)
    assert opened[1][0].chunking.tokens == 200
    assert opened[0][1].closed
    assert controller.dialog.isVisible()
    controller.dialog.show_page("embedding")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    assert opened[1][1].estimated, "the pages use the new memory"
    assert not opened[0][1].estimated
    controller.dialog.close_without_saving()


def test_failed_reopen_closes_dialog(qtbot, controller, workspace, opened, monkeypatch):
    controller.show_page("advanced")
    qtbot.waitUntil(lambda: controller.dialog.ready)

    def refuse(*_args, **_options):
        raise engine.StoreError("The index cannot be opened.")

    monkeypatch.setattr(engine, "open_memory", refuse, raising=False)
    controller.dialog.model.set("store.path", "/nowhere", "workspace")
    with qtbot.waitSignal(workspace.failed):
        controller.dialog.model.apply()
    assert not controller.dialog.isVisible()


def test_window_option_applies_without_reopening(qtbot, controller, workspace, opened):
    controller.show_page("general")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    with qtbot.waitSignal(workspace.settings_changed) as emitted:
        controller.dialog.model.set("window.editor", "vim {path}", "defaults")
    assert emitted.args[0].settings.window.editor == "vim {path}"
    assert workspace.current.settings.window.editor == "vim {path}"
    assert len(opened) == 1
    qtbot.waitUntil(lambda: controller.dialog.ready)
    controller.dialog.close_without_saving()


def test_query_option_applies_without_reopening(qtbot, controller, workspace, opened):
    controller.show_page("search")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    with qtbot.waitSignal(workspace.settings_changed):
        controller.dialog.model.set("query.min_score", 0.7, "defaults")
    assert [settings.query.min_score for settings in opened[0][1].answers_as] == [0.7]
    assert len(opened) == 1
    assert not controller.dialog.footer.text
    qtbot.waitUntil(lambda: controller.dialog.ready)
    controller.dialog.close_without_saving()


def test_last_shown_page_is_shown_again(qtbot, controller):
    controller.show_page("sync")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    controller.dialog.reject()
    controller.show()
    qtbot.waitUntil(lambda: controller.dialog.ready)
    assert controller.dialog.page == "sync"
    controller.dialog.close_without_saving()


def test_damaged_file_is_set_aside_and_both_paths_named(qtbot, controller, opened, monkeypatch):
    path = engine.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[defaults]\nprovider = 7\n")
    controller.show_page("general")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: shown.append(url.toLocalFile()))
    controller.dialog.file_requested.emit()
    assert shown == [str(path)]
    controller.dialog.set_aside_requested.emit()
    qtbot.waitUntil(lambda: len(opened) == 2)
    aside = next(other for other in path.parent.iterdir() if other != path)
    assert aside.read_text() == "[defaults]\nprovider = 7\n"
    banner = controller.parent().findChild(WindowBanner)
    qtbot.waitUntil(lambda: bool(banner.text))
    assert str(aside) in banner.text
    assert str(path) in banner.text
    assert not controller.dialog.isVisible()


def test_applied_options_reach_real_index(qtbot, appearance, jobs, tmp_path, user_home):
    notes = tmp_path / "notes"
    for name in ("roses.md", "drafts/old.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("# Roses\n\nThey want water.\n")
    engine.save_setting("provider", "none")
    workspace = Workspace(jobs)
    window = QMainWindow()
    qtbot.addWidget(window)
    context = make_context(window, workspace, jobs)
    controller = SettingsController(context, BrokenSettings(context))
    with qtbot.waitSignal(workspace.opened):
        workspace.open(notes)
    workspace.sync()
    qtbot.waitUntil(lambda: workspace.current.manager.status().files == 2)
    controller.show_page("sources")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    first = workspace.current.manager
    controller.dialog.model.set("exclude", ("drafts/",), "workspace")
    controller.dialog.model.set("chunking.tokens", 100, "workspace")
    controller.dialog.model.apply()

    def done() -> bool:
        opened = workspace.current
        return opened is not None and opened.manager is not first and opened.manager.status().files == 1

    qtbot.waitUntil(done)
    assert workspace.current.settings.chunking.tokens == 100
    assert [result.path for result in workspace.current.manager.search("roses", min_score=0).results] == ["roses.md"]
    qtbot.waitUntil(lambda: controller.dialog.ready)
    controller.dialog.close_without_saving()
    workspace.feed.set_manager(None)
    workspace.close_all_now()


def test_window_reports_a_save_that_fails_after_closing(qtbot, controller, context, monkeypatch):
    def refuse(*_args, **_options):
        raise SettingsError("The disk is full.")

    monkeypatch.setattr(engine, "change_settings", refuse, raising=False)
    controller.show_page("search")
    qtbot.waitUntil(lambda: controller.dialog.ready)
    row = next(row for row in controller.dialog.findChildren(OptionRow) if row.placed.key == "query.max_results")
    line = row.field.focusProxy()
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "9")
    controller.dialog.close()
    assert not controller.dialog.isVisible()
    qtbot.waitUntil(lambda: bool(context.banner.text))
    assert context.banner.text == f"Not saved: {row.placed.title}. The disk is full."
