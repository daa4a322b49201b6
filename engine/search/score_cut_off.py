"""Decides which scored results are shown, and adds variety if requested.

- A result is shown if its score reaches the minimum (`cut`), or if its keywords alone do, whatever its age. A long
  query needs less of them.
- One result must also be on the query's subject (`without_unrelated`): its words and its meaning together must reach
  the minimum, which rises for words that occur nowhere unless similar words cover them, and most for names. If none
  reaches twice as much, a notice calls the results only the closest passages.
- Passages in another language can't have the query's words. Their minimum rises if none has words that translate it.
- A result with all words of the query, named like it, or without a vector is always on its subject.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import Best, Moved, RaisedMinimum, Stages, Term
from engine.search.scoring import LONG_QUERY, within_limits
from engine.search.search_context import SearchContext, SearchRequest
from engine.store.connection import id_array
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

COMPARED = 20
"""Maximum number of results whose language is looked up and whose words are compared with the query's; others stay in
place, below.
"""
_COPIED = 80
"""Minimum number of characters of a text that counts as a copy if it is in several files."""
_MEANING = 0.75
"""Weight of the vector score in `_on_subject`, less than in the score: the nearest of many passages is near to any
query.
"""
_FOR_OTHER_SUBJECT, _FOR_UNKNOWN, _FOR_NAME = 0.3, 1.4, 2.0
"""Highest increases of the minimum, as shares of it: for a query that no similar words cover; for its words that occur
nowhere, by their share; for names among them. Passages about other names are as near as the answer would be.
"""
_FOR_UNKNOWN_ALONE = 0.5
"""Increase for words that occur nowhere if similar words were not compared: the answer may have these."""
_CLEAR, _CLEAR_TRANSLATION = 2.0, 1.5
"""Multiples of the minimum that show clearly that a passage is on the subject of the query; the second is for passages
in another language, compared with the words' similarity instead of the query's own words.
"""
_LIGHT_NAME = 0.1
"""Share of the query from which names that occur nowhere count in full: in a long query, they are incidental."""
_TRANSLATED, _TRANSLATED_UNSPACED = 0.64, 0.23
"""Similarity of the query's words to a passage in another language below which the minimum rises; the second is for
queries in a script without spaces, where several words are often compared as one.
"""
_FOR_OTHER_WORDS, _BELOW = 1.0, 0.1
"""Highest increase of the minimum, as a share of it, and how far below these similarities it is reached."""


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
        if scored.unboosted >= least:
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


def without_unrelated(
    snapshot: Snapshot,
    results: list[Scored],
    foreign: Set[int],
    words: KeywordScores,
    analysis: QueryAnalysis,
    context: SearchContext,
) -> tuple[list[Scored], bool]:
    """Remove the results if none is on the subject of the query, by its words and its meaning.

    Also returns whether one of the remaining results clearly is. `foreign`: the results in another language among the
    first. Alternatives are never required together.
    """
    if words.groups or not results:
        return results, True
    names = _unknown_names(words, analysis, context) if words.unknown else []
    share = sum(term.idf for term in words.unknown) / words.scale.total if words.scale.total else 0.0
    factor = 1 + _FOR_NAME * _weight(names, words)
    if coverage := [scored.coverage for scored in results if scored.coverage is not None]:
        factor += (_FOR_OTHER_SUBJECT + _FOR_UNKNOWN * share) * (1 - min(1.0, max(coverage)))
    else:
        factor += _FOR_UNKNOWN_ALONE * share
    least = context.request.min_score * factor
    own = _most_on_subject((scored for scored in results if scored.id not in foreign), _CLEAR * least)
    if 0 <= own < least:
        others = set(languages_of(snapshot, foreign).values())
        languages = languages_of(snapshot, [scored.id for scored in results]) if others else {}
        remaining = [
            scored for scored in results if scored.evidence.vector is None or languages.get(scored.id) in others
        ]
        unknown = [term.surface for term in words.unknown]
        details = RaisedMinimum(least, None if remaining else own, unknown)
        context.stages.add("unknown" if unknown else "unrelated", len(results), len(remaining), details)
        results = remaining
    results = _without_untranslated(snapshot, results, foreign, analysis, context)
    clear = own >= _CLEAR * least or any(
        scored.evidence.vector is None or (scored.id in foreign and _translates_clearly(scored, context))
        for scored in results
    )
    return results, clear


def _on_subject(scored: Scored) -> float:
    """Return how far a result's words and its meaning together show that it is on the subject of the query."""
    return scored.evidence.text + _MEANING * max(0.0, scored.evidence.vector or 0.0)


def _most_on_subject(results: Iterable[Scored], enough: float) -> float:
    """Return the highest `_on_subject` of a result with a vector, or any that is `enough`; infinite for a match of the
    name or of all words, -1 without any result.
    """
    most = -1.0
    for scored in results:
        if scored.evidence.vector is not None:
            most = max(most, math.inf if scored.named or scored.evidence.complete else _on_subject(scored))
        if most >= enough:
            break
    return most


