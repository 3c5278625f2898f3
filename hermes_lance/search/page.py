"""A page of hits, and its forms: plain records for JSON, an Arrow table, a Polars frame, a line for each hit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hermes_lance.core.records import Hit, Query, TraceEntry

RECORD_KEYS = (
    "kind", "id", "path", "root", "section", "media_type", "line_start", "line_end", "page_start", "page_end",
    "locator", "char_start", "char_end", "text", "score", "scores", "ranks", "freshness", "flags", "type", "title",
    "summary",
)  # fmt: skip
"""Keys of a hit in JSON, in order; those that do not apply are null, never missing."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A page of hits, best first."""

    query: Query
    generation: str
    mode: str
    hits: tuple[Hit, ...]
    has_more: bool
    warnings: tuple[str, ...] = ()
    trace: tuple[TraceEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]

    def __repr__(self) -> str:
        head = f"<{len(self.hits)} hits for {self.query.text!r} in generation {self.generation}>"
        return "\n".join([head, *(f"  {citation(hit)}" for hit in self.hits)])

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each hit."""
        return [record(hit) for hit in self.hits]

    def to_arrow(self) -> Any:
        """`pyarrow.Table`, a row for each hit; scores and ranks of the legs as columns of their own."""
        import pyarrow as pa

        rows = [_flat(one) for one in self.records()]
        return pa.Table.from_pylist(rows, schema=_schema())

    def to_polars(self) -> Any:
        """The same as a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.to_arrow())


def record(hit: Hit) -> dict[str, Any]:
    """A hit as JSON has it."""
    made: dict[str, Any] = {key: getattr(hit, key) for key in RECORD_KEYS}
    made.update(section=list(hit.section), flags=list(hit.flags), scores=dict(hit.scores), ranks=dict(hit.ranks))
    return made


def place(hit: Hit) -> str:
    """Where in its file a hit stands, as citations write it: `:12-18`, `#page=3`, or nothing."""
    if hit.page_start is not None:
        last = hit.page_end if hit.page_end != hit.page_start else None
        return f"#page={hit.page_start}" + (f"-{last}" if last else "")
    if hit.line_start is not None:
        last = hit.line_end if hit.line_end != hit.line_start else None
        return f":{hit.line_start}" + (f"-{last}" if last else "")
    return f"#{hit.locator}" if hit.locator else ""


def citation(hit: Hit) -> str:
    """Path and place."""
    return f"{hit.path}{place(hit)}"


def _flat(one: dict[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in one.items() if key not in {"scores", "ranks"}}
    flat.update({f"score_{leg}": value for leg, value in one["scores"].items()})
    flat.update({f"rank_{leg}": value for leg, value in one["ranks"].items()})
    return flat


def _schema() -> Any:
    import pyarrow as pa

    whole = {"line_start", "line_end", "page_start", "page_end", "char_start", "char_end"}
    fields = []
    for key in RECORD_KEYS:
        if key in {"scores", "ranks"}:
            continue
        kind = pa.list_(pa.string()) if key in {"section", "flags"} else pa.string()
        kind = pa.int64() if key in whole else pa.float64() if key == "score" else kind
        fields.append(pa.field(key, kind))
    fields += [pa.field(f"score_{leg}", pa.float64()) for leg in ("lexical", "dense", "fused", "rerank")]
    fields += [pa.field(f"rank_{leg}", pa.int64()) for leg in ("lexical", "dense")]
    return pa.schema(fields)
