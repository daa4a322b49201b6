"""Reasons why a file is missing from the index or only partly indexed. An index stores these sentences in English; the
window translates them (`tr_reason`)."""

import re
from functools import cache

import msgspec

from engine.base import lazy_pattern
from engine.base.language import current_language, marked, tr

_FIELD = lazy_pattern(r"\{(\w+)(:,)?\}")
_NUMBER = lazy_pattern(r"\d{1,3}(?:,\d{3})*")


class Reason(msgspec.Struct, frozen=True):
    """A sentence with fields, or its two forms for a `count`. A field `problem` may be another of these sentences."""

    one: str
    many: str = ""

    def message(self, **fields: object) -> str:
        """Return the sentence in English."""
        return (self.many if self.many and fields["count"] != 1 else self.one).format(**fields)

    def translated(self, stored: str) -> str | None:
        """Translate a stored sentence to the current language; None for any other sentence."""
        for form in filter(None, (self.one, self.many)):
            match = _pattern(form).fullmatch(stored)
            if match is not None:
                fields = {name: _value(name, text) for name, text in match.groupdict().items()}
                return tr(self.many if self.many and fields.get("count", 1) != 1 else self.one, **fields)
        return None


def tr_reason(stored: str) -> str:
    """Translate a sentence that `message` returned to the current language; return other text unchanged."""
    if current_language() == "en":
        return stored
    return next(
        (translation for reason in _reasons() if (translation := reason.translated(stored)) is not None), stored
    )


def files_covered(stored: str) -> int:
    """Return the number of files that a sentence from `message` covers: 1, or the count of a summary."""
    for reason in (OTHER_EXTENSIONS, ARCHIVES, MORE_OF_A_RULE, MORE_OTHER_FILES) if stored[:1].isdigit() else ():
        for form in filter(None, (reason.one, reason.many)):
            if match := _pattern(form).fullmatch(stored):
                return int(match[1].replace(",", ""))
    return 1


def unreadable(error: OSError) -> str:
    """Return the reason why the system cannot read a file."""
    return UNREADABLE.message(problem=error.strerror or error)


def fault(error: Exception) -> str:
    """Return the reason why a file ended its parser; without the error's text, which may quote the file."""
    return NOT_READ_TO_ITS_END.message(problem=f"{type(error).__name__}.")


def problem(error: Exception) -> str:
    """Return a parser's error as part of a sentence: a ValueError's text, as it is raised on purpose; else its type.

    The text of other errors may quote the file.
    """
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}."


