"""Jobs of the map's panel on pool threads: they prepare its drawing."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import IndexMap
from gui.index.map.groups import Grouping, Kind

if TYPE_CHECKING:
    from gui.index.map.scene import Indexes, Scene


@dataclass(frozen=True, eq=False)
class Prepared:
    scene: "Scene"
    grouping: Grouping
    peaks: tuple[tuple[float, float], ...]
    """Locations of the groups' names."""


def prepare(record: IndexMap, kind: Kind) -> Prepared:
    """On a pool thread."""
    from gui.index.map.scene import Scene

    return regroup(Scene.of(record), kind)


def within_group(prepared: Prepared, points: "Indexes", isolated: int) -> tuple[int, ...]:
    """Chunk ids, rising, of those of these points that belong to a group; of all for -1."""
    kept = points if isolated < 0 else points[prepared.grouping.of[points] == isolated]
    return tuple(sorted(prepared.scene.ids[kept].tolist()))


def regroup(scene: "Scene", kind: Kind) -> Prepared:
    """The same points in other colours."""
    grouping = scene.grouped(kind, time.time())
    return Prepared(scene, grouping, scene.peaks(grouping))
