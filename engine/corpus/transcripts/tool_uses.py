"""Finds the files and commands in tool calls of all agents; the only module that knows names of tools and arguments.

Out: which files an agent read, edited, created or deleted, which commands it ran, and its input as a readable text.
Names and arguments are those of the agents' public sources as of autumn 2026; they are compared without case,
underscores and digits.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from engine.base.formatting import without_escapes
from engine.corpus.globs import Globs, literal_glob
from engine.corpus.transcripts.json_values import items, mapping, string, tool_input, uri_path
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, clean
from engine.records import SessionMessage
from engine.redaction.secret_masking import redact
from engine.text.folding import fold

UseKind = Literal["read", "edited", "created", "deleted", "command"]
_Action = Literal["read", "edited", "created", "deleted", "command", "patch", "chosen"]

_TOOLS: Mapping[_Action, str] = {
    "read": """fileread fsread getfile notebookread open openfile read readcode readfile readfilerange readfiles
        readmanyfiles readmediafile readmultiplefiles readnotebook readtextfile view viewfile""",
    "edited": """append appendtofile applieddiff applydiff edit editedexistingfile editexistingfile editfile
        editnotebook editnotebookfile fileeditinsert fileeditreplacelines fileeditreplacestring fsappend
        insertcontent inserteditintofile lspreplacesymbol multiedit multifindandreplace multireplacefilecontent
        multireplacestringinfile notebookedit replace replacefilecontent replaceinfile replacestringinfile
        searchandreplace searchreplace singlefindandreplace streamingeditfile strreplace strreplacefile undoedit
        vscodeeditfileinternal""",
    "created": """create createfile createnewfile download newfilecreated save savefile write writefile writetofile""",
    "deleted": """delete deletefile deletepath filedeleted fsdelete remove removefile removefiles""",
    "command": """bash command exec execcommand execute executebash executecommand executepwsh executeshellcommand
        execshell launchprocess localshell powershell run runcommand runcommandinterminal runcommands runinterminal
        runshellcommand runterminalcmd runterminalcommand shell shellcommand terminal""",
    "patch": "applypatch multipatch patch",
    "chosen": "editor fileeditor fswrite planningfileeditor strreplacebasededittool strreplaceeditor texteditor",
}
_ACTIONS: Mapping[str, _Action] = {name: action for action, names in _TOOLS.items() for name in names.split()}
_PROGRAM = "exec"
"""Codex's tool that, since July 2026, runs a JavaScript program which calls the other tools as `tools.<name>(…)`."""
_CHOICES: Mapping[str, UseKind] = {"view": "read", "read": "read", "create": "created", "write": "created"}
"""Kind of use by the value of a tool's argument `command`; all others mean edited."""

_PATHS = (
    """absolutepath effectiveuri file filename filepath notebookpath path relativepath relativeworkspacepath targetfile
    targetnotebook uri"""
).split()
_LISTS = "edits filepaths files operations ops paths replacements".split()
_COMMANDS = "cmd command commandline script".split()
_FOLDERS = "cwd dirpath workdir workingdirectory".split()

_REPLACED = "oldcontent oldstr oldstring oldtext search".split()
_REPLACING = "newcontent newstr newstring newtext replace replacement".split()

_SHOWN_ALONE = frozenset((*_PATHS, *_COMMANDS, "args", *_REPLACED, *_REPLACING))
"""Arguments that are shown without their name."""

_VERSION = re.compile(r"_?v\d+\Z")
_OWNER = re.compile(r"\A(?:copilot|sys_os)_")
_NO_LETTER = re.compile("[^a-z]+")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* (Move) to: (.+)$", re.MULTILINE)
_PATCHES: Mapping[str, UseKind] = {"Add": "created", "Move": "created", "Update": "edited", "Delete": "deleted"}
_SHOWN = re.compile(
    r"""(?:^|[;&|\n])\s*(cat|head|nl|sed|tail)\s+((?:(?:-\S+|'[^'\n]*'|"[^"\n]*"|s[/|,]\S+|\d[\d,]*p?)\s+)*)"""
    r"""([^\s;&|<>'"$*`-][^\s;&|<>'"$*`]*\.\w+)(?=\s*(?:$|[;&|\n]))"""
)
"""Matches a file that a shell command shows, or that sed changes."""
_SEPARATOR = re.compile(r"[;&|\n]")
_TOKENS = re.compile(
    r"""\btools\.(?P<called>\w+)\s*\(|(?P<bracket>[][(){}])|//[^\n]*|/\*.*?\*/|"""
    r"""(?:(?:["'](?P<quoted>\w+)["']|\b(?P<key>\w+))\s*:\s*)?(?P<raw>\bString\.raw\s*)?"""
    r"""(?P<literal>"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?)""",
    re.DOTALL,
)
"""Matches parts of a JavaScript program: calls of tools, brackets, comments, and string literals with their keys.

A literal without its end matches too: searching for the end from each quotation mark would take quadratic time.
"""
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\n": ""}
_NAMED_FILE = re.compile(r"(?:Read|Reading|Edited|Editing|Created|Creating) (\S.*?)(?:,? lines? .*)?")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LITERAL = re.compile("[a-z0-9.-]+")
_BLANKS = re.compile(r"[\x00-\x1f\x7f]+")

