"""Applies the threshold to scored results, raised for unknown words or subjects, and adds variety if requested."""

import math
from collections import Counter
from collections.abc import Collection, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.search.candidates import KeywordPart
from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import Best, Moved, RaisedMinimum, Stages, Term
from engine.search.scoring import FOR_UNKNOWN, LONG_QUERY, SHORT_QUERY, within_limits
from engine.search.search_context import SearchContext, SearchRequest
from engine.store.connection import many
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis
from engine.text.folding import fold
from engine.text.languages import language_of_note
from engine.text.query_analysis import is_written_as_name
from engine.text.spelling import typos
from engine.text.stems import UNDECIDED, counted_as
from engine.text.time_expressions import read_times
from engine.text.writing_systems import UNSPACED, shape

if TYPE_CHECKING:
    from engine.search.diversity import Similarity
    from engine.search.vector_leg import VectorLeg

_COPIED = 80
"""Fewest characters of a text that counts as a copy if it is in several files."""
_FOR_UNKNOWN_NAME = 2.0
"""Increase of the minimum if a name in the query occurs nowhere, as a share of the minimum: passages about others are
as near in meaning as the answer would be.
"""
_OTHER_WORDS = 1.5
"""Least keyword score, relative to the minimum, of results without that name and other words of the query: passages
about other names share everyday words.
"""
_FOR_FEW_WORDS = 2.5
"""Increase of the minimum for a long query if no passage has enough of its words, as a share of the minimum: notes on
its subject would use more of them.
"""
_MANY = 8
"""Number of indexed words of a query from which the full increase is applied."""
_LIGHT_NAME = 0.1
"""Share of the query from which names that occur nowhere count in full: in a long query, they are incidental."""
_FOR_UNRELATED = 1.25
"""Increase of the minimum if no passage shares the query's subject, as a share of the minimum; it is small if one
probably does.
"""
_SIMILAR_LINES, _SIMILAR_WORDS, _SIMILAR_UNSPACED = 0.2, 0.64, 0.23
"""Similarities of a query's words to two adjacent lines, to a passage in another language, and to one for a query in a
script without spaces, below which the minimum rises. Those to passages are higher, since each word is compared with
more others; without spaces, several words are often compared as one.
"""
_FOR_OTHER_WORDS, _BELOW = 1.0, 0.1
"""Highest increase, as a share of the minimum, and how far below these similarities it is reached."""
_MIN_PASSAGES = 100
"""Number of passages from which it is applied within one language: in few, even answers hardly have similar words."""
_MIN_COMPARED = 3
"""Number of results in another language whose words are compared if none reaches the minimum."""


def least_by_keywords(analysis: QueryAnalysis, context: SearchContext) -> float:
    """Return the minimum for keyword scores, lower for a long query, whose answer holds only some of its words."""
    return context.request.min_score * min(1.0, math.sqrt(LONG_QUERY / max(1, analysis.word_count)))


def cut(ranked: list[Scored], others: int, least: float, by_keywords: float, stages: Stages) -> list[Scored]:
    """Remove the results whose score is below the minimum `least` and whose keyword score is below `by_keywords`.

    `others`: number of further candidates, whose scores are known to be below both.

    The score includes ageing, as in the reference. The keyword score doesn't: a search for the words or the name of an
    old note finds it, though below newer ones. A result that stays for its keyword score alone gets at least `least` as
    score, so that no displayed score is below it. A time that the query names only changes the order: with raised
    scores, twice as many off-topic results would pass.
    """
    results = []
    for scored in ranked:
        if scored.unlifted >= least:
            results.append(scored)
        elif scored.fresh >= least if scored.named else scored.keywords >= by_keywords:
            results.append(replace(scored, score=max(least, scored.score), by_keywords=not scored.named))
    # A note whose name matches the query stays first, whatever its age.
    results.sort(key=lambda scored: (not scored.named, -scored.score))
    remaining = {scored.id for scored in results}
    out = [scored for scored in ranked if scored.id not in remaining]
    aged = [scored.fresh for scored in out if scored.fresh >= least]
    if any(scored.age is not None for scored in ranked):
        stages.add(
            "age", len(ranked), len(ranked) - len(aged), Best(least, None if results else max(aged, default=None))
        )
    below = [scored.fresh for scored in out if scored.fresh < least]
    best = Best(least, None if results else max(below, default=None))
    stages.add("threshold", len(ranked) + others - len(aged), len(results), best)
    return results


