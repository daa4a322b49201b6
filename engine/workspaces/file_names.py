"""How a file of another workspace is named where several are searched: `///garden/daily/2026-05-31.md`.

No stable name begins with three slashes (with two does one of another machine, in a shared table).
"""

_MARK = "///"


def name_in(workspace: str, path: str) -> str:
    """The name of a file (or a citation of it) with this stable name in the workspace of this name."""
    return f"{_MARK}{workspace}/{path}"


def split_name(name: str) -> tuple[str, str]:
    """The name of the workspace, empty for the one that is open, and the stable name of the file there."""
    if not name.startswith(_MARK):
        return "", name
    workspace, _, path = name.removeprefix(_MARK).partition("/")
    return workspace, path
