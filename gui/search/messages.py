"""Messages of the search panel, made from result and status records, and the buttons below an empty answer."""

from collections.abc import Sequence
from dataclasses import replace

from engine import (
    MemoryProviderStatus,
    QuerySuggestion,
    RemedyName,
    SearchOutcome,
    SearchRemedy,
    all_of,
    any_of,
    in_quotes,
    marked,
    shortened,
    tr,
    tr_count,
)
from gui.search.query import Query
from gui.search.scope import source_names
from gui.text.formatting import ago, files_text, passages_text
from gui.text.status_texts import (
    INDEXED_ELSEWHERE,
    engine_name,
    index_remedy,
    nothing_indexed,
    sessions_elsewhere,
    skipped_count,
    why_no_update,
)

SEARCHING = marked("Searching…")
DID_YOU_MEAN = marked("Did you mean")
_LONGEST_CORRECTED = 24
"""Characters of a corrected query that is shown whole."""
WEAK = marked("Results below the minimum score are shown too.")
EMBEDDING = marked("Search by meaning is incomplete until the running update is done.")
EMBEDDING_PAUSED = marked("Search by meaning is incomplete while the update is paused.")
MISSING_FILE = marked("A file is missing…")
_READING = ("waiting", "discovering", "indexing")
"""Phases of a sync in which not all text can be searched yet."""
_LONGEST_QUERY = 80
_SECOND = 1000
_MISSING_WORDS = {
    (False, False): marked("No passage contains these words."),
    (False, True): marked("No passage matches well enough, by words or meaning."),
    (True, False): marked("None of these results contains these words."),
    (True, True): marked("None of these results matches well enough, by words or meaning."),
}
"""Messages by whether the search was within results, and whether meaning was compared."""


def milliseconds(duration: float) -> str:
    """Format a duration in milliseconds: 9.2 -> "9 ms", 1240 -> "1.2 s"."""
    if duration < _SECOND:
        return tr("{milliseconds} ms", milliseconds=max(1, round(duration)))
    return tr("{seconds:.1f} s", seconds=duration / _SECOND)


def result_count(outcome: SearchOutcome) -> str:
    """Return "7 results", or "50 of 73 results" if not all are shown; "73+" if there may be more."""
    listed = len(outcome.results)
    if outcome.total > listed:
        if outcome.total_is_least:
            return tr("{shown:,} of {total:,}+ results", shown=listed, total=outcome.total)
        return tr_count("{shown:,} of {count:,} result", "{shown:,} of {count:,} results", outcome.total, shown=listed)
    return tr_count("{count:,} result", "{count:,} results", listed) if listed else tr("No results")


def box_state(outcome: SearchOutcome) -> str:
    return f"{result_count(outcome)} · {milliseconds(outcome.timings.total)}"


def partial_state(outcome: SearchOutcome) -> str:
    """Return the state to show after the keyword results, while the semantic ones are late."""
    return tr("{results} by words, meaning follows", results=result_count(outcome))


def header_counts(outcome: SearchOutcome) -> tuple[str, str]:
    """Return the counts above the list of results, in a long and a short form."""
    files = _file_count(outcome)
    return f"{files} · {result_count(outcome)}", files


def spoken_counts(outcome: SearchOutcome) -> str:
    """Return the number of results as a sentence for screen readers."""
    if not outcome.results:
        return tr("No results")
    return tr("{results} in {files}", results=result_count(outcome), files=_file_count(outcome))


def _file_count(outcome: SearchOutcome) -> str:
    return files_text(len({result.path for result in outcome.results}))


def indexed(status: MemoryProviderStatus | None) -> str:
    """Return the size of the index, "12 files · 80 chunks"; empty without a status."""
    return "" if status is None else f"{files_text(status.files)} · {passages_text(status.chunks)}"


def new_words(suggestion: QuerySuggestion) -> str:
    """Return the word with which a suggestion replaces an unknown one; the whole query if it replaces several."""
    return suggestion.words[0][1] if len(suggestion.words) == 1 else suggestion.query


def did_you_mean(suggestions: Sequence[QuerySuggestion]) -> str:
    """Return "Did you mean …?" with these suggestions; empty without any."""
    words = any_of(in_quotes(new_words(suggestion)) for suggestion in suggestions)
    return tr("Did you mean {words}?", words=words) if words else ""


def corrected_query(corrected: QuerySuggestion) -> str:
    """Return the sentence about a corrected query; of a long one it has only the new word, to fit a narrow list."""
    if len(corrected.words) == 1 and not corrected.is_shorter and len(corrected.query) > _LONGEST_CORRECTED:
        return tr("Showing results with {word}", word=in_quotes(corrected.words[0][1]))
    return tr("Showing results for {query}", query=in_quotes(corrected.query))


