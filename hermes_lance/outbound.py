"""What leaves this machine: to which hosts, what of it, and for an embedder how much and for roughly what money.

On the library's own floor. Nothing is sent to find out, and no SDK is loaded: hosts stand in the classes of the tiers,
amounts are counted from the index, or guessed from the files where nothing is indexed yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids, plugins, registry
from hermes_lance.core.config import Config
from hermes_lance.core.errors import UNAVAILABLE, HermesLanceError

if TYPE_CHECKING:
    from hermes_lance.library import Library

NOTHING = "Nothing leaves this machine."
HOSTED: Mapping[str, tuple[str, ...]] = {"embedders": ("openai", "google"), "rerankers": ("cohere", "voyage")}
"""Tiers of ours that ask a service."""
WHAT = {
    "embedders": "passages and questions",
    "rerankers": "questions and the best passages of each",
    "retrievers": "questions",
    "index_stores": "passages and questions",
}
UNSAID = "an address that the plugin does not tell"
_TOKENS_PER_BYTE = 0.25


@dataclass(frozen=True, slots=True)
class Service:
    """A plugin of a configuration that sends text away, or does not say that it does not."""

    category: str
    name: str
    host: str
    """Where to; `UNSAID` for a plugin of others that does not tell."""

    @property
    def sentence(self) -> str:
        """`passages and questions to api.openai.com (embedder openai)`."""
        return f"{WHAT[self.category]} to {self.host} ({self.category.removesuffix('s')} {self.name})"


@dataclass(frozen=True, slots=True)
class Amount:
    """What an embedder would be sent to embed everything."""

    texts: int
    tokens: int
    """By the rule of thumb of four characters."""
    usd: float | None
    """At list prices; none where no price is known."""
    counted: str
    """`indexed` passages, or the `discovered` files, by their sizes."""
    price_note: str = ""

    @property
    def words(self) -> str:
        """`1,234 texts, about 567,000 tokens, roughly $0.02 (list price …)`."""
        cost = "no price is known"
        if self.usd is not None:
            cost = f"roughly ${self.usd:,.2f}" if self.usd >= 0.01 else "less than $0.01"
            cost += f" ({self.price_note})"
        of = "" if self.counted == "indexed" else ", guessed from the sizes of the files"
        return f"{self.texts:,} texts, about {self.tokens:,} tokens, {cost}{of}"


def services(config: Config) -> list[Service]:
    """The plugins of a configuration that send text away. Empty for all tiers that run here."""
    return list(_services(config))


def _services(config: Config) -> Iterator[Service]:
    for category, name, options in (
        ("embedders", config.embedder, config.embedder_options),
        ("rerankers", config.reranker, config.reranker_options),
        # None of ours sends anything; one of others may, and then says where to, or does not say.
        ("retrievers", config.retriever, config.retriever_options),
        ("index_stores", config.index_store, config.index_store_options),
    ):
        host = host_of(config, category, name, options)
        if host is not None:
            yield Service(category, name, host)


def host_of(config: Config, category: str, name: str, options: Mapping[str, Any]) -> str | None:
    """The host that a plugin sends text to; none where that is this machine. A wrong address raises `ConfigError`."""
    try:
        source = plugins.find(category, name, config.home).source
    except UNAVAILABLE:
        return None  # it is not there, so that it sends nothing
    if source == "builtin":
        if name not in HOSTED.get(category, ()):
            return None
        from hermes_lance.models.service_access import Access

        kind = registry.built_in_class(category, name)
        access = Access(category.removesuffix("s"), kind.name, kind.package, kind.home, kind.variables)
        return access.address(options.get("base_url"))[1]
    try:
        made = plugins.make(category, name, options, home=config.home)
    except HermesLanceError:
        return UNSAID
    return str(made.sends_to) if getattr(made, "sends_to", None) else None if hasattr(made, "sends_to") else UNSAID


def sentence(found: Sequence[Service]) -> str:
    """One line on what leaves this machine."""
    return f"Leaves this machine: {'; '.join(one.sentence for one in found)}." if found else NOTHING


def amount_to_embed(library: Library, config: Config, *, beside: int = 0) -> Amount:
    """What the embedder of `config` would be sent now: what is indexed and has no vectors of its own yet, else what a
    first build would read. `beside`: characters of further texts."""
    from hermes_lance.models import prices

    texts, tokens, counted = _indexed(library, config) or _discovered(library)
    texts, tokens = texts + (1 if beside else 0), tokens + beside // 4
    model = str(config.embedder_options.get("model") or "")
    return Amount(texts, tokens, prices.rough_cost(config.embedder, model, tokens), counted, prices.ADVICE)


def _indexed(library: Library, config: Config) -> tuple[int, int, str] | None:
    from hermes_lance.ingest.rows import strings_to_embed
    from hermes_lance.models.token_estimate import about

    if library.manifest_or_none() is None:
        return None
    stored = _stored(library, config)
    tokens: dict[str, int] = {}
    for _, segment, index in library.snapshot().text.living():
        for string in strings_to_embed(segment.coded("section")[index], segment.text(index), config.chunking):
            key = ids.text_sha(string)
            if key not in stored and key not in tokens:
                tokens[key] = about(string)
    return len(tokens), sum(tokens.values()), "indexed"


def _stored(library: Library, config: Config) -> frozenset[str]:
    """Keys whose vectors are there already, from an earlier use of the same embedder."""
    from hermes_lance.models.load import embedder
    from hermes_lance.store.spaces import space_of
    from hermes_lance.store.tables import Tables

    try:
        model = embedder(config.embedder, config.embedder_options, config.home)
        table = str(space_of(model.name, model.signature(), model.dimensions)["table"])
    except UNAVAILABLE:
        return frozenset()  # it has never been used here
    tables = Tables(library.dataset)
    if table not in tables.names():
        return frozenset()
    return frozenset(key for batch in tables.read(table, ["key"]) for key in batch.column("key").to_pylist())


def _discovered(library: Library) -> tuple[int, int, str]:
    from hermes_lance.ingest.estimate import BYTES_PER_VECTOR, estimate
    from hermes_lance.ingest.roots import active_roots
    from hermes_lance.ingest.signatures import PieceSignatures

    config = library.config
    signatures = PieceSignatures.of_config(config)
    found = estimate(config, library.dataset, active_roots(config), signatures.wanted)
    texts = max(found.to_read, int(found.text_bytes / BYTES_PER_VECTOR + 0.5))
    return texts, int(found.text_bytes * _TOKENS_PER_BYTE), "discovered"