_MAIN_ARGUMENT = re.compile(
    r'\b(?:command|cmd|file_path|path|notebook_path|pattern|query|url|description|prompt|title|name|id)"?:\s*'
    r'"((?:[^"\\]|\\.)+)'
)
_ANY_TEXT = re.compile(r'"(?:[^"\\]|\\.)*":\s*"((?:[^"\\]|\\.)+)')

_MAX_TEXT = 128 * 1024
_MAX_OF_SUBJECT = 2_000
_OPENING = 8 * 1024
_LONGEST_PATH, _LONGEST_COMMAND = 1024, 2000
_MAX_USES = 200
"""Maximum number of files of one call."""
_DIFF = re.compile(r"diff --git |--- \S|@@ -\d")
_PATCH_START = "*** Begin Patch"
_MAX_COMPARED = 100_000
"""Largest product of the lines of two texts that are compared line by line."""
_DEEPEST_INPUT = 8
_INDENT = "  "


class ToolText(NamedTuple):
    """The input or output of a tool as a text to read."""

    text: str
    is_diff: bool
    """Whether its lines that begin with + and - were added and removed."""


class ToolUse(NamedTuple):
    """A file or a command of one tool call, with secrets not masked."""

    kind: UseKind
    value: str
    """The path as the agent wrote it, or the beginning of the command."""


def uses_of(message: Message | SessionMessage) -> list[ToolUse]:
    """Return the files and commands of a tool call; empty for any other message.

    A call that failed has used no files, unless it ran several commands: some of them may have succeeded.
    """
    if message.kind != "tool-call":
        return []
    name = _letters(_plain_name(message.tool))
    action = _ACTIONS.get(name)
    unread = message.role == "user" or (message.failed and name != _PROGRAM)  # `user`: a diff of the user's own changes
    if action is None or (unread and action != "command"):
        return []
    text = message.text
    parsed = parse_line(text.encode("utf-8", "surrogatepass")) if text.startswith("{") else None
    if parsed is not None:
        tool_uses = _of_arguments(action, parsed)
    elif name == _PROGRAM and "tools." in text:
        tool_uses = _of_program(text[:_MAX_TEXT])
    else:
        tool_uses = _of_text(action, text)
    if message.failed:
        tool_uses = _tried(list(tool_uses))
    uses = (ToolUse(use.kind, use.value[:_OPENING]) for use in tool_uses if use.value.strip())
    return list(dict.fromkeys(uses))[:_MAX_USES]


def _tried(uses: list[ToolUse]) -> Iterator[ToolUse]:
    """Yield the uses of a failed call that count nevertheless."""
    commands = [use.value for use in uses if use.kind == "command"]
    several = any(_SEPARATOR.search(command) and not _PATCHED.search(command[:_MAX_TEXT]) for command in commands)
    return (use for use in uses if several or use.kind == "command")


def subject_of(call: SessionMessage) -> str:
    """Return the subject of a tool call: the files of its patch, its command or path, else its first text.

    Reads only the beginning of its input, so that a list can show the subjects of long inputs.
    """
    start = call.text[:_MAX_OF_SUBJECT]
    named = start.startswith("{")
    found = _MAIN_ARGUMENT.search(start) if named or "tools." in start else None
    found = found or (_ANY_TEXT.search(start) if named else None)
    text = clean(_ESCAPED.sub(_unescaped, found[1])) if found else start
    patched = _of_patch(text.replace("\\n", "\n") if "tools." in text else text)
    return ", ".join(dict.fromkeys(use.value for use in patched)) or text


