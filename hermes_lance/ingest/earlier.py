"""The last published state, as a plan needs it: what nobody has to look at again is one dictionary of stats.

A file is settled when it was read, its row was made with the present settings, and an equal stat proves that its bytes
are the same. The walk takes settled files out; of the others the record is read. Only what a run concerns is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.ids import source_id
from hermes_lance.core.names import raw_bytes
from hermes_lance.core.records import KnownFile, SourceFile
from hermes_lance.ingest.quick import Stat
from hermes_lance.parse.media import suffix_of
from hermes_lance.store.files import FilesState, Kind, below
from hermes_lance.store.segment import reading

RACY_NS = 2_000_000_000
"""A file modified this close to the moment it was read may have changed again within one tick of its clock."""


SignatureOf = Callable[[str | None], str | None]
"""Media type to the fingerprint that its rows are to have; none where any will do."""


def as_wanted(made_with: str | None, wanted: str | None) -> bool:
    """Whether rows of that fingerprint may stay."""
    return wanted is None or made_with == wanted


class Earlier:
    """The rows of the last publication that lie in what a run concerns."""

    def __init__(
        self,
        state: FilesState,
        signature_of: SignatureOf,
        *,
        now_ns: int,
        by_suffix: Mapping[str, str] | None = None,
        only: Mapping[str, Sequence[str]] | None = None,
        full: bool = False,
    ) -> None:
        """`only` and `by_suffix` as for the planner; `full`: no file is settled."""
        self.settled: dict[str, dict[str, Stat]] = {}
        """Root key and path to the stat of a settled file that the walk has not met yet."""
        self._state = state
        self._by_suffix = by_suffix or {}
        self._numbers: dict[str, int] = {}
        settles = set() if full else {code for code, kind in enumerate(state.kinds) if _settles(kind, signature_of)}
        closer: list[int] = []
        with reading(state.path):
            for root, positions in state.roots.items():
                targets = [""] if only is None else [target.strip("/") for target in only.get(root, ())]
                named = frozenset(targets)
                paths = state.paths(root) if targets else []
                stats: dict[str, Stat] = {}
                for stretch in _apart(part for target in targets for part in below(paths, target)):
                    closer += self._sort_out(stretch, positions.start, paths, settles, now_ns, stats, named)
                if stats:
                    self.settled[root] = stats
                    self._numbers[root] = len(stats)
        self._closer = {known.id: known for known in state.records(closer)}

    def _sort_out(
        self,
        stretch: range,
        first: int,
        paths: list[str],
        settles: set[int],
        now_ns: int,
        stats: dict[str, Stat],
        named: frozenset[str],
    ) -> list[int]:
        """Fills `stats` from a stretch of the rows of a root; positions of the rows that are not settled, among them
        those of files that were asked for by name."""
        part = slice(first + stretch.start, first + stretch.stop)
        names = ("sizes", "mtimes", "inodes", "devs", "read_at", "kinds")
        columns = (self._state.column(name)[part].tolist() for name in names)
        closer = []
        types, own = [kind.media_type for kind in self._state.kinds], self._by_suffix
        rows = zip(paths[stretch.start : stretch.stop], *columns, strict=True)
        for position, (path, size, mtime, inode, dev, read_at, kind) in enumerate(rows, part.start):
            settled = kind in settles and read_at - mtime >= RACY_NS and now_ns - mtime >= RACY_NS and path not in named
            # A suffix may have been given to a parser since: then the file is of another media type now.
            if settled and (not own or own.get("." + suffix_of(path), types[kind]) == types[kind]):
                stats[path] = (size, mtime, inode, dev)
            else:
                closer.append(position)
        return closer

    def get(self, key: str) -> KnownFile | None:
        """The row of a source id."""
        return self._closer.get(key) or self._state.get(key)

    def meet(self, file: SourceFile) -> None:
        """A file that the walk came upon and did not find settled."""
        if (stats := self.settled.get(file.root.key)) is not None:
            stats.pop(file.path, None)

    def absent(self, seen: set[str]) -> tuple[list[KnownFile], set[str]]:
        """The rows that the walk did not come upon, by path, given the ids it named; the roots where it met some."""
        present = {root for root, number in self._numbers.items() if len(self.settled[root]) < number}
        present |= {known.root for key, known in self._closer.items() if key in seen}
        rows = (known for known in self._rows() if known.id not in seen)
        return sorted(rows, key=lambda known: (known.root, known.path, known.id)), present

    def _rows(self) -> Iterator[KnownFile]:
        yield from self._closer.values()
        for root, stats in self.settled.items():
            for path in stats:
                known = self._state.get(source_id(root, raw_bytes(path, None)))
                if known is None:
                    raise DatasetDamaged(f"{self._state.path}: there is no record of {path}")
                yield known


def _settles(kind: Kind, signature_of: SignatureOf) -> bool:
    """Whether files of this kind need nothing as long as their bytes are the same."""
    return kind.state == "indexed" and kind.plain and as_wanted(kind.pieces_signature, signature_of(kind.media_type))


def _apart(stretches: Iterator[range]) -> Iterator[range]:
    """The same positions, each once."""
    done = 0
    for one in sorted(stretches, key=lambda one: one.start):
        yield range(max(one.start, done), max(one.stop, done))
        done = max(done, one.stop)
