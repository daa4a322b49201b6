"""Makes the answer from the scored chunks of a search, with a displayed result for each of the best."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_pattern
from engine.corpus.documents import is_document
from engine.corpus.note_structure import MarkupHeading
from engine.records import (
    FileRange,
    MemorySearchResult,
    PassageCopy,
    ResultText,
    SearchOutcome,
)
from engine.search.chunk_filter import Bounds, dates_of_notes, periods_of
from engine.search.keyword_scores import Scored
from engine.search.query_conditions import required_tags
from engine.search.result_set import FoundSet
from engine.search.score_cut_off import at_most_per_file, fold_copies
from engine.search.scoring import Blend
from engine.search.search_context import SearchContext
from engine.search.session_messages import (
    NO_CHUNKS,
    NearChunks,
    found_message,
    message_context,
    neighbours,
    offset_at,
    offsets_of,
    sides_to_read,
    spans_of,
)
from engine.search.snippets import make_snippet
from engine.search.term_counts import matched_fields
from engine.store.snapshot import Snapshot, StoredChunk
from engine.text import Query, QueryAnalysis, highlight_ranges
from engine.text.highlight import command_matches
from engine.text.operators import ROLE_NAMES
from engine.text.parsed_query import Field

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider

_LATER_HEADING = lazy_pattern(r"\n[ \t>]*(?:#|(?:=+|-+)[ \t]*(?:\n|\Z))|<h[1-6]", re.IGNORECASE)
"""A possible Markdown heading below the first line; without one, the slower reading of all headings is not needed."""
_SHOWN = 12
"""Number of results whose text is made with the answer, since lists show them first."""


def make_outcome(
    snapshot: Snapshot, found: FoundSet, provider: "EmbeddingProvider | None", context: SearchContext
) -> SearchOutcome:
    """Return the answer: the best results, without copies and a few per file, with notices and the explanation."""
    everything, score_inputs, request = found.results, found.score_inputs, context.request
    has_query = bool(found.analysis.terms) or request.like is not None
    with context.timed("merge"):
        different, copies = fold_copies(snapshot, everything) if has_query and not request.copies else (everything, {})
        selected, more = at_most_per_file(snapshot, different, request)
        results = _make_results(snapshot, selected, copies, found, context)
    context.stages.add("results", len(everything), len(results))
    similar_only = found.notice_on_similar(snapshot, context)
    closest = similar_only or found.notice_on_closest()
    notices = (*_notices(context), closest, found.notice_on_times(), *context.query.shown_remarks)
    explanation = None
    if request.explain is True or (request.explain and not results):
        cited = [(results[scored.id].citation, scored) for scored in selected if scored.id in results]
        fields = matched_fields(snapshot, score_inputs.words.terms, list(results))
        from engine.search.explanation import explain  # most searches aren't explained

        explanation = explain(context.stages, cited, score_inputs, fields)
    shown = [
        msgspec.structs.replace(result, more_in_file=more[id_]) if id_ in more else result
        for id_, result in results.items()
    ]
    return SearchOutcome(
        results=with_own_dates(snapshot, shown, context),
        total=found.total - len(everything) + len(different),
        total_is_least=any(scored.id in context.weakest for scored in everything),
        provider="none" if provider is None else provider.id,
        model="" if provider is None else provider.model,
        mode=found.mode(request),
        timings=context.timings(),
        notice=" ".join(dict.fromkeys(filter(None, notices))),
        explanation=explanation,
        suggestions=context.suggestions,
        all_words=bool(score_inputs.words.complete),
        unknown_words=found.unknown_words,
        similar_only=bool(similar_only),
        closest_only=found.closest_only,
        vector_weight=found.vector_weight,
        understood=_understood(context),
        within=() if found.within is None else found.within.answers,
        passage_words=tuple(term.surface for term in found.analysis.terms) if request.like else (),
    )


def _notices(context: SearchContext) -> Iterator[str]:
    """Yield the notices on a query and on the queries that it is limited to, innermost first."""
    for level in reversed(context.levels):
        if level.empty_index is not None or level.keywords_only is not None:
            from engine.search.stage_notes import notice_on  # few searches have one

            yield notice_on(level)


def _understood(context: SearchContext) -> str:
    """Describe how a query with operators was parsed; empty for plain words."""
    if context.understood is None:
        return ""
    from engine.search.parsed_query_description import describe_understood  # most queries are plain words

    return describe_understood(context.understood)


def _make_results(
    snapshot: Snapshot,
    selected: list[Scored],
    copies: Mapping[int, Sequence[int]],
    found: FoundSet,
    context: SearchContext,
) -> dict[int, MemorySearchResult]:
    """Return a result for each selected chunk in the snapshot, by id, with the locations of the copies.

    `copies`: ids of the chunks with the same text, by the id of the selected one.
    """
    roles, terms = _required_roles(context.query), found.analysis.terms
    tags = required_tags(context.query) if not terms else frozenset()
    at_call = not terms and context.request.like is None and (not roles or not roles.isdisjoint(("assistant", "tool")))
    ids = [scored.id for scored in selected]
    chunks = snapshot.chunks([*ids, *(id_ for shown_id in ids for id_ in copies.get(shown_id, ()))])
    of_sessions = [id_ for id_ in ids if id_ in chunks and chunks[id_].message_offsets is not None]
    near = neighbours(snapshot, {id_: sides_to_read(chunks[id_]) for id_ in of_sessions}) if of_sessions else {}
    analysis, blend, around = found.analysis, found.score_inputs.blend, found.score_inputs.words.around
    results = {}
    for scored in selected:
        if scored.id not in chunks:
            continue
        if context.cancel is not None:
            context.cancel.checkpoint()
        chunk = chunks[scored.id]
        text = _lazy_text(_make_text, chunk, analysis, roles, tags, scored.id in around, near.get(scored.id, NO_CHUNKS))
        same = tuple(copy_of(chunks[id_], text, chunk) for id_ in copies.get(scored.id, ()) if id_ in chunks)
        result = _make_result(chunk, scored, blend, text, same)
        if at_call:
            result = at_tool_call(snapshot, result, chunk, context.query)
        results[scored.id] = result
        if len(results) <= _SHOWN:
            result.shown  # noqa: B018 - makes the text, which is cached
    return results


def in_roles(
    snapshot: Snapshot, analysis: QueryAnalysis, results: list[Scored], context: SearchContext
) -> list[Scored]:
    """Return the results whose matching words are in messages of the roles (user, assistant, tool) that the query
    requires.
    """
    if not (roles := _required_roles(context.query)):
        return results
    with context.timed("merge"):
        chunks = snapshot.chunks([scored.id for scored in results])
        matching = [
            scored for scored in results if scored.id in chunks and matches_in_roles(chunks[scored.id], analysis, roles)
        ]
    context.stages.add("role", len(results), len(matching), roles)
    return matching


def _make_result(
    chunk: StoredChunk,
    scored: Scored,
    blend: Blend,
    text: Callable[[], ResultText],
    copies: tuple[PassageCopy, ...],
) -> MemorySearchResult:
    return MemorySearchResult(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=round(scored.score, 6),
        source=chunk.source,
        citation=chunk.citation,
        title=chunk.title,
        modified=chunk.modified,
        text=text,
        text_score=round(scored.text, 6),
        vector_score=None if scored.vector is None else round(scored.vector, 6),
        text_share=1.0 if scored.named else round(blend.text_share(scored.evidence), 6),
        copies=copies,
    )


class _LazyText:
    """A function that makes a text when it is first called, and returns the same text later."""

    def __init__(self, make: Callable[..., ResultText], *arguments: object) -> None:
        self._make = make, arguments

    def __call__(self) -> ResultText:
        return self._text

    @cached_property
    def _text(self) -> ResultText:
        make, arguments = self._make
        return make(*arguments)


# The answer by keywords and the complete one share results, and so does a query repeated after a sync.
_lazy_text = lru_cache(512)(_LazyText)


def _make_text(
    chunk: StoredChunk,
    analysis: QueryAnalysis,
    roles: frozenset[str],
    tags: frozenset[str],
    around: bool,
    near: NearChunks,
) -> ResultText:
    """Return the text of a chunk's result.

    With `roles`, only messages of these roles are highlighted and shown first. `tags` are highlighted as #tags.
    `around`: whether the title, a heading or the path may match; searching them takes as long as searching the text.
    `near`: see `neighbours`.
    """
    # A session's file name is not searched text.
    others = (chunk.path if chunk.message_offsets is None else "", chunk.title, *chunk.heading) if around else ()
    ranges, found = ranges_of(chunk.text, others, analysis, (chunk.language,))
    if tags:
        from engine.corpus.note_metadata import hashtag_ranges  # few queries have tags

        ranges = hashtag_ranges(chunk.text, tags)
    of_others = found or [()] * (2 + len(chunk.heading))
    first = 0
    heading, heading_ranges = chunk.heading, of_others[2:]
    if roles and chunk.message_offsets is not None:
        spans = spans_of(chunk, roles)
        ranges = _ranges_inside(ranges, spans)
        first = spans[0][0] if spans and not ranges else 0
    snippet = make_snippet(chunk.text[first:], ranges)
    offset = None if chunk.message_offsets is None else offset_at(chunk, first + snippet.offset)
    message = None if offset is None else found_message(offset, chunk)
    if offset is None:
        before = snippet.text[: snippet.ranges[0][0]] if snippet.ranges else ""
        heading = headings_at(chunk, snippet.first_line + before.count("\n"))
        if heading != chunk.heading and around:
            heading_ranges = ranges_of("", heading, analysis, (chunk.language,))[1]
    return ResultText(
        snippet=snippet.text,
        snippet_line=chunk.start_line + snippet.first_line if offset is None else offset.line,
        match_ranges=tuple((start, end) for start, end in snippet.ranges if start < end),
        heading=heading,
        message=message,
        context=None if message is None else message_context(message, chunk, near),
        title_ranges=of_others[1],
        heading_ranges=tuple(heading_ranges),
        path_ranges=of_others[0],
    )


def headings_at(chunk: StoredChunk, line: int) -> tuple[str, ...]:
    """Return the headings above a line of a note's chunk, outermost first; `line` counts from 0 at the chunk's start.

    A chunk is stored with the headings that all its sections with text have in common: text before a note's first
    heading has that heading, and a chunk of several sections the one above them.
    """
    stored = chunk.heading
    if is_document(chunk.path):
        return stored
    own = _headings_in(chunk.text, chunk.path)
    if not own:
        return stored
    headings = {n for heading in own for n in range(heading.line, heading.last + 1)}
    text = (n for n, words in enumerate(chunk.text.split("\n"), 1) if n > line and n not in headings and words.strip())
    below_headings = next(text, line + 1)  # a title without its own text represents the section below it
    passed = {heading.title for heading in own if heading.line <= below_headings}
    below = {heading.title for heading in own if heading.line > below_headings} - passed
    kept = next((at for at, title in enumerate(stored) if title in below), len(stored))
    above = [heading for heading in own if heading.line <= line + 1]
    if kept < len(stored) or not above or (own[0].line > 1 and not chunk.first):
        return stored[:kept]  # a line such as "# step 2" may be code that began in the previous chunk
    levels = {heading.title: heading.level for heading in reversed(own)}
    path = [(levels.get(title, 0), title) for title in stored]  # those above the chunk contain all its headings
    for heading in above:
        if heading.title not in stored and (heading.level > 1 or chunk.first):
            path = [outer for outer in path if outer[0] < heading.level]
            path.append((heading.level, heading.title))
    return tuple(title for _, title in path)


@lru_cache(1024)  # while the user types, most results stay the same
def _headings_in(text: str, name: str) -> Sequence[MarkupHeading]:
    """Return the headings in a chunk of a note; empty if none is below its first line, whose heading is stored."""
    if not name.lower().endswith(".md"):
        from engine.corpus.note_metadata import structure_of  # these take longer to import than a search

        if (structure := structure_of(text, name)) is not None:
            return structure.headings
    if _LATER_HEADING.search(text) is None:
        return ()
    from engine.corpus.chunk_boundaries import markdown_outline

    return markdown_outline(text)[0]


def with_own_dates(
    snapshot: Snapshot, results: Sequence[MemorySearchResult], context: SearchContext
) -> tuple[MemorySearchResult, ...]:
    """Return the results, each with its note's dates in the period that the query is limited to."""
    limits = context.request.filter
    periods: list[Bounds] = [] if limits.since is None and limits.until is None else [(limits.since, limits.until)]
    periods += periods_of(context.query.required) if context.query.dated else ()
    if not periods:
        return tuple(results)
    dates = dates_of_notes(snapshot, {result.path for result in results}, periods)
    return tuple(
        msgspec.structs.replace(result, dates=dates[result.path]) if result.path in dates else result
        for result in results
    )