def readable_tool_text(message: Message | SessionMessage) -> ToolText:
    """Return the input or output of a tool as readable text, without JSON's quotes and a terminal's colours.

    The command or the path of the file comes first, then other arguments by name. A text that replaces another is
    shown as a diff.
    """
    text, name = without_escapes(message.text), _letters(_plain_name(message.tool))
    called = message.kind == "tool-call"
    arguments = parse_line(text.encode("utf-8", "surrogatepass")) if called and text.startswith("{") else None
    replaces = False
    if arguments is not None:
        replaces = any(_replacement(each) for each in (arguments, *_objects(arguments)))
        text = without_escapes("\n".join(_readable(arguments, 0, _ACTIONS.get(name))) or text)
    elif called and name == _PROGRAM and "tools." in text:
        text = _TOKENS.sub(_with_lines, text[:_MAX_TEXT]) + text[_MAX_TEXT:]
    return ToolText(text, replaces or _DIFF.match(text) is not None or _PATCH_START in text)


def stored_path(path: str, project: str) -> str:
    """Return the form of a path to store: with `/`, relative to the project if it is inside, with secrets masked.

    Empty if it is not the path of a file.
    """
    path = _slashed(uri_path(path.strip()) if "://" in path[:8] else path.strip(), project)
    if not path or len(path) > _LONGEST_PATH:
        return ""
    if not _is_absolute(path):
        path = posixpath.normpath(path)
        if path.startswith("../") and project:
            path = posixpath.normpath(posixpath.join(_slashed(project, project), path))
    else:
        path = posixpath.normpath(path)
    root = _slashed(project, project).rstrip("/")
    same = path.casefold().startswith(f"{root}/".casefold()) if _DRIVE.match(root) else path.startswith(f"{root}/")
    if root and same:
        path = path[len(root) + 1 :]
    return "" if path in (".", "..", "/") else redact(path)


def full_path(path: str, project: str) -> str:
    """Return the path of a file from the root of its disk, as far as the project's folder is known."""
    return path if _is_absolute(path) or not project else f"{_slashed(project, project).rstrip('/')}/{path}"


def file_matcher(value: str) -> tuple[str, Callable[[str, str], bool]]:
    """Return a text and a function that find the files meant by a value of the operator `file:`.

    The text, lower-case ASCII and perhaps empty, is in the path or the project of each matching file. The function
    takes the stored path of a file and the session's project, and says whether they match.

    `app.py` and `src/app.py` match the end of a path, `src/` everything in a folder of this name, and a path from the
    root of a disk only that file. Patterns are those of the settings: `*`, `?`, `[a-z]` and `**`.
    """
    value = uri_path(f"file:{value}") if value.startswith("//") else value  # file:///home/ada/app.py
    named = fold(value.strip().replace("\\", "/")).removeprefix("./")
    start = "/" if _is_absolute(named) and not named.startswith("~") else "**/"
    body = named.lstrip("/")
    globs = Globs((start + body, start + literal_glob(body)))
    part = "" if "[" in body else max(_LITERAL.findall(body), key=len, default="")
    return part, lambda path, project: globs.covers(fold(full_path(path, project)).lstrip("/"))


def stored_command(command: str) -> str:
    """Return a command with secrets masked, at most 2,000 characters."""
    # Mask before cutting: half of a secret would not be recognised.
    return redact(command.strip())[:_LONGEST_COMMAND]


def patch_of(changes: Mapping[str, Any]) -> str:
    """Return changes of files, by path, as the text of a patch such as Codex's tool takes."""
    lines: list[str] = []
    for path, value in changes.items():
        change = mapping(value)
        action = {"add": "Add", "delete": "Delete"}.get(string(change, "type"), "Update")
        lines.append(f"*** {action} File: {path}")
        if moved := string(change, "move_path"):
            lines.append(f"*** Move to: {moved}")
        if action == "Add":
            lines += [f"+{line}" for line in string(change, "content").splitlines()]
        elif action == "Update":
            lines.append(string(change, "unified_diff").rstrip("\n"))
    return "\n".join([_PATCH_START, *filter(None, lines), "*** End Patch"]) if lines else ""


def _plain_name(name: str) -> str:
    """Return a tool's name without that of its server or program."""
    name = name.rpartition("__")[2].rpartition(".")[2].casefold()
    return _OWNER.sub("", _VERSION.sub("", name))


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name.casefold())