def without_chance_matches(
    snapshot: Snapshot,
    results: list[Scored],
    words: KeywordScores,
    analysis: QueryAnalysis,
    least: float,
    context: SearchContext,
) -> list[Scored]:
    """Remove weak results that match by vectors alone, if words of the query occur nowhere in the index, or if it is
    long and no passage has enough of them.

    Applies only to results in the query's language, since notes in another one can't have its words. Results with all
    other words stay, since the unknown word may be a typing error. If it is a name, their keyword score must reach the
    minimum; the score of results without some of the other words must be clearly above it.
    `least`: the minimum for results by vectors.
    """
    by_keywords = least_by_keywords(analysis, context)
    missing, language = words.unknown, analysis.languages[0]
    few = _FOR_FEW_WORDS * _shortfall(results, words, by_keywords)
    if not (missing or few) or not language or words.groups or not words.scale.total:
        return results
    share = sum(term.idf for term in missing) / words.scale.total
    names = _unknown_names(words, analysis, context) if missing else []
    name = min(1.0, sum(term.idf for term in names) / (_LIGHT_NAME * words.scale.total))
    times = _times(words, context) if names else frozenset[int]()
    raised = min(1.0, least * (1 + FOR_UNKNOWN * share + _FOR_UNKNOWN_NAME * name + few))

    def stays(scored: Scored) -> bool:
        if scored.unlifted >= raised or scored.named or scored.evidence.vector is None:
            return True
        known = _holds_known(words, scored.id)
        if not names:
            return scored.keywords >= by_keywords or known
        from_others = scored.keywords * (1 - _share_of(times, words, scored.id))
        return from_others >= by_keywords * (1.0 if known else 1 + (_OTHER_WORDS - 1) * name)

    doubted = {scored.id for scored in results if not stays(scored)}
    left_out = {id_ for id_, other in languages_of(snapshot, doubted).items() if other == language}
    kept_results = [scored for scored in results if scored.id not in left_out]
    best = None if kept_results else max((scored.unlifted for scored in results), default=None)
    if left_out:
        unknown = [term.surface for term in missing]
        stage = "unknown" if unknown else "unrelated"
        context.stages.add(stage, len(results), len(kept_results), RaisedMinimum(raised, best, unknown))
    return kept_results


def _shortfall(results: list[Scored], words: KeywordScores, by_keywords: float) -> float:
    """Return the share of the minimum for keyword scores, `by_keywords`, by which the best one is below it.

    It is less for a query with few words that the index has, 0 without enough: the answer may use other words.
    """
    known = sum(term.chunks > 0 for term in words.terms)
    if known < LONG_QUERY or not by_keywords:
        return 0.0
    best = max((1.0 if scored.evidence.complete else scored.keywords for scored in results), default=0.0)
    return within_limits(1 - best / by_keywords) * within_limits((known - LONG_QUERY + 1) / (_MANY - LONG_QUERY + 1))


def _unknown_names(words: KeywordScores, analysis: QueryAnalysis, context: SearchContext) -> list[Term]:
    """Return the terms that occur nowhere and are names; empty if all are probable typing errors or times."""
    query, language = context.query.searched_text, analysis.languages[0]
    missing = {term.surface for term in words.unknown}
    names = {
        term.surface
        for term in analysis.terms
        if term.surface in missing and is_written_as_name(term.surface, term.start, query, language)
    }
    if not names or not _is_in(language, query, words):
        return []
    corrections = chain.from_iterable(suggestion.words for suggestion in context.suggestions)
    others = {word for word, other in corrections if " " in other or typos(fold(word), fold(other), 1) is not None}
    others.update(word for time in read_times(query) for word in time.text.split())
    return [] if others.issuperset(names) else [term for term in words.unknown if term.surface in names]


def _is_in(language: str, query: str, words: KeywordScores) -> bool:
    """Return whether a query with names is in its detected language, which is uncertain for a short one.

    It is certain if the query has function words of the language, or if the index contains most of the words that are
    in lower case.
    """
    plain = [bool(term.chunks) for term in words.terms if term.surface.islower()]
    return language_of_note(query) == language or 2 * sum(plain) > len(plain)


def _holds_known(words: KeywordScores, id_: int) -> bool:
    """Return whether a chunk contains every counted term that occurs in the index, and there is at least one."""
    contributions = words.contributions.get(id_, ())
    counted = words.counted(id_, contributions) if contributions else ()
    scores = [contributions[index] for index in counted if words.terms[index].chunks]
    return bool(scores) and all(scores)