def copy_of(chunk: StoredChunk, text: Callable[[], ResultText], original: StoredChunk) -> PassageCopy:
    """Return the location of a chunk with the same text as a result; `text` was made from the chunk `original`."""
    return PassageCopy(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        citation=chunk.citation,
        title=chunk.title,
        modified=chunk.modified,
        text=_lazy_text(_text_in_copy, text, chunk, original),
    )


def _text_in_copy(text: Callable[[], ResultText], chunk: StoredChunk, original: StoredChunk) -> ResultText:
    shown, message = text(), None
    line = shown.snippet_line + chunk.start_line - original.start_line
    if chunk.message_offsets is not None:
        ordinal = None if shown.message is None else shown.message.ordinal
        offset = offset_at(chunk, next((at.offset for at in offsets_of(original) if at.ordinal == ordinal), 0))
        message, line = found_message(offset, chunk), offset.line
    return msgspec.structs.replace(
        shown, snippet_line=line, message=message, context=None, title_ranges=(), path_ranges=()
    )


def at_tool_call(
    snapshot: Snapshot, result: MemorySearchResult, chunk: StoredChunk, query: Query
) -> MemorySearchResult:
    """Move a result to the session's last tool call with a file or command that the query requires.

    Returns the result unchanged without such a call. Only for a query without words, since words are found in messages.
    """
    files = query.values_of_required("file")
    commands = query.values_of_required("command")
    if chunk.message_offsets is None or not (files or commands):
        return result
    from engine.corpus.transcripts.message_offsets import MessageOffset
    from engine.corpus.transcripts.tool_uses import file_matcher  # imports redaction, and few queries need it
    from engine.store.sessions import calls_in_session, chunk_before

    fits = [file_matcher(value)[1] for value in files]
    for line, ordinal, kind, value in reversed(calls_in_session(snapshot, chunk.path)):
        if kind == "command":
            found = any(next(command_matches(command, value), None) is not None for command in commands)
        else:
            found = any(fit(value, chunk.project) for fit in fits)
        if found:
            snippet = make_snippet(value, highlight_ranges(value, query))
            offset = MessageOffset(0, line, ordinal, "", "assistant")
            message, id_ = found_message(offset, chunk), chunk_before(snapshot, chunk.id, line)
            before = snapshot.chunks([id_]).get(id_, chunk)
            near = neighbours(snapshot, {before.id: (True, False)})[before.id]
            text = msgspec.structs.replace(
                result.shown,
                snippet=snippet.text,
                snippet_line=line,
                match_ranges=tuple((start, end) for start, end in snippet.ranges if start < end),
                message=message,
                context=message_context(message, before, near),
            )
            return msgspec.structs.replace(result, text=text)
    return result


