"""All texts of the window can be translated: sentences are collected for the catalogues, and translated when shown.

Checked in the code itself, without opening every part of the window in another language.
"""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from tests.helpers.sources import syntax_trees

SAYING = ("tr", "tr_count")
"""They answer in the language that is spoken at that moment."""
SHOWING = {
    "Action": (0,),
    "CheckBox": (0,),
    "Chip": (0,),
    "IconButton": (1, 2),
    "QAction": (0,),
    "QCheckBox": (0,),
    "QGroupBox": (0,),
    "QLabel": (0,),
    "QMenu": (0,),
    "QPushButton": (0,),
    "QRadioButton": (0,),
    "QToolButton": (0,),
    "RadioButton": (0,),
    "ToggleButton": (0,),
    "addAction": (0, 1),
    "addButton": (0,),
    "addMenu": (0,),
    "addTab": (1,),
    "allow": (2,),
    "announce": (1,),
    "complain": (0,),
    "label": (0,),
    "say": (0, 1),
    "setAccessibleDescription": (0,),
    "setAccessibleName": (0,),
    "setInformativeText": (0,),
    "setPlaceholderText": (0,),
    "setStatusTip": (0,),
    "setText": (0,),
    "setTitle": (0,),
    "setToolTip": (0,),
    "setWhatsThis": (0,),
    "setWindowTitle": (0,),
    "set_accessible": (0, 1),
    "sheet": (0,),
    "showMessage": (0, 1),
    "show_nothing": (0,),
    "show_key_in_tooltip": (1,),
}
"""Calls that show text to a user, and their text arguments."""
ENGLISH_COMMANDS = {"add": (1,), "add_hidden": (1,), "name": (2,)}
"""The methods of `Commands`, and the positions of their texts."""
NAMES = {"Mnemoscope", "degraded", "fine", "off", "working"}
"""The program's own, and states of a message."""
WORD = re.compile(r"[^\W\d_]{2,}")


@pytest.fixture(scope="module")
def modules() -> list[tuple[str, ast.Module, list[ast.Call]]]:
    """The path, the tree and all calls of each module; not longer than for this file, since trees need much memory."""
    return [
        (name, tree, [node for node in ast.walk(tree) if isinstance(node, ast.Call)])
        for name, tree in syntax_trees("engine", "gui")
    ]


def _at_import(module: ast.Module) -> Iterator[ast.AST]:
    """Code that runs when the module is imported: everything but function bodies."""
    left: list[ast.AST] = [module]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            left += [*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            left += ast.iter_child_nodes(node)


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_known(node: ast.AST) -> bool:
    """A constant used with `marked` elsewhere, or a text stored in English; or one of two of them."""
    if isinstance(node, ast.IfExp):
        return _is_known(node.body) and _is_known(node.orelse)
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)


def _says(name: str, module: ast.Module) -> bool:
    """Whether `name` in this module is the engine's."""
    imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return any(
        node.module in ("engine", "engine.base.language") and name in {one.name for one in node.names}
        for node in imports
    )


def _bare_words(node: ast.AST) -> Iterator[str]:
    """Untranslated texts in the code."""
    match node:
        case ast.Constant(value=str(text)):
            yield from (word for word in WORD.findall(text) if word not in NAMES)
        case ast.JoinedStr(values=parts):
            for part in parts:
                yield from _bare_words(part) if isinstance(part, ast.Constant) else ()
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from _bare_words(one)
            yield from _bare_words(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _bare_words(value)


def test_no_text_is_translated_at_import(modules) -> None:
    early = [
        f"{name}:{node.lineno}"
        for name, tree, _ in modules
        for node in _at_import(tree)
        if isinstance(node, ast.Call) and _called(node) in SAYING
    ]
    assert not early


def test_every_translatable_text_is_a_literal(modules) -> None:
    unknown = []
    for name, tree, calls in modules:
        marks = any(_called(call) == "marked" for call in calls) and _says("marked", tree)
        for node in calls:
            match _called(node), node.args:
                case "tr", [first, *_]:
                    found = _is_text(first) or _is_known(first)
                case "marked", [first, *_] if marks:
                    found = _is_text(first)
                case "tr_count", [one, many, *_]:
                    found = _is_text(one) and _is_text(many)
                case "command", [_, words, *_]:
                    found = _is_text(words) or _is_known(words)
                case _:
                    continue
            unknown += [] if found else [f"{name}:{node.lineno}"]
    assert not unknown


def _fields(text: ast.expr) -> set[str]:
    """The fields of a literal sentence: `name` for `{name:,}`."""
    value = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
    return {re.split(r"[.\[]", field)[0] for _, field, _, _ in Formatter().parse(value) if field}


def test_every_field_of_a_sentence_gets_its_value(modules) -> None:
    wrong = []
    for name, _, calls in modules:
        for call in (call for call in calls if _called(call) in SAYING):
            forms = call.args[: 2 if _called(call) == "tr_count" else 1]
            passed = {keyword.arg for keyword in call.keywords}
            if all(map(_is_text, forms)) and None not in passed:
                fields = set().union(*map(_fields, forms)) - ({"count"} if len(forms) > 1 else set())
                if fields != passed:
                    wrong.append(f"{name}:{call.lineno} {sorted(fields ^ passed)}")
    assert not wrong


def test_same_text_is_not_both_counted_and_uncounted(modules) -> None:
    """A catalogue has room for only one of the two."""
    single, counted = set(), set()
    for _, _, calls in modules:
        for call in calls:
            if call.args and isinstance(call.args[0], ast.Constant):
                match _called(call):
                    case "tr" | "marked" | "option":
                        single.add(call.args[0].value)
                    case "tr_count":
                        counted.add(call.args[0].value)
    assert not single & counted


def test_all_shown_text_is_translatable(modules) -> None:
    plain = [
        f"{name}:{call.lineno}: {word}"
        for name, _, calls in modules
        if name.startswith("gui/")
        for call in calls
        for literal in _shown(call)
        for word in _bare_words(literal)
    ]
    assert not plain


def _shown(call: ast.Call) -> list[ast.expr]:
    """The arguments of the call that are shown to a user."""
    called = _called(call)
    places = SHOWING.get(called, ())
    if (
        called in ENGLISH_COMMANDS
        and isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func.value) == "commands"
    ):
        places = ENGLISH_COMMANDS[called]
    return [call.args[place] for place in places if place < len(call.args)]
