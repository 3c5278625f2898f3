"""One planned file into a publication: its new passages, its new stat, or the reason why it has none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hermes_lance.core.records import KnownFile, Skipped
from hermes_lance.ingest import contents
from hermes_lance.ingest.plan import Planned, reason_of, state_of
from hermes_lance.ingest.reading import Read, Reader, Unread
from hermes_lance.ingest.rows import Origin
from hermes_lance.ingest.tally import Tally
from hermes_lance.store.forgotten import Forgotten
from hermes_lance.store.publish import Publication, now

PARTIAL = "partial"
"""The fact of a document that says what of its file is not in its text."""


@dataclass(slots=True)
class Applier:
    """Reads files for one run. `limit` is the size in bytes over which a file is left out."""

    reader: Reader
    tally: Tally
    run: str
    limit: int
    forgotten: Forgotten = field(default_factory=Forgotten)

    def apply(self, item: Planned, work: Publication) -> None:
        """Does to the publication what the plan says of one file."""
        if item.change == "touched":
            assert item.known is not None
            work.put_state(_with_stat(replace(item.known, run=self.run), item))
            return
        if item.change == "moved":
            assert item.known is not None
            work.drop_file(item.known.id)
        if item.change == "left_out":
            assert item.skipped is not None
            self._not_indexed(item, item.skipped, work, sha256=item.sha256)
            return
        if forgotten := self.forgotten.of_file(item.id):
            self._not_indexed(item, forgotten, work)
            return
        found = contents.read(item.file, self.limit)
        if isinstance(found, Skipped):
            self._not_indexed(item, found, work)
            return
        if forgotten := self.forgotten.of_contents(found.sha256):
            self._not_indexed(item, forgotten, work, sha256=found.sha256)
            return
        file = item.file
        made = self.reader.read(found.data, file.path, Origin(item.id, file.root.key, file.path, self.run))
        if isinstance(made, Unread):
            # The stat that goes with the bytes that were read.
            file = replace(file, size=found.size, mtime_ns=found.mtime_ns, inode=found.inode, dev=found.dev)
            self._not_indexed(replace(item, file=file), made.why, work, found.sha256, made.media_type)
            return
        self._indexed(item, made, work, found)

    def _indexed(self, item: Planned, made: Read, work: Publication, found: contents.Contents) -> None:
        file, document = item.file, made.document
        partial = document.facts.get(PARTIAL)
        state = KnownFile(
            item.id,
            file.root.key,
            file.path,
            file.raw_path,
            "indexed",
            size=found.size,
            mtime_ns=found.mtime_ns,
            inode=found.inode,
            dev=found.dev,
            media_type=document.media_type,
            sha256=found.sha256,
            encoding=document.encoding,
            replaced_chars=document.replaced_chars,
            parser=document.parser,
            reason=f"{PARTIAL}: {partial}" if partial else None,
            chunks=len(made.rows),
            pieces_signature=self.reader.signature(made.kind),
            run=self.run,
            indexed_at=now(),
        )
        work.put_file(state, made.rows)
        self.tally.indexed(item, len(made.rows))
        if document.replaced_chars:
            self.tally.undecoded(item)
        if partial:
            self.tally.partly(item)

    def _not_indexed(
        self, item: Planned, why: Skipped, work: Publication, sha256: str | None = None, media_type: str | None = None
    ) -> None:
        """A file that is left out or failed. A failure keeps the passages of its last good reading.

        Hash and media type are those of a file that was read; without, nobody has seen its bytes."""
        before = item.known if item.change != "moved" else None
        kept = before.chunks if before is not None and why.failed else 0
        read = media_type is not None
        if media_type is None and kept and before is not None:
            media_type = before.media_type
        state = replace(
            self._blank(item),
            state=state_of(why),
            reason=reason_of(why),
            rule=why.rule,
            media_type=media_type,
            sha256=sha256,
            chunks=kept,
            # Not tried again before its bytes or the way of reading change.
            pieces_signature=self.reader.signature(media_type or "") if read else None,
            tombstone_sha=_still_dropped(before, sha256),
        )
        if kept and before is not None:
            work.put_state(replace(state, parser=before.parser, indexed_at=before.indexed_at))
        else:
            work.put_file(state, [])
            self.tally.report.chunks.removed += item.known.chunks if item.known is not None else 0
        self.tally.not_indexed(item, why, "read" if read else "walk")

    def _blank(self, item: Planned) -> KnownFile:
        file = item.file
        bare = KnownFile(item.id, file.root.key, file.path, file.raw_path, "pending", run=self.run)
        return _with_stat(bare, item)


def _still_dropped(before: KnownFile | None, sha256: str | None) -> str | None:
    """What the file was dropped with, as long as nobody has seen other bytes in it."""
    dropped = before.tombstone_sha if before is not None else None
    return dropped if sha256 in (None, dropped) else None


def _with_stat(known: KnownFile, item: Planned) -> KnownFile:
    file = item.file
    return replace(known, size=file.size, mtime_ns=file.mtime_ns, inode=file.inode, dev=file.dev)
