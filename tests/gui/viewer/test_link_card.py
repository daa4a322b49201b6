"""The card with backlinks and links below a note, and opening a note in Obsidian."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices

from engine import CancelToken, LinkedText, NoteLinkInfo, NoteLinks, name_in
from engine.insight.note_links import NoteImages
from engine.settings import Settings
from gui.core.location import Location
from gui.viewer.base_viewer import note_url
from gui.viewer.external_programs import obsidian_url
from gui.viewer.file_loader import in_vault, keeps_breaks
from gui.viewer.panel import ViewerPanel
from tests.helpers.fake_memory import FakeMemory

NOTE, OTHER = "daily/2026-02-08.md", "topics/shopping.md"


def link(path: str, title: str, **more) -> NoteLinkInfo:
    values = {"line": 1, "anchor": "", "context": "", "backlink": False} | more
    return NoteLinkInfo(path=path, title=title, **values)


class Links:
    """An insight that knows the links of one note."""

    def __init__(self) -> None:
        self.found = NoteLinks(
            backlinks=(link(OTHER, "Shopping", line=2, context="For <b>today</b>, **see** `x_y`.", backlink=True),),
            links=(link(OTHER, "Shopping", anchor="Seeds"), link("", "Winter plan", context="Then Winter plan.")),
        )

    def note_links(self, path: str, cancel: CancelToken | None = None) -> NoteLinks:
        return self.found if path == NOTE else NoteLinks(backlinks=(), links=())

    def images_of(self, note: str) -> NoteImages:
        return NoteImages(note, Path("missing"), Settings())

    def linked_text(self, target: str, anchor: str, note: str, cancel: CancelToken | None = None) -> LinkedText | None:
        return LinkedText(path=OTHER, title="Shopping", line=3, text="x")


def rows(panel: ViewerPanel) -> list[str]:
    listed = panel.link_card.list
    return [listed.item(number).text() for number in range(listed.count())]


def open_card(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    show(NOTE)
    panel.link_card.action.trigger()
    qtbot.waitUntil(lambda: not panel.link_card.isHidden() and not panel.link_card.busy)


def test_card_lists_links_with_their_sentences(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    assert rows(panel) == [
        "1 link to this note",
        "Shopping\nFor today, see x_y.",
        "2 links in this note",
        "Shopping › Seeds",
        "Winter plan (no such note)\nThen Winter plan.",
    ]
    assert panel.link_card.accessibleName() == "1 link to this note, 2 links in this note"


def test_card_shows_paths_of_notes_with_the_same_title(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    titles = {"daily/2026-03-01.md": "Sunday", "daily/2026-03-08.md": "Sunday", "daily/2026-03-09.md": "Monday"}
    insight = Links()
    insight.found = NoteLinks(backlinks=tuple(link(path, title) for path, title in titles.items()), links=())
    memory.insight = insight
    show(NOTE)
    panel.link_card.action.trigger()
    qtbot.waitUntil(lambda: not panel.link_card.isHidden() and not panel.link_card.busy)
    assert rows(panel)[1:] == ["Sunday · daily/2026-03-01.md", "Sunday · daily/2026-03-08.md", "Monday"]


def test_card_opens_backlink_at_its_line(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    with qtbot.waitSignal(panel.location_chosen) as chosen:
        qtbot.keyClick(panel.link_card.list, Qt.Key.Key_Return)
    assert chosen.args == [Location(OTHER, 2)]
    qtbot.waitUntil(lambda: panel.name == OTHER and not panel.busy)
    assert rows(panel) == []


def test_card_opens_link_at_its_heading(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    with qtbot.waitSignal(panel.location_chosen) as chosen:
        panel.link_card.list.itemClicked.emit(panel.link_card.list.item(3))
    assert chosen.args == [Location(OTHER, 3)]


def test_double_click_opens_one_link(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    chosen = []
    panel.link_card.chosen.connect(chosen.append)
    listed = panel.link_card.list
    centre = listed.visualItemRect(listed.item(1)).center()
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    qtbot.mouseDClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert [link.line for link in chosen] == [2]


def test_list_with_same_links_stays(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    item = panel.link_card.list.item(3)
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.link_card.busy)
    assert panel.link_card.list.item(3) is item


def test_link_to_heading_is_looked_up_in_its_workspace() -> None:
    assert note_url(name_in("work", "topics/shopping.md"), "Seeds").toString() == "note:/topics/shopping.md#Seeds"
    assert note_url("topics/shopping.md", "Seeds").toString() == "note:/topics/shopping.md#Seeds"


def test_card_offers_search_for_missing_note(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    panel.link_card.list.itemClicked.emit(panel.link_card.list.item(4))
    assert panel.banner.text == "No note is named “Winter plan”."


def test_escape_closes_card_first(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    open_card(qtbot, panel, memory, show)
    qtbot.keyClick(panel.source, Qt.Key.Key_Escape)
    assert panel.link_card.isHidden()
    assert not panel.link_card.action.isChecked()
    with qtbot.waitSignal(panel.escape_pressed):
        qtbot.keyClick(panel.source, Qt.Key.Key_Escape)


def test_card_lists_at_most_500_of_each_kind(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    memory.insight.found = NoteLinks(backlinks=(link(OTHER, "Shopping"),) * 10_000, links=())
    show(NOTE)
    panel.link_card.action.trigger()
    qtbot.waitUntil(lambda: panel.link_card.list.count() == 502)
    assert rows(panel)[-1] == "and 9,500 more links"


def test_note_outside_of_vault_is_not_for_obsidian(panel: ViewerPanel, show) -> None:
    show(NOTE)
    assert not panel.file_actions.obsidian.isEnabled()
    assert "not in an Obsidian vault" in panel.file_actions.obsidian.statusTip()


def test_note_in_vault_opens_in_obsidian(qtbot, panel: ViewerPanel, show, tmp_path: Path, monkeypatch) -> None:
    note = tmp_path / "my vault" / "a" / "Über & so.md"
    (tmp_path / "my vault" / ".obsidian").mkdir(parents=True)
    assert in_vault(note)
    assert not in_vault(tmp_path / "elsewhere" / "x.md")
    opened: list[str] = []
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: bool(opened.append(url.toEncoded().data().decode())) or True
    )
    show(NOTE)
    monkeypatch.setattr(panel.external.manager, "locate", lambda name: note)
    panel.file_actions.set_vault(True)
    panel.file_actions.obsidian.trigger()
    qtbot.waitUntil(lambda: bool(opened))
    assert opened == [obsidian_url(note).toEncoded().data().decode()]
    assert opened[0].startswith("obsidian://open?path=%2F")
    assert opened[0].endswith("my%20vault%2Fa%2F%C3%9Cber%20%26%20so.md")


def test_line_breaks_follow_program_of_note(tmp_path: Path) -> None:
    for folder, settings, kept in (
        ("plain", "", False),
        ("vault", ".obsidian/workspace.json", True),
        ("loose", ".obsidian/app.json", True),
        ("strict", ".obsidian/app.json", False),
        ("graph", "logseq/config.edn", True),
        ("strict/graph", "logseq/config.edn", True),
    ):
        file = tmp_path / folder / (settings or "x")
        file.parent.mkdir(parents=True)
        file.write_text(f'{{"strictLineBreaks": {"true" if folder == "strict" else "false"}}}')
        assert keeps_breaks(tmp_path / folder / "sub" / "note.md") == kept, folder