def spelling(outcome: SearchOutcome) -> str:
    """Return a sentence about a corrected query that was searched, or "Did you mean …?"; empty if there is neither."""
    if outcome.corrected is not None:
        return corrected_query(outcome.corrected)
    return did_you_mean(outcome.offered)


def reading(status: MemoryProviderStatus | None) -> str:
    """Return the progress of the first indexing; empty if it doesn't run, or if all text can be searched already."""
    if status is None or status.syncing is None or status.syncing.phase not in _READING:
        return ""
    if status.last_sync is not None and not status.last_sync.cancelled:
        return ""
    step, follows = status.syncing, tr("Results appear as files are indexed.")
    if step.phase != "indexing" or not step.total:
        sentence = tr("Mnemoscope is still reading files.")
        return f"{sentence} {follows}"
    files = tr_count("{done:,} of {count:,} file", "{done:,} of {count:,} files", step.total, done=step.completed)
    if status.paused:
        return tr("Indexing is paused: {files}.", files=files)
    sentence = tr("Mnemoscope is still reading files: {files}.", files=files)
    return f"{sentence} {follows}"


def remedies_of_status(status: MemoryProviderStatus | None) -> tuple[SearchRemedy, ...]:
    """Return the reasons in the memory's status for which any answer may be empty, each with its button."""
    advice: tuple[tuple[RemedyName, str], ...] = (("settings", _without_meaning(status)), ("sync", _outdated(status)))
    return tuple(SearchRemedy(name=name, stage="", advice=sentence) for name, sentence in advice if sentence)


def _without_meaning(status: MemoryProviderStatus | None) -> str:
    """Return why only keywords are searched although a model is selected; empty if meaning is searched too."""
    reason = "" if status is None else status.custom.get("providerUnavailableReason")
    if status is None or not reason or status.provider != "none" or status.requested_provider == "none":
        return ""
    return tr("No search by meaning. {reason}", reason=reason)


def _outdated(status: MemoryProviderStatus | None) -> str:
    """Return why the index may be out of date, so that an update may find more; empty if it follows the files."""
    if status is None or status.last_sync is None or status.syncing is not None or why_no_update(status):
        return ""
    if status.watcher.mode != "off":
        return ""
    when = ago(status.last_sync.started + status.last_sync.seconds)
    return tr("Files are not watched for changes. Last update: {when}.", when=when)


def is_known_empty(status: MemoryProviderStatus | None) -> bool:
    """Return whether an update has read the folder and found nothing to index."""
    if status is None or status.files or status.index_error or status.syncing is not None:
        return False
    return status.last_sync is not None and not (status.last_sync.cancelled or status.last_sync.error)


def hint(status: MemoryProviderStatus | None) -> tuple[str, str]:
    """Return the title and the sentence of the page before the first query."""
    how = tr("Type a few words, or a question in your own words. Search finds exact words and related meaning.")
    if status is not None and status.custom.get("searchMode") == "keyword":
        how = tr("Type a few words from the text you want to find.")
    if status is not None and status.index_error and not status.custom.get("readOnly"):
        if index_remedy(status) == "sync":
            meanwhile = tr("Meanwhile, the built-in index answers your searches.")
            title = tr("{engine} does not answer", engine=engine_name(status.backend))
            return title, f"{status.index_error} {meanwhile}"
        return tr("The index cannot be searched"), status.index_error
    if status is not None and is_known_empty(status):
        return tr("Nothing is indexed yet"), _why_nothing_is_indexed(status)
    if status is not None and not status.files:
        soon = reading(status) or tr("Notes can be found here as soon as they have been read.")
        return tr("Nothing is indexed yet"), soon
    if status is not None and {count.source for count in status.source_counts if count.files} == {"sessions"}:
        return tr("Search your past sessions"), how
    both = status is not None and "sessions" in status.sources
    return tr("Search your notes and sessions") if both else tr("Search your notes"), how


def _why_nothing_is_indexed(status: MemoryProviderStatus) -> str:
    sentences = [nothing_indexed(status)]
    if failed := len(status.failed_files):
        sentences.append(tr_count("{count:,} file can't be read.", "{count:,} files can't be read.", failed))
    if skipped := skipped_count(issue for issue in status.skipped_files if issue.rule != INDEXED_ELSEWHERE):
        words = tr_count("{count:,} file or folder was skipped.", "{count:,} files and folders were skipped.", skipped)
        sentences.append(words)
    sentences.append(sessions_elsewhere(status) or tr("Add notes to the folder, or choose another one."))
    return " ".join(sentences)


def remedies_for_empty_index(status: MemoryProviderStatus) -> list[SearchRemedy]:
    """Return remedies for a folder in which an update has found nothing to index, the likeliest first."""
    names: list[RemedyName] = ["skipped"] if status.failed_files or status.skipped_files else []
    names.append("folder")
    if "sessions" not in status.sources:
        names.append("add-sessions")
    return [SearchRemedy(name=name, stage="index", advice="") for name in names]


