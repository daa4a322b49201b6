"""Only `gui/text/plain_text.py` calls what may read HTML, so that all text of users' files is escaped there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

GUI = Path(__file__).parents[2] / "gui"
HELPER = "text/plain_text.py"

METHODS = {
    "appendHtml",
    "insertHtml",
    "setDetailedText",
    "setHtml",
    "setInformativeText",
    "setLabelText",
    "setStatusTip",
    "setSubTitle",
    "setTabToolTip",
    "setTabWhatsThis",
    "setTextFormat",
    "setToolTip",
    "setWhatsThis",
    "showMessage",
    "toolTip",
    "whatsThis",
}
"""Methods that read text as HTML if it looks like it, or return text that the helper has escaped."""
KEYWORDS = {"toolTip", "statusTip", "whatsThis", "textFormat", "informativeText", "detailedText"}
CLASSES = {
    "QErrorMessage",
    "QInputDialog",
    "QLabel",
    "QMessageBox",
    "QProgressDialog",
    "QSplashScreen",
    "QStatusBar",
    "QTextBrowser",
    "QTextDocument",
    "QTextEdit",
    "QToolTip",
    "QWhatsThis",
    "QWizardPage",
}
"""Classes that show or load what a text names, unless the helper creates them."""
MARKDOWN = {"setMarkdown", "insertMarkdown"}
ALLOWED = {
    "widgets/labels.py": {"QLabel"},
    "viewer/rendered_view.py": {"QTextBrowser"},
    "viewer/markdown_page.py": MARKDOWN,
}
_TAG = re.compile(r"</?[a-z]+[ />]")


def names_of(call: ast.Call) -> Iterator[str]:
    """Yield the forbidden names that a call uses."""
    match call.func:
        case ast.Name(id=name) if name in CLASSES:
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in CLASSES and attribute[0].islower():
            yield name
        case ast.Attribute(attr=name) if name in METHODS | MARKDOWN:
            yield name
        case ast.Attribute(attr="addRow") if call.args and _is_text(call.args[0]):
            yield "addRow with a text"
        case ast.Attribute(attr="setText") if any(map(_has_tag, call.args)):
            yield "setText with markup"
    yield from (word.arg for word in call.keywords if word.arg in KEYWORDS)


def _is_text(node: ast.expr) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("tr")
    return called or isinstance(node, ast.JoinedStr | ast.Constant)


def _has_tag(node: ast.expr) -> bool:
    parts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(isinstance(part, str) and _TAG.search(part) for part in parts)


def raw_calls(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each call, base class or tooltip role that only the helper may use."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((node.lineno, name) for name in names_of(node))
        elif isinstance(node, ast.ClassDef):
            bases = (base.id for base in node.bases if isinstance(base, ast.Name))
            yield from ((node.lineno, base) for base in bases if base in CLASSES)
        elif isinstance(node, ast.FunctionDef):
            used = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            called = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if "ToolTipRole" in used and "as_tip" not in called:
                yield node.lineno, "ToolTipRole without as_tip"


def test_gui_has_no_raw_call_that_may_read_html() -> None:
    found = []
    for path in sorted(GUI.rglob("*.py")):
        name = path.relative_to(GUI).as_posix()
        if name != HELPER:
            calls = raw_calls(path.read_text(encoding="utf-8"))
            allowed = ALLOWED.get(name, set())
            found += [f"gui/{name}:{line}: {what}" for line, what in calls if what not in allowed]
    assert not found, "use gui/text/plain_text.py:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "button.setToolTip(title)",
        "self.box().setStatusTip(title)",
        "action.setWhatsThis(title)",
        "action = QAction(text, toolTip=title)",
        "label = QLabel(title)",
        "class Name(QLabel):\n    pass",
        "label.setText(f'<b>{title}</b>')",
        "label.setTextFormat(Qt.TextFormat.RichText)",
        "QToolTip.showText(at, title)",
        "QMessageBox.warning(self, title, title)",
        "box.setInformativeText(title)",
        "icon.showMessage(title, title)",
        "dialog.setLabelText(title)",
        "form.addRow(tr('Name'), edit)",
        "document = QTextDocument()",
        "document.setHtml(title)",
        "document.setMarkdown(title)",
        "def data(self, index, role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return title",
        "made.setToolTip(action.toolTip())",
    ],
)
def test_raw_call_is_detected(source: str) -> None:
    assert list(raw_calls(source))


@pytest.mark.parametrize(
    "source",
    [
        "set_tip(button, title)",
        "label(title)",
        "edit.setPlainText('<b>')",
        "button.setText('a < b')",
        "box.addButton(text, QMessageBox.ButtonRole.AcceptRole)",
        "def data(self, index, role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return as_tip(title)",
    ],
)
def test_safe_call_is_allowed(source: str) -> None:
    assert not list(raw_calls(source))
