"""Keeps a search to what its query demands: before candidates are chosen, and by who speaks among what was kept."""

from collections.abc import Sequence

from engine.base.formatting import any_of
from engine.base.language import tr
from engine.search.chunk_filter import ChunkFilter
from engine.search.explanation import Scored
from engine.search.query_conditions import Conditions
from engine.search.query_summary import demand, understood
from engine.search.results import said_by
from engine.search.search_context import SearchContext
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis


def restrict(
    snapshot: Snapshot, demands: Conditions, files: Sequence[int] | None, work: SearchContext, *, listed: bool
) -> ChunkFilter:
    """What may be found: in the files that pass the filters, the chunks that satisfy the query.

    `listed`: somebody else than FTS5 needs to know them.
    """
    among = ChunkFilter(files)
    if demands:
        match = demands.match()
        listed = listed or match is None or work.request.explain
        among = ChunkFilter(files, demands.chunks(files) if listed else None, match)
    if not work.query.plain:
        chunks = snapshot.chunk_count()
        note = understood(work.query)
        some = not demands or (demands.some(files) if among.chunks is None else bool(among.chunks))
        if not some and (unmet := demands.unmet(files)):
            demanded = any_of(map(demand, unmet))
            if files is None:
                note += " " + tr("Nothing {demands}.", demands=demanded)
            else:
                note += " " + tr("Nothing that passes the filters {demands}.", demands=demanded)
        if work.query.demands("tag") and not _has_tags(snapshot):
            work.tags_wait = True
            note += " " + tr("Tags are known once the update that is due has read all notes again.")
        work.understood = note
        work.stages.add("query", chunks, chunks if among.chunks is None else len(among.chunks), note)
    return among


def _has_tags(snapshot: Snapshot) -> bool:
    """Whether the notes were indexed with their tags."""
    from engine.corpus.tags import indexed_by  # few queries ask for tags

    return indexed_by(snapshot.meta("fingerprint"))


def said(
    snapshot: Snapshot, question: QueryAnalysis, kept: list[Scored], roles: frozenset[str], work: SearchContext
) -> list[Scored]:
    """Those whose matching words were said by one of these roles, and not only beside what they said."""
    with work.timed("merge"):
        chunks = snapshot.chunks([scored.id for scored in kept])
        found = [scored for scored in kept if scored.id in chunks and said_by(chunks[scored.id], question, roles)]
    note = tr("The rest has the words where somebody else than {roles} speaks.", roles=any_of(sorted(roles)))
    work.stages.add("role", len(kept), len(found), note)
    return found