@cache
def _reasons() -> tuple[Reason, ...]:
    return tuple(value for value in globals().values() if isinstance(value, Reason))


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return a pattern for the sentence with any values in its fields."""
    parts, end = [], 0
    for field in _FIELD.finditer(form):
        parts += [re.escape(form[end : field.start()]), f"(?P<{field[1]}>{'[0-9,]+' if field[2] else '.+'})"]
        end = field.end()
    pattern = "".join(parts) + re.escape(form[end:])
    return re.compile(pattern, re.DOTALL)


def _value(name: str, text: str) -> int | str:
    if name == "problem":
        return tr_reason(text)
    return int(text.replace(",", "")) if _NUMBER.fullmatch(text) else text


# --- by their names -----------------------------------------------------------------------------------------------

BAD_NAME = Reason(marked("The name contains bytes that are not text, a control character or a backslash. Rename it."))
SECRET_FOLDER = Reason(marked("Folders with keys and credentials are never read."))
SECRET_FILE = Reason(marked("Files with keys and credentials are never read."))
IGNORED_FOLDER = Reason(marked("Folders named {folder} are never indexed."))
HIDDEN_FOLDER = Reason(marked("Hidden folders are indexed only if they are among the extra folders."))
HIDDEN_FILE = Reason(marked("Hidden files are not indexed."))
EXCLUDED = Reason(marked('Excluded by the pattern "{pattern}".'))
FOLDER_NOT_INCLUDED = Reason(marked("No include pattern reaches into this folder."))
FILE_NOT_INCLUDED = Reason(marked("No include pattern matches this file."))
OTHER_EXTENSION = Reason(marked("Only {extensions} files are indexed."))
OTHER_EXTENSIONS = Reason(
    marked("{count:,} file; only {extensions} files are indexed."),
    marked("{count:,} files; only {extensions} files are indexed."),
)
ARCHIVES = Reason(
    marked("{count:,} archive is not read: unpack it to index its files."),
    marked("{count:,} archives are not read: unpack them to index their files."),
)
SOURCE_OFF = Reason(marked("Notes are not indexed, because the settings list only sessions as sources."))
MORE_OF_A_RULE = Reason(marked("{number:,} more were skipped by this rule."))
FOLDER_OF_QMD = Reason(marked("qmd never looks into folders named {folder}."))
OUTSIDE_FOR_QMD = Reason(
    marked("qmd can't index this file, because a path that begins like a: or /d/ counts as outside its folder.")
)

# --- by their paths and kinds ---------------------------------------------------------------------------------------

LINK = Reason(marked("Links are not followed."))
LINKED_PATH = Reason(marked("Links are not followed; add the file or folder that the link points to instead."))
OUTSIDE_MEMORY = Reason(
    marked(
        "This workspace keeps its notes in MEMORY.md and the folder memory; other files are indexed only "
        "if they are among the extra folders and files."
    )
)
NOT_A_FILE = Reason(marked("This is a pipe, a device or a folder with the name of a file."))
NO_EXTRA_PATH = Reason(marked("This extra folder or file does not exist."))
NO_SESSION_FOLDER = Reason(marked("The session folder {folder} does not exist."))
UNREADABLE = Reason(marked("Can't be read: {problem}."))
UNREACHABLE = Reason(marked("Can't be read now: {problem}. Files that were indexed before stay in the index."))
NOT_CONNECTED = Reason(marked("Its drive is not connected. Files that were indexed before stay in the index."))
NO_PERMISSION = Reason(marked("You don't have permission to read it: change its permissions, or exclude it."))
REPLACED = Reason(marked("The file was replaced by a link or a special file."))

# --- by content -------------------------------------------------------------------------------------------------------

TOO_LARGE = Reason(marked("{size:,} bytes; files of more than {limit:,} bytes (max_file_bytes) are left out."))
GROWN_TOO_LARGE = Reason(marked("{size:,} bytes; files of more than {limit:,} bytes are left out."))
BINARY = Reason(marked("The file isn't text: it contains many control characters."))
UNREADABLE_BY_QMD = Reason(marked("qmd could not read it ({problem})."))
NO_JSON_NOTE = Reason(marked("The file isn't a canvas or a notebook."))
OTHER_NOTEBOOK = Reason(marked("Only versions 3 and 4 of notebooks are read; save it with a current Jupyter."))
LARGE_JSON_NOTE = Reason(marked("A canvas or a notebook may have at most {limit:,} bytes."))
BROKEN_NOTE = Reason(marked("The file can't be read as a note: {problem}"))
NOT_NOTES = Reason(marked("This JSON file isn't an export of notes that can be read."))
NOT_A_NOTE = Reason(marked("Joplin stores a notebook, a tag or an attachment here, not a note."))
PGP = Reason(marked("This is a key, a signature or a message of PGP, not AsciiDoc."))
IN_TRASH = Reason(marked("This note is in the trash of the program that exported it."))
NO_PDF_READER = Reason(
    marked(
        "PDF files need the package pypdfium2, which this installation doesn't have: "
        'install Mnemoscope from its source with pipx install --force ".[documents]".'
    )
)
ENCRYPTED = Reason(marked("The file is encrypted: save a copy without a password."))
NO_TEXT = Reason(
    marked("The file contains no text. If its pages are scanned, recognize their text with an OCR program.")
)
DAMAGED_DOCUMENT = Reason(
    marked(
        "The file is damaged or has the wrong extension ({problem}): open it in the program that made it "
        "and save it again."
    )
)
SLOW_DOCUMENT = Reason(
    marked(
        "The text of the file could not be read within {seconds} seconds: split the file, or exclude it "
        "in the settings."
    )
)
NO_READER = Reason(marked("The process that reads documents could not start. Restart Mnemoscope."))
READER_DIED = Reason(
    marked(
        "The text of the file could not be read: reading it crashed or needed too much memory. Save the "
        "file again or split it."
    )
)
NOT_EMBEDDED = Reason(marked("A passage is found by words only: {problem}"))

# --- transcripts ------------------------------------------------------------------------------------------------------

NO_TRANSCRIPT_NAME = Reason(marked("It is not named like a transcript of a known agent."))
MORE_OTHER_FILES = Reason(
    marked("{count:,} more file here is not a transcript of a known agent."),
    marked("{count:,} more files here are not transcripts of a known agent."),
)
OTHER_FILES = Reason(
    marked("{count:,} file here is not read, because it is not a transcript of a known agent: {names}"),
    marked("{count:,} files here are not read, because they are not transcripts of a known agent: {names}"),
)
NO_TRANSCRIPT = Reason(marked("The file is not a transcript of a known agent."))
NO_EXPORT = Reason(
    marked("This zip file has no conversations in a known format. Choose JSON in Google Takeout, and unpack notes.")
)
NO_TRANSCRIPT_OR_EMPTY = Reason(
    marked("The file is not a transcript of a known agent, or the session has no messages.")
)
PART_OF_SESSIONS = Reason(marked("This file holds parts of sessions and is read with them."))
PACKED_TWICE = Reason(marked("This is a packed copy of the transcript next to it, which is read instead."))
CRASHED = Reason(
    marked(
        "Mnemoscope ended twice while it read this file, so the file is skipped until it changes or you "
        "rebuild the index."
    )
)
COPIED = Reason(marked("The sessions of this file are read from another file of the same agent."))
GENERATED = Reason(marked("The agent created this session for its own internal work."))
INDEXED_ELSEWHERE = Reason(marked("This session belongs to the workspace {name} ({path})."))
SESSIONS_INDEXED_ELSEWHERE = Reason(
    marked("{count:,} session belongs to the workspace {name} ({path})."),
    marked("{count:,} sessions belong to the workspace {name} ({path})."),
)
BREAKS_OFF = Reason(marked("The file breaks off after {number:,} sessions, which are indexed: {problem}"))
BROKEN_SESSIONS = Reason(
    marked("One session of this file can't be read: {problem}"),
    marked("{count:,} sessions of this file can't be read: {problem}"),
)
NOT_READ_TO_ITS_END = Reason(marked("The file could not be read to its end: {problem}"))

# --- problems as part of a sentence -----------------------------------------------------------------------------------

BROKEN_EXPORT = Reason(marked("The export breaks off or is damaged: {what}"))
BROKEN_ZIP = Reason(marked("the zip file is damaged or incomplete; download it again"))
BROKEN_DOCUMENT = Reason(marked("the document breaks off or is not JSON: {what}"))
LARGE_MEMBER = Reason(marked("{name} has {size:,} bytes; the limit is {limit:,}."))
LARGE_EXPORT = Reason(marked("The export is too large: it has more than {limit:,} bytes."))
LARGE_CONVERSATION = Reason(marked("A conversation is too large: it has more than {limit:,} bytes."))
STRANGE_MEMBER = Reason(marked("{name} is encrypted or packed in an unusual way."))
LARGE_WHEN_UNPACKED = Reason(marked("too large for a transcript once unpacked"))
BAD_COMPRESSION = Reason(marked("its compression is damaged"))
WRITTEN_ALL_THE_TIME = Reason(marked("The file kept changing while it was read; the next update reads it again."))
DAMAGED_TEXT = Reason(marked("The database cannot be read: a text in it is damaged"))
BROKEN_CHANGE = Reason(marked("A change to the database was interrupted: start the agent, which then repairs it"))
UNREADABLE_DATABASE = Reason(marked("The database cannot be read: {what}"))
NO_JSON_OBJECT = Reason(marked("no JSON object in {file}"))
NO_ZIP = Reason(marked("it isn't a zip archive"))
NO_TAR = Reason(marked("it isn't a tar archive"))
NO_MAIN_PART = Reason(marked("its text is missing"))
BROKEN_XML = Reason(marked("its XML is invalid"))
ENTITIES = Reason(marked("its XML declares entities"))
LARGE_PART = Reason(marked("a part of it is too large"))
NO_PDF = Reason(marked("it isn't a valid PDF"))
NO_RTF = Reason(marked("it isn't Rich Text Format"))
NO_MAIL = Reason(marked("it has no mail header"))
NO_PAGE = Reason(marked("it contains many control characters"))
TOO_DEEP = Reason(marked("nested too deeply"))
MANY_VALUES = Reason(marked("more values than a session can have"))

# --- configuration files with paths -----------------------------------------------------------------------------------

ENCRYPTED_CHATS = Reason(marked("Windsurf, now Devin Desktop, encrypts its own chats, so they can't be read."))
LIST_NO_FILE = Reason(
    marked("This list of session folders is not a regular file, so the folders in it are not offered.")
)
LIST_NOT_UNDERSTOOD = Reason(
    marked("This list of session folders could not be understood, so the folders in it are not offered.")
)