def _weight(names: Collection[Term], words: KeywordScores) -> float:
    """Return how much names in the query that occur nowhere count, 0 to 1: less in a long query."""
    total = _LIGHT_NAME * words.scale.total
    return min(1.0, sum(term.idf for term in names) / total) if total else float(bool(names))


def _unknown_names(words: KeywordScores, analysis: QueryAnalysis, context: SearchContext) -> list[Term]:
    """Return the terms that occur nowhere and are names; empty if all are probable typing errors or times."""
    query, language = context.query.searched_text, analysis.languages[0]
    missing = {term.surface for term in words.unknown}
    names = {
        term.surface
        for term in analysis.terms
        if term.surface in missing and is_written_as_name(term.surface, term.start, query, language)
    }
    if not names or not _is_in_language(language, query, words):
        return []
    corrections = chain.from_iterable(suggestion.words for suggestion in context.suggestions)
    others = {word for word, other in corrections if " " in other or typos(fold(word), fold(other), 1) is not None}
    others.update(word for time in read_times(query) for word in time.text.split())
    return [] if others.issuperset(names) else [term for term in words.unknown if term.surface in names]


def _is_in_language(language: str, query: str, words: KeywordScores) -> bool:
    """Return whether a query with names is in its detected language, which is uncertain for a short one.

    It is certain if the query has function words of the language, or if the index contains most of the words that are
    in lower case.
    """
    plain = [bool(term.chunks) for term in words.terms if term.surface.islower()]
    return language_of_note(query) == language or 2 * sum(plain) > len(plain)


def _without_untranslated(
    snapshot: Snapshot, results: list[Scored], foreign: Set[int], analysis: QueryAnalysis, context: SearchContext
) -> list[Scored]:
    """Remove weak results if the words of no passage in another language (`foreign`) translate the query.

    Compared passages that may be in the query's language stay. A query without a function word may be in the language
    of the other passages.
    """
    least, by_keywords = context.request.min_score, least_by_keywords(analysis, context)
    compared = [scored for scored in results if scored.word_similarity is not None]
    similar = _translating(context)
    undecided = similar == _TRANSLATED and language_of_note(context.query.searched_text).startswith(UNDECIDED)
    certain = any(_is_certain(scored, by_keywords) for scored in results)
    if not foreign or not compared or undecided or certain:
        return results
    best = max(scored.word_similarity or 0.0 for scored in compared)
    raised = min(1.0, least * (1 + _FOR_OTHER_WORDS * within_limits((similar - best) / _BELOW)))
    if raised <= least:
        return results
    own = _maybe_own(snapshot, results[:COMPARED], foreign)
    translated = [scored for scored in results if scored.id in own or scored.unboosted >= raised]
    if len(translated) < len(results):
        highest = None if translated else max(scored.unboosted for scored in results)
        details = RaisedMinimum(raised, highest, (), untranslated=True)
        context.stages.add("unrelated", len(results), len(translated), details)
    return translated


def _translating(context: SearchContext) -> float:
    """Return the similarity of words from which a passage translates the query."""
    return _TRANSLATED_UNSPACED if UNSPACED in shape(context.query.searched_text) else _TRANSLATED


def _translates_clearly(scored: Scored, context: SearchContext) -> bool:
    """Return whether a result in another language is clearly on the subject of the query, as far as known."""
    if scored.word_similarity is None or scored.evidence.complete:
        return True
    translated = scored.word_similarity - _translating(context) + _on_subject(scored)
    return translated >= _CLEAR_TRANSLATION * context.request.min_score


def _is_certain(scored: Scored, by_keywords: float) -> bool:
    """Return whether a result matches by its words or its name, or has no vector yet."""
    return scored.keywords >= by_keywords or scored.named or scored.evidence.complete or scored.evidence.vector is None


def languages_of(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    """Return the language of each chunk's file."""
    return {id_: counted_as(stored) for id_, stored in _stored_languages(snapshot, ids).items()}


def _maybe_own(snapshot: Snapshot, results: Collection[Scored], foreign: Set[int]) -> set[int]:
    """Return the ids of results that may be in the query's language: those not in `foreign`, and those in files that
    don't show their language, such as a list of a few words.
    """
    stored = _stored_languages(snapshot, foreign)
    return {scored.id for scored in results if stored.get(scored.id, UNDECIDED).startswith(UNDECIDED)}


def _stored_languages(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    rows = snapshot.connection.execute(
        f"""SELECT c.id, f.language FROM {snapshot.tables.chunk_rows}
            CROSS JOIN {snapshot.tables.files} f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM carray(?))""",
        (id_array(sorted(ids)),),
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
        (id_array(files), id_array([scored.id for scored in results])),
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
