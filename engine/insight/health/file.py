"""The database file as a whole: what of it is empty, left over, or of nobody's use any more."""

from engine.insight.health.subject import Matter, Seen, Subject
from engine.store import integrity
from engine.store.index import WORDS_TO_FORGET
from engine.store.snapshot import MOST_FREE
from engine.wording import plural, size

DATABASE = "database"


def damage(subject: Subject) -> str:
    """What is wrong with the file, one sentence; empty when nothing is. Reads all of it."""
    with subject.store.read(subject.cancel) as snapshot:
        return integrity.damage(snapshot)


def sound(subject: Subject) -> str:
    """What is said of a file without damage."""
    return f"SQLite read all {size(subject.store.sizes().database)} of it and found no damage."


def _look_for_space(subject: Subject) -> Seen:
    with subject.store.read(subject.cancel) as snapshot:
        share = snapshot.free_share()
    free = size(round(share * subject.store.sizes().database))
    if share > MOST_FREE:
        return Seen(f"{share:.0%} of the file, {free}, is empty.", 1)
    return Seen(f"{share:.0%} of the file is empty, for what comes next.")


def _give_space_back(subject: Subject) -> str:
    before = subject.store.sizes().database
    subject.step("Giving free space back", 0, 0)
    subject.store.vacuum(subject.cancel)
    subject.store.make_durable()
    return f"The file was {size(before)} and is {size(subject.store.sizes().database)} now."


def _look_for_generations(subject: Subject) -> Seen:
    with subject.store.read(subject.cancel) as snapshot:
        generations = snapshot.generations()
        if snapshot.meta("building") is not None:
            return Seen("A rebuild was begun; the next update goes on with it.")
        others = len(generations) - 1 + snapshot.discarded()
    if others:
        return Seen("Tables of an older generation are still there and take room.", others)
    return Seen(f"Only the tables of the current generation, number {generations[-1]}, are there.")


def _drop_generations(subject: Subject) -> str:
    subject.step("Dropping older tables", 0, 0)
    with subject.store.write() as writer:
        if writer.meta("building") is not None:
            return ""
        writer.discard_other_generations()
    subject.store.empty_discarded(subject.cancel)
    subject.store.vacuum(subject.cancel)
    return "The tables of older generations were dropped."


def _look_for_words(subject: Subject) -> Seen:
    with subject.store.read(subject.cancel) as snapshot:
        waiting = snapshot.meta(WORDS_TO_FORGET) is not None
        query = f"SELECT count(DISTINCT segid) FROM {snapshot.tables.fts}_idx"
        parts = int(snapshot.connection.execute(query).get or 0)
    if waiting:
        return Seen("Words of notes that were removed are still in the file.", 1)
    return Seen(f"The keyword index is in {plural(parts, 'part')}, with no words left of removed notes.")


def _forget_words(subject: Subject) -> str:
    subject.step("Writing the keyword index anew", 0, 0)
    subject.store.forget_words(subject.cancel)
    return "The keyword index was written anew without the words of removed notes."


GENERATIONS = Matter("generations", "Generations", _look_for_generations, "Drop them", _drop_generations)
WORDS = Matter("removed-words", "Removed words", _look_for_words, "Forget them", _forget_words)
SPACE = Matter("space", "Free space", _look_for_space, "Compact", _give_space_back)