def _times(words: KeywordScores, context: SearchContext) -> Set[int]:
    """Return the positions of the terms that name a time: passages about other names have the same dates."""
    named = {fold(word) for time in read_times(context.query.searched_text) for word in time.text.split()}
    return {index for index, term in enumerate(words.terms) if fold(term.surface) in named}


def _share_of(terms: Set[int], words: KeywordScores, id_: int) -> float:
    """Return the share of a chunk's BM25 sum that the terms at these positions contribute."""
    contributions = words.contributions.get(id_, ())
    total = sum(contributions)
    return sum(contributions[index] for index in terms) / total if terms and total else 0.0


def minimum_by_vectors(
    results: list[Scored], vector_leg: "VectorLeg | None", least: float, by_keywords: float
) -> float:
    """Return the minimum score for results by vectors alone: higher if no passage seems to share the query's subject.

    The nearest of many unrelated passages is near enough for the usual minimum, `least`. A result with the query's
    words or its name shows that the index has the subject.
    """
    if vector_leg is None or not results or _is_certain(results, by_keywords):
        return least
    unrelated = 1 - vector_leg.shared_subject()
    return min(1.0, least * (1 + _FOR_UNRELATED * unrelated * unrelated))


def _is_certain(results: list[Scored], by_keywords: float) -> bool:
    """Return whether a result matches by its words or its name, or has no vector yet."""
    return any(
        scored.keywords >= by_keywords or scored.named or scored.evidence.complete or scored.evidence.vector is None
        for scored in results
    )


def first_compared(results: list[Scored], least: float, raised: float) -> int:
    """Return how many results to compare with the query's words: all that reach the minimum `raised`, else a few."""
    reaching = sum(scored.unlifted >= raised for scored in results) if raised > least else len(results)
    return reaching or _MIN_COMPARED


def minimum_by_words(
    results: list[Scored], least: float, raised: float, by_keywords: float, part: KeywordPart, query: str
) -> float:
    """Return the minimum score for results by vectors alone, by the similarity of their words to the query's words.

    The vector of a passage may be near that of a query although no word is, and then more than `raised` is needed. If
    words of a passage in another language translate the query, the usual minimum, `least`, is enough, whether or not
    passages seem to share the subject. In one language, one or two words and small indexes show too little; a query
    without a function word may be in the language of the passages after all.
    """
    compared = [scored for scored in results if scored.word_similarity is not None]
    if not compared or _is_certain(results, by_keywords):
        return raised
    best = max(scored.word_similarity or 0.0 for scored in compared)
    if compared[0].by_lines:
        if part.analysis.word_count < SHORT_QUERY or part.leg.chunks < _MIN_PASSAGES:
            return raised
        similar = _SIMILAR_LINES
    elif UNSPACED in shape(query):
        similar = _SIMILAR_UNSPACED
    elif best < _SIMILAR_WORDS and language_of_note(query).startswith(UNDECIDED):
        return raised
    else:
        similar, raised = _SIMILAR_WORDS, least
    return min(1.0, raised * (1 + _FOR_OTHER_WORDS * within_limits((similar - best) / _BELOW)))


def without_unrelated(
    results: list[Scored], least: float, raised: float, by_words: float, own: Set[int], stages: Stages
) -> list[Scored]:
    """Remove results below the minimum for results by vectors, if that is above the usual minimum, `least`.

    The minimum is `by_words`, but `raised` for the results `own`: they may be in the query's language, and words were
    compared with passages in other languages.
    """
    highest = max(raised, by_words) if own else by_words
    if highest <= least:
        return results
    related = [scored for scored in results if scored.unlifted >= (raised if scored.id in own else by_words)]
    if len(related) < len(results):
        best = None if related else max(scored.unlifted for scored in results)
        foreign = any(scored.word_similarity is not None and not scored.by_lines for scored in results)
        details = RaisedMinimum(highest, best, (), untranslated=foreign and highest == by_words)
        stages.add("unrelated", len(results), len(related), details)
    return related


