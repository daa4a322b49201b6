"""Names of files in other workspaces: `///garden/daily/2026-05-31.md`. No stable name begins with three slashes; two
mark another machine's file in a shared table.
"""

_MARK = "///"


def name_in(workspace: str, path: str) -> str:
    """Return the name of a file, or citation, in the workspace of this name."""
    return f"{_MARK}{workspace}/{path}"


def split_name(name: str) -> tuple[str, str]:
    """Return workspace name (empty for the open one) and stable name of a file."""
    if not name.startswith(_MARK):
        return "", name
    workspace, _, path = name.removeprefix(_MARK).partition("/")
    return workspace, path
