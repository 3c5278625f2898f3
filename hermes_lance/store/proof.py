"""Looking for what a purge was to remove, in everything that a dataset consists of.

Lance pages and Tantivy's dictionaries are compressed, so that looking at bytes proves nothing there: every version of
every table is opened and decoded, every Tantivy index is asked for its segments, terms and stored fields, and every
file is searched for by bytes besides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_lance.core import schema
from hermes_lance.core.words import Analyser
from hermes_lance.store import manifest as manifests
from hermes_lance.store.files import FilesState
from hermes_lance.store.lexical_fields import GRAMS, PAIRS, engine_errors, layout, opened
from hermes_lance.store.rows import DeadRows, TextSegment
from hermes_lance.store.tables import VECTOR_PREFIX, Tables, versions_on_disk
from hermes_lance.store.vectors import VectorRows

BLOCK_BYTES = 8 << 20
LONGEST_NEEDLE_BYTES = 96
SHORTEST_NEEDLE_BYTES = 6
MOST_NEEDLES = 24
_CANDIDATES = 96


@dataclass(slots=True)
class Traces:
    """What must not be found any more. Kept in memory only."""

    sources: set[str] = field(default_factory=set)
    """Ids of the files."""
    rows: set[str] = field(default_factory=set)
    """Ids of their passages."""
    keys: set[str] = field(default_factory=set)
    """Keys of their vectors."""
    texts: list[str] = field(default_factory=list)
    """Their passages."""


@dataclass(slots=True)
class Proof:
    """What was opened, and where something was found."""

    tables: int = 0
    versions: int = 0
    rows: int = 0
    """Rows of these versions."""
    indexes: int = 0
    terms: int = 0
    """Terms in the dictionaries of the Tantivy indexes."""
    files: int = 0
    bytes: int = 0
    phrases: int = 0
    """Stretches of the text that were looked for; none where no generation held text that is nowhere else."""
    found: list[str] = field(default_factory=list)


def look(dataset: Path, tables: Tables, traces: Traces, beside: Sequence[Path] = ()) -> Proof:
    """Opens everything below the dataset, and searches the files, and those of the folders, `beside` it."""
    proof = Proof()
    living = [path for path in (dataset / manifests.SIDE).glob("*.text") if _is_clean(path, traces, proof)]
    needles = _needles(traces.texts, living, dataset)
    proof.phrases = len(needles)
    _look_into_side_files(dataset, traces, proof)
    for name in tables.names():
        _look_into_table(tables, name, traces, needles, proof)
    for table in ("chunks", "artifacts"):
        for folder in sorted((dataset / manifests.LEXICAL).glob(f"*/{table}")):
            _look_into_index(folder, table, traces, proof)
    places = [dataset, *beside]
    every = (file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else (place,)))
    for path in dict.fromkeys(file for file in every if file.is_file()):
        proof.files += 1
        proof.bytes += path.stat().st_size
        if hits := needles_in(path, needles):
            proof.found.append(f"{path}: {len(hits)} stretches of the text")
    return proof


def holds(folder: Path, traces: Traces) -> bool:
    """Whether a kept generation holds anything of it, in its files or in any version of its tables."""
    proof = Proof()
    for path in (folder / manifests.SIDE).glob("*.text"):
        _is_clean(path, traces, proof)
    _look_into_side_files(folder, traces, proof)
    tables = Tables(folder)
    for name in tables.names():
        _look_into_table(tables, name, traces, [], proof)
    return bool(proof.found)


def segments(folder: Path) -> Iterator[TextSegment]:
    """Every text segment in a folder of side files, whether a generation names it or not."""
    for path in sorted(folder.glob("*.text")):
        yield TextSegment(path, {"size": path.stat().st_size})


# -- side files -----------------------------------------------------------------------------------------------------


def _is_clean(path: Path, traces: Traces, proof: Proof) -> bool:
    segment = TextSegment(path, {"size": path.stat().st_size})
    held = traces.sources.intersection(str(one[0]) for one in segment.sources)
    if held:
        proof.found.append(f"{path}: passages of {len(held)} of the files")
    return not held


def _look_into_side_files(dataset: Path, traces: Traces, proof: Proof) -> None:
    for path in sorted((dataset / manifests.SIDE).glob("*.files")):
        state = FilesState(path.parent, {"file": path.name, "size": path.stat().st_size})
        if any((known := state.get(source)) is not None and known.chunks for source in traces.sources):
            proof.found.append(f"{path}: a record with passages")
    for path in sorted((dataset / manifests.SIDE).glob("*.vectors")):
        entry = {"file": path.name, "size": path.stat().st_size, "rows": 1}
        for segment in VectorRows(path.parent, [entry], DeadRows()).segments:
            if traces.keys.intersection(hex_keys(bytes(segment.file.raw("keys")))):
                proof.found.append(f"{path}: vectors of the text")


def hex_keys(raw: bytes) -> Iterator[str]:
    """Keys of vectors as they stand in a segment, in hexadecimal."""
    return (raw[at : at + 16].hex() for at in range(0, len(raw), 16))


# -- tables ---------------------------------------------------------------------------------------------------------


def _look_into_table(tables: Tables, name: str, traces: Traces, needles: Sequence[bytes], proof: Proof) -> None:
    proof.tables += 1
    kind = "vectors" if name.startswith(VECTOR_PREFIX) else name
    names = schema.load(kind).names
    for version in sorted(versions_on_disk(tables.folder / f"{name}.lance")):
        proof.versions += 1
        held: set[str] = set()
        for batch in tables.read(name, names, version=version):
            proof.rows += batch.num_rows
            held.update(_held(kind, batch, traces, needles))
        proof.found += [f"table {name}, version {version}: {one}" for one in sorted(held)]


def _held(kind: str, batch: Any, traces: Traces, needles: Sequence[bytes]) -> Iterator[str]:
    def values(column: str) -> list[Any]:
        return list(batch.column(column).to_pylist())

    if kind == "vectors":
        if traces.keys.intersection(values("key")):
            yield "vectors of the text"
        return
    if kind == "chunks" and (
        traces.sources.intersection(values("source_id")) or traces.rows.intersection(values("id"))
    ):
        yield "passages of the file"
    if kind == "sources" and any(
        chunks and source in traces.sources for source, chunks in zip(values("id"), values("chunks"), strict=True)
    ):
        yield "a record with passages"
    decoded = batch.serialize().to_pybytes()
    if any(needle in decoded for needle in needles):
        yield "stretches of the text"


# -- Tantivy --------------------------------------------------------------------------------------------------------


def _look_into_index(folder: Path, table: str, traces: Traces, proof: Proof) -> None:
    """No deleted row is left in any segment, so a term is in a dictionary only if a living row has it; and of the words
    of the text, each that is there is found in such a row."""
    import tantivy

    proof.indexes += 1
    where = f"lexical index {folder.parent.name}/{table}"
    described = json.loads((folder / "meta.json").read_bytes())["segments"]
    if any(one.get("deletes") for one in described):
        proof.found.append(f"{where}: rows that are deleted and still stored")
    analyser = Analyser()
    with engine_errors(folder):
        index = opened(folder, analyser)
        searcher = index.searcher()
        fields = layout(table)
        present: dict[str, set[str]] = {}
        for name in (*fields.analysed, *fields.raw, PAIRS, GRAMS):
            present[name] = {term for term, _ in searcher.terms_with_prefix(name, "")}
            proof.terms += len(present[name])
        if traces.sources & present.get("source_id", set()):
            proof.found.append(f"{where}: rows of the file")
        words = _terms(traces.texts, analyser)
        for name in (*fields.analysed, PAIRS, GRAMS):
            for term in words & present[name]:
                asked = tantivy.Query.term_query(index.schema, name, term)
                if not searcher.search(asked, 1).count:
                    proof.found.append(f"{where}: a word that no row has any more")
                    break
        every = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
        if any(searcher.doc(address).to_dict() for _, address in every):
            proof.found.append(f"{where}: stored fields")


def _terms(texts: Sequence[str], analyser: Analyser) -> set[str]:
    tokenizer = analyser.tokenizers()["words"]
    found: set[str] = set()
    for one in analyser.texts(texts):
        found.update(tokenizer.analyze(one.words), one.pairs.split(), one.grams.split())
    return found


# -- bytes ----------------------------------------------------------------------------------------------------------


def _needles(texts: Sequence[str], living: Sequence[Path], dataset: Path) -> list[bytes]:
    """Stretches of the text that stand in no passage and no path of the files that stay."""
    step = max(1, len(texts) // _CANDIDATES)
    candidates = [needle for text in texts[::step] for needle in stretches(text)][:_CANDIDATES]
    shared: set[bytes] = set()
    for path in living:
        shared |= needles_in(path, candidates)
    for path in (dataset / manifests.SIDE).glob("*.files"):
        state = FilesState(path.parent, {"file": path.name, "size": path.stat().st_size})
        paths = "\n".join(one for root in state.roots for one in (root, *state.paths(root))).encode("utf-8")
        shared |= {needle for needle in candidates if needle in paths}
    return [needle for needle in candidates if needle not in shared][:MOST_NEEDLES]


def stretches(text: str) -> Iterator[bytes]:
    """The longest lines of a passage, cut where JSON would write a character otherwise."""
    parts = sorted((part.strip() for line in text.splitlines() for part in line.split('"')), key=len, reverse=True)
    for part in parts[:2]:
        needle = part.partition("\\")[0].encode("utf-8", "replace")[:LONGEST_NEEDLE_BYTES]
        if len(needle) >= SHORTEST_NEEDLE_BYTES:
            yield needle


def needles_in(path: Path, needles: Sequence[bytes]) -> set[bytes]:
    """Those of the byte strings that a file holds; it is read in blocks."""
    found: set[bytes] = set()
    if not needles:
        return found
    overlap = max(map(len, needles))
    tail = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            block = tail + block
            found.update(needle for needle in needles if needle in block)
            tail = block[-overlap:]
    return found