# --- arguments -------------------------------------------------------------------------------------------------------


def _of_arguments(action: _Action, arguments: Mapping[str, Any]) -> Iterator[ToolUse]:
    named = _by_letters(arguments)
    kind: UseKind
    if action == "command":
        for item in items(named, "commands")[:_MAX_USES] or [arguments]:
            yield from _of_command(string(item) or _command(_by_letters(mapping(item))), _first(named, _FOLDERS))
        return
    if action == "patch":
        patched = [use for value in arguments.values() for use in _of_patch(string(value))]
        yield from patched
        if patched:
            return
        kind = "edited"
    else:
        kind = _CHOICES.get(string(named, "command"), "edited") if action == "chosen" else action
    yield from (ToolUse(kind, path) for path in _paths(named))


def _by_letters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by the letters of their names, in lower case."""
    return {_letters(key): value for key, value in arguments.items()}


def _paths(named: Mapping[str, Any]) -> Iterator[str]:
    yield _first(named, _PATHS)
    for key in _LISTS:
        for item in items(named, key)[:_MAX_USES]:
            yield string(item) or _first(_by_letters(mapping(item)), _PATHS)


def _first(named: Mapping[str, Any], keys: list[str]) -> str:
    return next((text for key in keys if (text := string(named, key))), "")


def _command(named: Mapping[str, Any]) -> str:
    words = (" ".join(map(string, part)) if isinstance(part, list) else part for part in _command_parts(named))
    return " ".join(words)


def _command_parts(named: Mapping[str, Any]) -> list[str | list[Any]]:
    """Return the arguments that make a command: a text or a list of words, and perhaps a list of further words."""
    words = next((value for key in _COMMANDS if isinstance(value := named.get(key), list)), None)
    parts = [_first(named, _COMMANDS) if words is None else words, items(named, "args")]
    return parts if parts[1] else parts[:1]


# --- texts -----------------------------------------------------------------------------------------------------------


def _of_text(action: _Action, text: str) -> Iterator[ToolUse]:
    """Yield the files and commands of an input that is a text: a single argument, a patch, or a path above new text."""
    if action == "command":
        yield from _of_command(text, "")
        return
    patched = list(_of_patch(text))
    yield from patched
    line = text[: _LONGEST_PATH + 1].strip().partition("\n")[0].strip()
    if action == "patch" or action == "chosen":  # noqa: PLR1714 - mypy follows this
        return
    if line and not patched and not line.startswith(("{", "[", "<", "---", "@@")):
        named_file = _NAMED_FILE.fullmatch(line)
        yield ToolUse(action, named_file[1] if named_file else line)


def _of_program(text: str) -> Iterator[ToolUse]:
    """Yield the uses of the tools that a program calls, and of the patches in its string literals.

    The program isn't run: arguments that it computes are unknown.
    """
    action: _Action | None = None
    depth, named = 0, dict[str, str]()
    for token in _TOKENS.finditer(text):
        if token["called"]:
            yield from _of_named(action, named)
            action, depth, named = _ACTIONS.get(_letters(_plain_name(token["called"]))), 1, {}
        elif token["bracket"]:
            depth += 1 if token["bracket"] in "([{" else -1
            if depth == 0:
                yield from _of_named(action, named)
                action, named = None, {}
        elif token["literal"]:
            value = token["literal"][1:].removesuffix(token["literal"][0])
            value = value if token["raw"] else clean(_ESCAPED.sub(_unescaped, value))
            key = token["quoted"] or token["key"]
            if action not in (None, "patch") and key:
                named.setdefault(_letters(key), value)
            elif action in (None, "patch"):
                yield from _of_patch(value)
    yield from _of_named(action, named)


def _of_named(action: _Action | None, named: Mapping[str, str]) -> Iterator[ToolUse]:
    """Yield the uses of a tool whose arguments are texts, by name in lower-case letters."""
    return iter(()) if action in (None, "patch") else _of_arguments(action, named)


def _unescaped(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    if number:
        code = int(number, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _ESCAPES.get(match[4], match[4])


def _of_command(command: str, folder: str) -> Iterator[ToolUse]:
    for use in (*_of_patch(command), *_of_shell(command)):
        yield use._replace(value=posixpath.join(folder, use.value)) if folder else use
    yield ToolUse("command", command)


def _of_shell(command: str) -> Iterator[ToolUse]:
    for match in _SHOWN.finditer(command[:_OPENING]):
        changes = match[1] == "sed" and any(option.startswith("-i") for option in match[2].split())
        if changes or match[1] != "sed" or "-n" in match[2].split():
            yield ToolUse("edited" if changes else "read", match[3])


def _of_patch(text: str) -> Iterator[ToolUse]:
    if "*** " not in text:
        return
    for match in _PATCHED.finditer(text[:_MAX_TEXT]):
        yield ToolUse(_PATCHES[match[1] or match[3]], (match[2] or match[4]).strip())


# --- readable inputs -------------------------------------------------------------------------------------------------


def _readable(arguments: Mapping[str, Any], depth: int, action: _Action | None = None) -> Iterator[str]:
    """Yield the lines of a tool's arguments, or of an object in them."""
    named = _by_letters(arguments)
    command = _command(named).strip() if action == "command" else ""
    path = "" if action in (None, "command") else _first(named, _PATHS)
    replacement = _replacement(arguments)
    shown = [path, *(_command_parts(named) if command else ()), *(replacement or ())]
    yield from filter(None, (command, path))
    for key, value in arguments.items():
        if _letters(key) not in _SHOWN_ALONE or value not in shown or not _is_text(value):
            yield from _member(key, value, depth)
    if replacement:
        yield from _compared(*replacement)