def ranges_of(
    text: str, others: Sequence[str], analysis: QueryAnalysis, languages: Sequence[str] = ()
) -> tuple[list[FileRange], list[tuple[FileRange, ...]]]:
    """Return the ranges of matches in a text, and in each of `others` (title, headings, path).

    All are searched as one text, since one call for each would take far longer.
    """
    highlighted = highlight_ranges("\n".join((text, *others)), analysis, languages)
    end = len(text)
    # A quotation may match across the end of a text, so ranges are cut there.
    ranges = [(first, min(last, end)) for first, last in highlighted if first < end]
    rest = [(first, last) for first, last in highlighted if last > end + 1]
    around = []
    for other in others:
        begin, end = end + 1, end + 1 + len(other)
        inside = [(max(first, begin) - begin, min(last, end) - begin) for first, last in rest] if rest else ()
        around.append(tuple([(first, last) for first, last in inside if first < last]))
    return ranges, around


def matches_in_roles(chunk: StoredChunk, analysis: QueryAnalysis, roles: frozenset[str]) -> bool:
    """Whether a word of the query is in a message of these roles; also true if no message contains one."""
    ranges = _matches(chunk, analysis)
    return not ranges or bool(_ranges_inside(ranges, spans_of(chunk, roles)))


def _matches(chunk: StoredChunk, analysis: QueryAnalysis) -> list[FileRange]:
    return highlight_ranges(chunk.text, analysis, (chunk.language,))


def _ranges_inside(ranges: Sequence[FileRange], spans: Sequence[FileRange]) -> list[FileRange]:
    return [(start, end) for start, end in ranges if any(first <= start < last for first, last in spans)]


def _required_roles(query: Query) -> frozenset[str]:
    """Return the roles (user, assistant, tool) whose messages the query is limited to; empty for all."""
    for clause in query.required:
        names = [atom.value for atom in clause.alternatives if isinstance(atom, Field) and atom.name == "role"]
        if len(names) == len(clause.alternatives) and not clause.negated:
            return frozenset(ROLE_NAMES[name.casefold()] for name in names)
    return frozenset()
