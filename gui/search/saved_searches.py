"""Records the queries of the search panel in the history, saves them under a name, and runs them again."""

from collections.abc import Callable, Collection
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QWidget

from engine import MemorySearchManager, QueryRecord, SavedSearch, in_quotes, marked, tr, tr_count
from gui.commands.commands import follow_keys, with_key
from gui.core.jobs import Jobs
from gui.search.completion import Completion
from gui.search.saved_search_cache import SavedSearchStore, limits, title
from gui.search.saved_search_list import SearchPicker, StoredSearch
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import label
from gui.widgets.layouts import column_of
from gui.widgets.query_box import QueryBox

_SAVE = marked("Save this search")
_OPEN = marked("Saved and recent searches (Up or Down in the empty box)")
_LONGEST = 120
_WIDTH = 380


class NameDialog(QDialog):
    """A dialog that asks for the name of a saved search. Opens over `parent`'s window and is deleted when it closes."""

    named = Signal(str)

    def __init__(self, heading: str, sentence: str, name: str, used_names: Collection[str], parent: QWidget) -> None:
        """`sentence` describes the search; `used_names` are the names of other searches, which would be replaced."""
        super().__init__(parent.window())
        self.setWindowTitle(heading)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._used_names = frozenset(used_names)
        self._edit = QLineEdit(name)
        self._edit.setMaxLength(_LONGEST)
        self._edit.setAccessibleName(tr("Name"))
        self._edit.selectAll()
        self._remark = label(" ", "meta", wrap=True)
        self._save = push_button(tr("Save"), role="primary")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._save, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column_of(
            label(heading, "strong"),
            label(sentence, "muted", wrap=True),
            self._edit,
            self._remark,
            buttons,
            spacing=10,
            margins=(20, 18, 20, 14),
            parent=self,
        )
        self.setMinimumWidth(min(_WIDTH, parent.window().width() - 40))
        self._save.setDefault(True)  # after adding it to the dialog: else Enter would cancel
        self._edit.textChanged.connect(self._validate)
        self._validate()
        self.open()
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _name(self) -> str:
        return " ".join(self._edit.text().split())

    @Slot()
    def _validate(self) -> None:
        replaces = self._name in self._used_names
        self._remark.setText(tr("Another search has this name: it will be replaced.") if replaces else " ")
        self._save.setText(tr("Replace") if replaces else tr("Save"))
        self._save.setEnabled(bool(self._name))

    def accept(self) -> None:
        if self._name:
            self.named.emit(self._name)
            super().accept()


class SavedSearchController(QObject):
    """Saves, renames, removes and runs searches. The button `star` shows whether the current query is saved."""

    requested = Signal(object)
    """Run this QueryRecord again."""
    changed = Signal()
    """Another query is shown, or saved searches have changed."""
    forgotten = Signal(str, object)
    """A sentence that names the removed searches, and a function that restores them."""

    def __init__(
        self,
        box: QueryBox,
        completion: Completion,
        jobs: Jobs,
        now: Callable[[], QueryRecord | None],
        parent: QObject,
    ) -> None:
        """`now`: returns the current query, or None."""
        super().__init__(parent)
        self._box = box
        self._now = now
        self._begun = False
        self.store = SavedSearchStore(jobs, self)
        self.picker = SearchPicker(box, self.store, lambda: now() is not None)
        self.star = IconButton("star", tr(_SAVE))
        self.star.setCheckable(True)
        self.star.hide()
        opener = IconButton("search", tr(_OPEN))
        opener.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Up and Down in the empty box do the same
        opener.clicked.connect(self.picker.open)
        box.set_leading_button(opener)
        follow_keys(self.star, self._name_star)
        self.star.clicked.connect(self._press_star)
        self.store.changed.connect(self._on_changed)
        self.picker.opened.connect(completion.pause)
        self.picker.closed.connect(completion.resume)
        self.picker.chosen.connect(completion.resume)
        self.picker.chosen.connect(self.run)
        self.picker.remove_requested.connect(self.forget)
        self.picker.rename_requested.connect(self.rename)

    @property
    def query(self) -> QueryRecord | None:
        """The query that is shown, or None."""
        return self._now()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self.picker.close()
        self._begun = False
        self.store.set_manager(manager)

    @Slot()
    def refresh(self) -> None:
        """Update the star button for the query that is shown now."""
        query = self._now()
        name = self.store.name_of(query)
        self.star.setVisible(query is not None)
        self.star.setChecked(bool(name))
        self.star.set_icon("star-full" if name else "star")
        self._name_star()
        self.changed.emit()

    def _name_star(self) -> None:
        name = self.store.name_of(self._now())
        if name:
            self.star.set_accessible(tr("Saved as “{name}”: press to remove it", name=name))
        else:
            self.star.set_accessible(tr(_SAVE), with_key(tr(_SAVE), "search.save"))

    def add_recent(self, query: QueryRecord) -> None:
        """Add a query to the history, unless it is the newest entry already."""
        if not self.store.recent or self.store.recent[0].query != query:
            self.store.add_recent(query)

    @Slot()
    def save(self) -> None:
        """Ask for a name and save the current query; if it is saved already, ask for a new name."""
        query = self._now()
        if query is None:
            return
        name = self.store.name_of(query)
        if name:
            self.rename(next(search for search in self.store.saved if search.name == name))
            return
        narrowed = limits(query)
        sentence = in_quotes(title(query)) + (f" · {narrowed}" if narrowed else "")
        self._ask_name(tr(_SAVE), sentence, title(query), lambda chosen: self.store.save(chosen, query))

    @Slot(object)
    def rename(self, search: SavedSearch) -> None:
        self._ask_name(
            tr("Rename this search"),
            in_quotes(title(search.query)),
            search.name,
            lambda chosen: self.store.rename(search.name, chosen),
            except_name=search.name,
        )

    @Slot(object)
    def forget(self, search: StoredSearch) -> None:
        if isinstance(search, SavedSearch):
            self.store.delete(search.name)
            removed = tr("The saved search “{name}” was removed.", name=search.name)
            self.forgotten.emit(removed, partial(self.store.restore, search))
        else:
            self.store.forget_recent(search.query)
            removed = tr("The recent search {query} was removed.", query=in_quotes(title(search.query)))
            self.forgotten.emit(removed, partial(self.store.restore_recent, (search,)))

    @Slot()
    def forget_history(self) -> None:
        """Remove all recent searches."""
        searches = self.store.recent
        if not searches:
            return
        self.store.forget_recent()
        removed = tr_count(
            "{count:,} recent search was removed.", "{count:,} recent searches were removed.", len(searches)
        )
        self.forgotten.emit(removed, partial(self.store.restore_recent, searches))

    @Slot(object)
    def run(self, search: StoredSearch) -> None:
        if isinstance(search, SavedSearch):
            self.store.touch(search.name)
        self.requested.emit(search.query)

    def _ask_name(
        self, heading: str, sentence: str, name: str, on_name: Callable[[str], None], *, except_name: str = ""
    ) -> None:
        used_names = {search.name for search in self.store.saved} - {except_name}
        NameDialog(heading, sentence, name, used_names, self._box).named.connect(on_name)

    @Slot()
    def _press_star(self) -> None:
        name = self.store.name_of(self._now())
        if name:
            self.forget(next(search for search in self.store.saved if search.name == name))
        else:
            self.save()
        self.refresh()  # the press has toggled the button, but changed no search yet

    @Slot()
    def _on_changed(self) -> None:
        if not self._begun and self.store.recent:
            self._begun = True
            self._box.history.begin([search.query.text for search in reversed(self.store.recent)])
        self.refresh()
