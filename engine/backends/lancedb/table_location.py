"""Location and credentials of a workspace's table, and how this machine and its files are named there."""

import hashlib
import os
import platform
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.backends.lancedb.table_schema import SharedFile
from engine.base.cancellation import CancelToken
from engine.base.errors import BackendError, SettingsError, StoreError
from engine.base.language import tr
from engine.base.private_files import create_private, data_folder, make_folder, read_file, temporary_path
from engine.corpus.path_guard import PathGuard
from engine.embedding import keychain
from engine.logs import hide
from engine.settings import Settings
from engine.settings.backend_settings import is_unencrypted, scheme_of, uri_problem

_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9_.-]+")
_NAME_LENGTH = 48
_CLOUD_VARIABLE = "LANCEDB_API_KEY"
_S3_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
"""Read by the storage itself; missing ones are looked up in the keychain under these names."""
_RETRIES = "2"

_FOREIGN = "//"


@dataclass(frozen=True)
class Machine:
    """Owner of files in a table: one workspace on one machine.

    Each workspace has its own id, so that two of them never treat each other's files as deleted.
    """

    id: str
    """Twelve hexadecimal digits."""
    label: str
    """Display name."""


@dataclass(frozen=True)
class TableLocation:
    uri: str
    table: str
    remote: bool
    """Whether texts leave this machine."""
    options: Mapping[str, str] = field(repr=False)
    api_key: str | None = field(repr=False)
    seconds: float
    """Timeout for a table that does not answer."""

    @property
    def address(self) -> str:
        """Location for the status, without secrets."""
        return f"{self.uri.rstrip('/')}/{self.table}"


def find_table(
    workspace: Path, settings: Settings, index_folder: Path, *, cancel: CancelToken | None = None
) -> TableLocation:
    """Return the location of a workspace's table; may ask the keychain. Raises `BackendError`, `SettingsError`,
    `ProviderError`.
    """
    own = settings.lancedb
    table = own.table or _fit(workspace.name) or "notes"
    scheme = scheme_of(own.uri)
    if problem := uri_problem(own.uri):
        raise SettingsError(problem.about(tr("The setting {key}", key="lancedb.uri")))
    if not scheme:
        folder = Path(os.path.realpath(os.path.expanduser(own.uri))) if own.uri else index_folder / "lancedb"
        if folder.is_relative_to(workspace):
            raise BackendError(
                tr("The table can't be stored among the notes: choose a folder outside {folder}.", folder=workspace)
            )
        return TableLocation(str(folder), table, False, {}, None, own.timeout_seconds)
    if is_unencrypted(own.storage_options) and not own.allow_http:
        raise BackendError(
            tr(
                "The endpoint of the LanceDB table uses http, which is not encrypted: use https, or set "
                "lancedb.allow_http = true."
            )
        )
    limit = f"{own.timeout_seconds:g}s"
    options = {
        "timeout": limit,
        "connect_timeout": limit,
        "client_max_retries": _RETRIES,
        "client_retry_timeout": f"{max(1, round(own.timeout_seconds))}",
        **own.storage_options,
        **(_from_keychain(cancel) if scheme.startswith("s3") else {}),
    }
    if any(value.strip().lower().startswith("http:") for value in own.storage_options.values()):
        options["allow_http"] = "true"
    return TableLocation(
        own.uri.strip(), table, True, options, _cloud_key(cancel) if scheme == "db" else None, own.timeout_seconds
    )


def this_machine(workspace: Path, settings: Settings) -> Machine:
    """Return this workspace on this machine; creates the machine's id at first use. Raises `StoreError`."""
    number = _machine_number()
    id_ = hashlib.sha256(f"{number}\0{workspace.resolve()}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Machine(id_, _fit(settings.lancedb.machine or platform.node()) or "machine")


def _machine_number() -> str:
    folder = data_folder()
    file = folder / "machine-id"
    try:
        make_folder(folder)
        if not file.exists():
            new = temporary_path(file)
            create_private(new)
            new.write_text(uuid.uuid4().hex, encoding="ascii")
            try:
                os.link(new, file)  # of two programs that start at the same time, the first one wins
            except FileExistsError:
                pass
            except OSError:
                new.replace(file)
            new.unlink(missing_ok=True)
        return read_file(file).decode("ascii", "replace").strip()
    except OSError as error:
        raise StoreError(
            tr(
                "The id of this machine can't be saved in {file}: {reason}.",
                file=file,
                reason=error.strerror or error,
            )
        ) from error


def _fit(name: str) -> str:
    return _INVALID_CHARACTERS.sub("-", name).strip("-._")[:_NAME_LENGTH]


def _from_keychain(cancel: CancelToken | None) -> dict[str, str]:
    """Return S3 credentials that are in no variable; none if the storage finds others, such as a profile's."""
    if any(os.environ.get(name) for name in _S3_VARIABLES):
        return {}
    try:
        values = {name: keychain.read(name, cancel=cancel) for name in _S3_VARIABLES}
    except keychain.NoKeychain:
        return {}
    if not all(values.values()):
        return {}
    return {name.lower(): _hidden(value) for name, value in values.items() if value}


def _cloud_key(cancel: CancelToken | None) -> str:
    key = os.environ.get(_CLOUD_VARIABLE, "").strip()
    if not key:
        try:
            key = keychain.read(_CLOUD_VARIABLE, cancel=cancel) or ""
        except keychain.NoKeychain:
            key = ""
    if not key:
        raise BackendError(
            tr("There is no API key for LanceDB Cloud: set the environment variable {name}.", name=_CLOUD_VARIABLE)
        )
    return _hidden(key)


def _hidden(secret: str) -> str:
    hide(secret)
    return secret


class FileNames:
    def __init__(self, machine: Callable[[], Machine], guard: PathGuard, indexed_under: Callable[[], object]) -> None:
        """`indexed_under`: the rules under which this machine's own index was last made."""
        self._machine = machine
        self._guard = guard
        self.indexed_under = indexed_under

    def stable_names(self, files: Mapping[str, SharedFile]) -> dict[str, str]:
        """Return the stable names of files by their key in the table, without own ones that the settings exclude."""
        own_id = self._machine().id
        own: dict[tuple[str, str], SharedFile] = {}
        foreign = []
        for file in files.values():
            if not any(id_ == own_id for id_, _ in file.holders):
                foreign.append(file)
            elif (known := own.get((file.source, file.path))) is None or known.mtime_ns < file.mtime_ns:
                own[file.source, file.path] = file
        refused = self._guard.refused((path for _, path in own), self.indexed_under())
        named = {file.key: file.path for file in own.values() if file.path not in refused}
        return named | _foreign_names(foreign)


def is_foreign(path: str) -> bool:
    """Whether a name belongs to a file that only another machine has."""
    return path.startswith(_FOREIGN)


def machine_of(path: str) -> str:
    """Return the machine named in a file's name."""
    return path.removeprefix(_FOREIGN).partition("/")[0]


def _foreign_names(files: Iterable[SharedFile]) -> dict[str, str]:
    taken: set[tuple[str, str]] = set()
    named = {}
    for file in sorted(files, key=lambda file: (file.path, -file.mtime_ns, file.key)):
        label = file.holders[0][1] if file.holders else "nobody"
        number, name = 1, f"{_FOREIGN}{label}/{file.path}"
        while (file.source, name) in taken:  # two machines have the same name
            number += 1
            name = f"{_FOREIGN}{label}-{number}/{file.path}"
        taken.add((file.source, name))
        named[file.key] = name
    return named