def empty(query: Query, outcome: SearchOutcome, still_reading: str = "", *, embedding: str = "") -> tuple[str, str]:
    """Return the title and the sentence of the page without results.

    `still_reading`: the progress of the first indexing, as returned by `reading`. `embedding`: a sentence on the update
    that makes the missing vectors.
    """
    if still_reading:
        return tr("Nothing found yet"), still_reading
    limits = _limits(query)
    all_unknown = outcome.explanation is not None and outcome.explanation.emptied_by == "words"  # its reason names them
    by_vectors = outcome.mode != "keyword" and not _language_unknown(outcome)
    sentences = (
        outcome.understood or ("" if all_unknown else _reason(query, by_vectors=by_vectors)),
        outcome.notice,
        tr(embedding) if embedding else "",
        tr("Only {limits} were searched.", limits=limits) if limits else "",
        _emptied(outcome),
    )
    return _not_found(query), " ".join(dict.fromkeys(part for part in sentences if part))


def _limits(query: Query) -> str:
    where = in_quotes(query.scope.name) if query.scope else source_names(query.sources)
    period = ""
    if query.days:
        period = tr_count("files of the past {count} day", "files of the past {count} days", query.days)
    return all_of(part for part in (where, period) if part)


def _reason(query: Query, *, by_vectors: bool) -> str:
    if query.min_score == 0:
        return tr("There are no results below the minimum score either.")
    if query.like is not None and by_vectors:
        return tr("No other passage is similar enough, by words or meaning.")
    if query.like is not None:
        return tr("No other passage has enough words in common with this passage.")
    return tr(_MISSING_WORDS[query.within is not None, by_vectors])


def _not_found(query: Query) -> str:
    if query.like is not None:
        return tr("No similar passages")
    text = shortened(query.text, _LONGEST_QUERY)
    if query.within:
        return tr("Nothing found for “{query}” within these results", query=text)
    return tr("Nothing found for “{query}”", query=text)


def _language_unknown(outcome: SearchOutcome) -> bool:
    """Return whether another model would help an empty answer, since this one doesn't know the language."""
    remedies = () if outcome.explanation is None else outcome.explanation.remedies
    return any(remedy.name == "settings" for remedy in remedies)


def _emptied(outcome: SearchOutcome) -> str:
    """Return why there are no results; empty if the page shows it already, as a remedy does with the best score."""
    explanation = outcome.explanation
    if explanation is None:
        return ""
    scores = [stage.note for stage in explanation.stages if stage.name == explanation.emptied_by]
    weak = any(remedy.name == "weak" for remedy in explanation.remedies)
    shown = (outcome.understood, outcome.notice, *(scores if weak else ()))
    return "" if explanation.reason in shown else explanation.reason


_WORDS: dict[RemedyName, str] = {
    "weak": marked("Show results below the minimum score"),
    "sources": marked("Search all sources"),
    "period": marked("Search any time"),
    "scope": marked("Search all files"),
    "limits": marked("Search everything"),
    "within": marked("Search beyond these results"),
    "age": marked("Ignore age"),
    "excluded": marked("Why is it missing?"),
    "add-sessions": marked("Add sessions…"),
    "sync": marked("Update now"),
    "embed": marked("Embed…"),
    "settings": marked("Open the settings…"),
    "folder": marked("Choose folder…"),
    "skipped": marked("Show these files"),
    "tools": marked("Index tool calls and results"),
}
_LONGEST = 28


def remedy_label(remedy: SearchRemedy) -> str:
    if remedy.query:
        return tr("Search for “{query}”", query=shortened(remedy.query, _LONGEST))
    if remedy.extension:
        return tr("Include {suffix} files", suffix=remedy.extension)
    if remedy.name == "skipped" and remedy.stage != "index":
        return tr("Choose file types…")
    return tr(_WORDS[remedy.name])


def remedied(query: Query, remedy: SearchRemedy) -> Query | None:
    """Return the query without the limit that excluded all results; None if the remedy is not another query."""
    match remedy.name:
        case "weak":
            return replace(query, min_score=0.0)
        case "sources":
            return replace(query, sources=None)
        case "period":
            return replace(query, days=None)
        case "scope":
            return replace(query, scope=None)
        case "limits":
            return replace(query, sources=None, days=None, scope=None, within=None)
        case "within":
            return replace(query, within=None)
        case "age":
            return replace(query, half_life_days=0.0)
        case "condition":
            return replace(query, text=remedy.query)
        case "words":
            return replace(query, text=remedy.query, sources=None, days=None, scope=None, within=None)
        case _:
            return None
