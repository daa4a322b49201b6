"""Options of the backend that stores passages in a LanceDB table, which several machines may share."""

import ipaddress
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from engine.base import lazy_pattern
from engine.base.language import marked
from engine.settings.section import Group, Problem, Section, option

REMOTE_SCHEMES = frozenset({"s3", "s3+ddb", "gs", "gcs", "az", "abfss", "db"})
TABLE_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
MACHINE_NAME = lazy_pattern(r"[^\W_][\w.-]{0,63}")


class LanceDbSettings(Section, frozen=True):
    GROUP = Group.ENGINE

    uri: Annotated[
        str,
        option(
            "Table location",
            "Where the table is: a folder, s3://bucket/path or db://database; empty takes the user's data folder. "
            "Naming an address of another machine agrees to keep the notes' text there, with secrets masked.",
        ),
    ] = ""
    table: Annotated[
        str,
        option(
            "Table name",
            "Name of the table; machines with the same one share it. Empty takes the workspace folder's name.",
        ),
    ] = ""
    machine: Annotated[
        str,
        option("Machine name", "Name of this machine for others who see its notes; empty uses the computer's name."),
    ] = ""
    allow_http: Annotated[
        bool,
        option(
            "Allow unencrypted tables",
            "Allow http without encryption to other machines than this one.",
            group=Group.SERVICES,
        ),
    ] = False
    storage_options: Annotated[
        dict[str, str],
        option(
            "Storage options",
            "Other options of the storage, such as region or endpoint; keys and tokens do not belong here.",
            group=Group.SERVICES,
        ),
    ] = msgspec.field(default_factory=dict)
    timeout_seconds: Annotated[
        float,
        option(
            "Table timeout",
            "Seconds after which a table that does not answer is given up.",
            1,
            600,
            group=Group.LANCEDB,
        ),
    ] = 20


def scheme_of(uri: str) -> str:
    """Return the scheme, such as `s3` or `db`; empty for a folder."""
    scheme, separator, _ = uri.strip().partition("://")
    return scheme.lower() if separator else ""


def uri_problem(uri: str) -> Problem | None:
    """Return the problem of an address; None if there is none. Secrets are checked elsewhere."""
    scheme = scheme_of(uri)
    if not scheme:
        return None
    if scheme not in REMOTE_SCHEMES:
        return Problem(marked("{it} must be a folder, or an address such as s3://bucket/path or db://database."))
    parts = urlsplit(uri.strip())
    if parts.query or parts.fragment:
        return Problem(
            marked("{it} must end before the ? or #: what else the storage needs goes into lancedb.storage_options.")
        )
    if not parts.netloc:
        return Problem(marked("{it} must name a bucket or database, such as s3://bucket/path."))
    return None


def in_the_clear(options: Mapping[str, str]) -> bool:
    """Return whether these options connect to another machine without encryption."""
    for name, value in options.items():
        if "endpoint" not in name.lower() or not value.strip().lower().startswith("http:"):
            continue
        host = urlsplit(value.strip()).hostname or ""
        if not _is_loopback(host):
            return True
    return False


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
