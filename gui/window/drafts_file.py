"""The file of what was typed and not saved: one for all folders, for its owner's eyes alone, gone when it is empty."""

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
import platformdirs

from engine import CancelToken, decode_json, read_file, replace_file

log = logging.getLogger(__name__)

_writing = Lock()


class Draft(msgspec.Struct, frozen=True):
    """`id`: of the fact, empty for a new one; or the session's stable name. `title` and `name` are a note's."""

    folder: str
    kind: Literal["fact", "note"]
    id: str
    text: str
    title: str = ""
    name: str = ""


def drafts_path() -> Path:
    return Path(platformdirs.user_data_dir("mnemoscope", appauthor=False)) / "drafts.json"


def load_drafts() -> tuple[Draft, ...]:
    """What is there; a file that cannot be read is set aside, and named in the log."""
    path = drafts_path()
    try:
        return decode_json(read_file(path), tuple[Draft, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        log.warning("What was not saved could not be read: %s", error)
    except ValueError as error:
        kept = path.with_name("drafts-damaged.json")
        with contextlib.suppress(OSError):
            path.replace(kept)
        log.warning("What was not saved is damaged (%s); it is in %s now", type(error).__name__, kept.name)
    return ()


def save_drafts(folder: str, drafts: Sequence[Draft], token: CancelToken | None = None) -> None:
    """In place of all of this folder. Any thread; a failure is only logged. Nothing once `token` was cancelled."""
    path = drafts_path()
    with _writing:
        if token is not None and token.cancelled:
            return
        all_drafts = [*(draft for draft in load_drafts() if draft.folder != folder), *drafts]
        try:
            if not all_drafts:
                path.unlink(missing_ok=True)
                return
            replace_file(path, msgspec.json.encode(all_drafts))
        except OSError as error:
            log.warning("What was typed could not be kept: %s", error)