def languages_of(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    """Return the language of each chunk's file."""
    return {id_: counted_as(stored) for id_, stored in _stored_languages(snapshot, ids).items()}


def maybe_own(snapshot: Snapshot, results: Collection[Scored], foreign: Set[int]) -> set[int]:
    """Return the ids of results that may be in the query's language: those not in `foreign`, and those in files that
    don't show their language, such as a list of a few words.
    """
    stored = _stored_languages(snapshot, foreign)
    return {scored.id for scored in results if stored.get(scored.id, UNDECIDED).startswith(UNDECIDED)}


def _stored_languages(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    rows = snapshot.connection.execute(
        f"""SELECT c.id, f.language FROM {snapshot.tables.chunk_rows}
            CROSS JOIN {snapshot.tables.files} f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM carray(?))""",
        (many(sorted(ids)),),
    )
    return dict(rows)


def fold_copies(snapshot: Snapshot, results: list[Scored]) -> tuple[list[Scored], dict[int, list[int]]]:
    """Keep only one of the results with the same text in several files, such as copies of a note.

    Also returns the ids of the removed results, best first, by id of the result that stays. The best one stays. Of
    several with the same score, it is one in a file that already has a result, else the one with the shortest path,
    since "note.md" is copied to "note (1).md". Texts of a few words are not joined: several files may have them without
    being copies.
    """
    repeated = snapshot.repeated_texts([scored.id for scored in results], _COPIED)
    texts = {id_: (path, hash_) for id_, path, hash_ in repeated}
    groups: dict[bytes, list[int]] = {}
    for index, scored in enumerate(results):
        if scored.id in texts:
            groups.setdefault(texts[scored.id][1], []).append(index)
    rows, copies, chosen = list(results), dict[int, list[int]](), set[str]()
    for group in groups.values():
        paths = {index: texts[results[index].id][0] for index in group}
        if len(set(paths.values())) > 1:
            first = results[group[0]]
            equal = [at for at in group if (results[at].named, results[at].score) == (first.named, first.score)]
            best = min(equal, key=lambda at: (paths[at] not in chosen, len(paths[at]), paths[at]))
            chosen.add(paths[best])
            copies[results[best].id] = [results[at].id for at in group if paths[at] != paths[best]]
            rows[group[0]], rows[best] = results[best], first
    left_out = {id_ for ids in copies.values() for id_ in ids}
    return [row for row in rows if row.id not in left_out], copies


def at_most_per_file(
    snapshot: Snapshot, results: list[Scored], request: SearchRequest
) -> tuple[list[Scored], dict[int, int]]:
    """Select the results to show, with a limit on results from the same file.

    Also returns, by id of the last shown result of a file, how many results of that file are left out. A file with more
    results than the limit makes room for others. If only one file was found, all its results are shown.
    """
    most, limit = request.per_file, request.max_results
    if not most or len(results) <= most:
        return results[:limit], {}
    listed: list[Scored] = []
    last: dict[int, int] = {}
    rows: Counter[int] = Counter()
    for start in range(0, len(results), limit):  # usually the first part suffices, and files take time to look up
        part = results[start : start + limit]
        files = dict(snapshot.files_of_chunks(sorted(scored.id for scored in part)))
        for scored in part:
            file = files.get(scored.id)
            if file is not None and rows[file] < most and len(listed) < limit:
                rows[file] += 1
                listed.append(scored)
                last[file] = scored.id
        if len(listed) == limit:
            break
    found = _rows_of_files(snapshot, list(last), results)
    if len(last) == 1 and sum(found.values()) == len(results):
        return results[:limit], {}
    return listed, {last[file]: found[file] - count for file, count in rows.items() if found[file] > count}


def _rows_of_files(snapshot: Snapshot, files: Sequence[int], results: list[Scored]) -> dict[int, int]:
    """Return the number of `results` in each file, by file id."""
    # The unary plus lets SQLite read the index of files: rows of chunks are large and far apart.
    found = snapshot.connection.execute(
        f"""SELECT file_id, count(*) FROM {snapshot.tables.chunks}
            WHERE file_id IN (SELECT value FROM carray(?)) AND +id IN (SELECT value FROM carray(?)) GROUP BY file_id""",
        (many(files), many([scored.id for scored in results])),
    )
    return dict(found)


def diverse(results: list[Scored], similarity: "Similarity", weight: float, limit: int, stages: Stages) -> list[Scored]:
    """Reorder the first `limit` results so that similar ones are apart.

    Runs after the threshold, unlike the reference: scores are unchanged, so the same results are found, and results
    below the threshold don't affect the order.
    """
    from engine.search.diversity import MAX_REORDERED, diversify  # off by default

    best = results[:MAX_REORDERED]
    chosen = diversify([scored.score for scored in best], similarity, weight, limit)
    first = [replace(best[row.by_score], chosen=row) for row in chosen]
    chosen_ids = {row.by_score for row in chosen}
    moved = sum(row.by_score != rank for rank, row in enumerate(chosen))
    stages.add("diversity", len(results), len(results), Moved(moved, len(first)))
    return first + [scored for row, scored in enumerate(results) if row not in chosen_ids]