def _is_text(value: object) -> bool:
    """Whether an argument is a text or a list of texts, so that nothing of it is missing in a command."""
    return all(isinstance(word, str) for word in (value if isinstance(value, list) else (value,)))


def _member(key: str, value: object, depth: int) -> Iterator[str]:
    margin = _INDENT * depth
    if isinstance(value, str) and "\n" in value:
        yield f"{margin}{key}:"
        yield value.rstrip("\n")
    elif isinstance(value, dict | list) and value and depth < _DEEPEST_INPUT:
        yield f"{margin}{key}:"
        yield from _nested(value, depth + 1)
    else:
        yield f"{margin}{key}: {tool_input(value)}".rstrip()


def _nested(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _readable(value, depth)
        return
    for item in items(value):
        if isinstance(item, dict) and _replacement(item):
            yield from _readable(item, depth + 1)
        elif isinstance(item, dict) and item:
            first, *others = _readable(item, depth + 1)
            yield f"{_INDENT * depth}- {first.lstrip()}"
            yield from others
        else:
            yield f"{_INDENT * depth}- {tool_input(item)}"


def _objects(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in the lists of a tool's arguments."""
    return (mapping(item) for value in arguments.values() for item in items(value))


def _with_lines(token: re.Match[str]) -> str:
    """Return a part of a program, a string of several lines without the escapes of its line ends."""
    literal = token["literal"]
    if not literal or token["raw"] or "\\n" not in literal:
        return token[0]
    quote = literal[0]
    body = _ESCAPED.sub(_unescaped, literal[1:].removesuffix(quote)).strip("\n")
    return f"{token[0].removesuffix(literal)}{quote}\n{body}\n{quote}"


def _replacement(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the text that a tool replaces, and the new one; None if it replaces none."""
    named = _by_letters(arguments)
    old, new = (next((named[key] for key in keys if key in named), None) for keys in (_REPLACED, _REPLACING))
    return (old, new) if isinstance(old, str) and isinstance(new, str) else None


def _compared(old: str, new: str) -> Iterator[str]:
    """Yield the lines of both texts, each after a sign: - for those that are removed, + for those that are added."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) * len(after) > _MAX_COMPARED:
        yield from (f"-{line}" for line in before)
        yield from (f"+{line}" for line in after)
        return
    from difflib import SequenceMatcher  # few messages replace a text

    for tag, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f" {line}" for line in before[first:last])
        else:
            yield from (f"-{line}" for line in before[first:last])
            yield from (f"+{line}" for line in after[start:end])


# --- paths -----------------------------------------------------------------------------------------------------------


def _slashed(path: str, project: str) -> str:
    """Return a path with `/` if it is one of Windows, and without control characters."""
    windows = bool(_DRIVE.match(path) or _DRIVE.match(project))
    path = _BLANKS.sub(" ", path)
    return path.replace("\\", "/") if windows else path


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or bool(_DRIVE.match(path))
