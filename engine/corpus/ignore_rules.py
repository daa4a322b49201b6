"""Rules that exclude files and folders by name, shared by discovery, path guard and watcher.

The rules use names only. `secret` has priority over every setting; `ignored-folder` is the reference's watcher list,
applied to discovery too; `hidden` excludes files that programs store next to notes (.obsidian, .trash, ._note.md); then
come the user's own `exclude`, `include` and `extensions`.
"""

import re

import msgspec

from engine.base import lazy_pattern, skip_reasons
from engine.corpus.globs import Globs
from engine.settings import Settings

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"})
_COPIES = ("logseq/bak", "logseq/version-files")
"""Folders in which Logseq keeps earlier versions of its pages."""
SECRET_FOLDERS = frozenset(
    {".ssh", ".aws", ".azure", ".gnupg", ".gpg", ".kube", ".password-store", "keyrings", "keychains"}
)
_SECRET_FILE = lazy_pattern(
    r"\.env.*"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?"
    r"|[._]netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials"
    r"|.*\.(?:pem|key|p12|pfx|ppk|jks|keystore|keyring|kdbx?|keychain.*)",
    re.DOTALL,
)
# Control characters would reach terminals, a backslash is a separator elsewhere, surrogates are invalid UTF-8.
_UNUSABLE = lazy_pattern(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_UNDECODABLE = lazy_pattern(r"[\ud800-\udfff]")


class Match(msgspec.Struct, frozen=True):
    """The rule that excludes a file or folder, with an explanation in one sentence."""

    rule: str
    detail: str
    pattern: str = ""
    """Pattern of the settings that matches; empty for other rules."""


BAD_NAME = Match("bad-name", skip_reasons.BAD_NAME.message())


class IgnoreRules:
    """Decides by name which files and folders are excluded, under one workspace's settings."""

    def __init__(self, settings: Settings) -> None:
        # Case-insensitive: the reference accepts only ".md", and silently ignores NOTES.MD from a camera or an old
        # disk.
        self.extensions = tuple("." + ending.lstrip("*.").lower() for ending in settings.extensions)
        self._include = Globs(settings.include) or None
        self._exclude = Globs(settings.exclude) or None

    def rule_for(self, relative_path: str, is_dir: bool, *, root: str = "") -> str | None:
        """Return the name of the rule that excludes a path or a folder above it; None if none does.

        `root` is the stable name of its root: a folder that the user named as an extra path is itself neither hidden
        nor ignored.
        """
        names = relative_path.split("/")
        start = root.count("/") + 1 if root else 0
        for depth in range(start, len(names) - 1):
            match = self.for_folder("/".join(names[: depth + 1]), names[depth])
            if match:
                return match.rule
        match = self.for_folder(relative_path, names[-1]) if is_dir else self.for_file(relative_path, names[-1])
        return match.rule if match else None

    def for_folder(self, name: str, base: str) -> Match | None:
        """Return the rule that excludes a folder, given by its stable name and last component; None if none does.

        The folders above it must be accepted.
        """
        if is_unusable(base):
            return BAD_NAME
        if base.lower() in SECRET_FOLDERS:
            return Match("secret", skip_reasons.SECRET_FOLDER.message())
        if base in IGNORED_FOLDERS:
            return Match("ignored-folder", skip_reasons.IGNORED_FOLDER.message(folder=base))
        if (ending := "/".join(name.split("/")[-2:])) in _COPIES:
            return Match("ignored-folder", skip_reasons.IGNORED_FOLDER.message(folder=ending))
        if base.startswith("."):
            return Match("hidden", skip_reasons.HIDDEN_FOLDER.message())
        if self._exclude and (pattern := self._exclude.matching(name, True)):
            return Match("exclude", skip_reasons.EXCLUDED.message(pattern=pattern), pattern)
        if self._include and not self._include.may_cover_inside(name):
            return Match("not-included", skip_reasons.FOLDER_NOT_INCLUDED.message())
        return None

    def for_file(self, name: str, base: str) -> Match | None:
        """Return the rule that excludes a file; None if none does.

        Files of the rule `extension` should be counted, not listed.
        """
        lowered = base.lower()
        if _SECRET_FILE.fullmatch(lowered):
            return Match("secret", skip_reasons.SECRET_FILE.message())
        if not lowered.endswith(self.extensions):
            return Match("extension", skip_reasons.OTHER_EXTENSION.message(extensions=", ".join(self.extensions)))
        if _UNUSABLE.search(base):
            return BAD_NAME
        if base[:1] == ".":
            return Match("hidden", skip_reasons.HIDDEN_FILE.message())
        if self._exclude and (pattern := self._exclude.matching(name, False)):
            return Match("exclude", skip_reasons.EXCLUDED.message(pattern=pattern), pattern)
        if self._include and not self._include.covers(name):
            return Match("not-included", skip_reasons.FILE_NOT_INCLUDED.message())
        return None


def is_unusable(name: str) -> bool:
    """Whether a name can't be stored, printed or typed, so that the rule `bad-name` excludes its file."""
    return _UNUSABLE.search(name) is not None


def printable_name(name: str) -> str:
    """Return the name with a replacement character for each undecodable byte, so that it can be stored and printed."""
    return name if name.isascii() else _UNDECODABLE.sub("\ufffd", name)
