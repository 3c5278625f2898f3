"""Which plugin serves each of the six categories: what was asked for, what answers, from where, and how it is.

On the library's own floor. A plugin that cannot be had never ends anything here: something of ours takes its place, and
status, doctor and results say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from hermes_lance.core import plugins, registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.core.errors import UNAVAILABLE, ConfigError, HermesLanceError, PluginMissing, UsageError
from hermes_lance.core.signature import digest
from hermes_lance.ingest.signatures import PieceSignatures

if TYPE_CHECKING:
    from hermes_lance.core.config import Config, SearchConfig
    from hermes_lance.core.contracts import Retriever
    from hermes_lance.search.rerank import Reranking
    from hermes_lance.store.manifest import Manifest

DEFAULTS: Mapping[str, str] = {
    "embedders": "minilm",
    "rerankers": "disabled",
    "retrievers": "builtin_hybrid",
    "index_stores": "lance",
}
"""What takes the place of a plugin that cannot be had, in the categories with one choice."""
_MAPS = {"parsers": DEFAULT_PARSERS, "chunkers": DEFAULT_CHUNKERS}


class Holds(Protocol):
    """What holds the plugins that were made."""

    config: Config
    plugged: dict[str, Had]


class Opened(Holds, Protocol):
    """What is asked of an opened dataset here."""

    def manifest_or_none(self) -> Manifest | None:
        """The current generation, or none before the first build."""
        ...

    def embedder_trouble(self) -> HermesLanceError | None:
        """Why the configured embedder cannot be used."""
        ...


@dataclass(frozen=True, slots=True)
class Had:
    """A plugin that was made, or why it could not be."""

    key: str
    made: Any = None
    trouble: HermesLanceError | None = None
    reranking: Reranking | None = None
    """Of a reranker: how it is used, kept from search to search."""


def asked(config: Config, category: str) -> tuple[str, Mapping[str, Any]]:
    """Name and options of a category with one choice."""
    singular = category.removesuffix("s")
    return getattr(config, singular), getattr(config, f"{singular}_options")


def had(library: Holds, category: str) -> Had:
    """The configured plugin of a category with one choice, made once; nothing for a name that needs no plugin."""
    name, options = asked(library.config, category)
    return _had(library, category, category, name, options)


def _had(library: Holds, slot: str, category: str, name: str, options: Mapping[str, Any]) -> Had:
    key = repr((name, sorted(options.items(), key=str)))
    known = library.plugged.get(slot)
    if known is not None and known.key == key:
        return known
    found = Had(key)
    if name not in registry.WITHOUT_CLASS.get(category, ()) or registry.entry_point(category, name) is not None:
        try:
            found = Had(key, plugins.make(category, name, options, home=library.config.home))
        except UNAVAILABLE as error:
            found = Had(key, trouble=error)
        except ConfigError as error:
            if category != "rerankers":
                raise
            found = Had(key, trouble=error)  # an order in the wrong words is no reason to answer nothing
    library.plugged[slot] = found
    return found


def reranking(library: Opened, name: str | None = None) -> tuple[Reranking | None, tuple[str, ...]]:
    """What orders the best hits anew: the configured reranker, or the one of that name; or why it cannot be had.

    Raises `UsageError` where somebody asks for a name that there is not.
    """
    from hermes_lance.search.rerank import Reranking

    config, category = library.config, "rerankers"
    if name is None or registry.normal(category, name) == config.reranker:
        slot, name, options = category, config.reranker, config.reranker_options
    else:
        name = registry.normal(category, name)
        slot, options = f"{category}/{name}", config.reranker_blocks.get(name, {})
        try:
            plugins.find(category, name, config.home)
        except PluginMissing as error:
            raise UsageError(str(error), hint=error.hint) from error
    found = _had(library, slot, category, name, options)
    if found.trouble is not None:
        return None, (f"{found.trouble}; the fused order is kept. {found.trouble.hint}",)
    if found.made is None:
        return None, ()
    if found.reranking is None or found.reranking.most != config.inject.fused_top_k:
        found = replace(found, reranking=Reranking(found.made, config.inject.fused_top_k, name))
        library.plugged[slot] = found
    return found.reranking, ()


def asked_by(found: Had, search: SearchConfig) -> tuple[SearchConfig, Retriever | None, tuple[str, ...]]:
    """The settings of a question with those of our own retriever, or the plugin that ranks in its place; or why it
    cannot be had, and ours does."""
    from hermes_lance.search.retrievers import HybridRetriever, RrfRetriever

    if found.trouble is not None:
        return search, None, (f"{found.trouble}; {DEFAULTS['retrievers']} answers instead. {found.trouble.hint}",)
    if type(found.made) not in (HybridRetriever, RrfRetriever):
        return search, found.made, ()
    own = {key: getattr(found.made, key) for key in ("fusion", "dense_weight", "candidates")}
    return replace(search, **{key: value for key, value in own.items() if value not in ("", None)}), None, ()


@dataclass(slots=True)
class Served:
    """One category, as status and doctor show it."""

    category: str
    configured: Any
    """A name, or names by media type."""
    resolved: Any
    """The same with what takes the place of plugins that cannot be had."""
    plugin_name: str
    source: str
    """`builtin`, `entry-point`, `folder`, or several of them."""
    signature: str | None
    troubles: list[HermesLanceError] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    """Names in use that are none of ours."""
    made: list[Any] = field(default_factory=list)
    """Plugins of others that are in use."""

    def as_json(self) -> dict[str, Any]:
        """For `status`."""
        return {
            "configured": self.configured,
            "resolved": self.resolved,
            "plugin_name": self.plugin_name,
            "source": self.source,
            "foreign": self.foreign,
            "available": not self.troubles,
            "fallback": bool(self.troubles) and self.resolved != self.configured,
            "signature": self.signature,
        }


def served(library: Opened) -> list[Served]:
    """All six categories. Imports nothing of a plugin that is not named."""
    return [
        *(_by_media_type(library, category) for category in _MAPS),
        _embedder(library),
        *(_single(library, category) for category in ("rerankers", "retrievers", "index_stores")),
    ]


def _source(library: Opened, category: str, name: str) -> str:
    try:
        return plugins.find(category, name, library.config.home).source
    except UNAVAILABLE:
        return "builtin"


def _by_media_type(library: Opened, category: str) -> Served:
    config = library.config
    signatures = PieceSignatures.of_config(config)
    signatures.warnings()  # asks for every one that is named
    choices: Mapping[str, str] = signatures.parsers if category == "parsers" else config.chunkers
    configured: dict[str, str | None] = dict(config.parsers if category == "parsers" else config.chunkers)
    resolved = {
        kind: name if signatures.available(category, name) else registry.best_match(_MAPS[category], kind)
        for kind, name in choices.items()
    }
    if category == "parsers" and config.sole_parser:
        configured = {**resolved, "*": config.sole_parser}
    used = sorted({name for name in resolved.values() if name is not None})
    sources = {name: _source(library, category, name) for name in used}
    foreign = [name for name in used if sources[name] != "builtin"]
    troubles = [error for (kind, _), error in signatures.troubles.items() if kind == category]
    return Served(
        category,
        configured,
        resolved,
        ", ".join(used),
        ", ".join(sorted(set(sources.values()))),
        digest(signatures.all()),
        troubles,
        foreign,
        [signatures.plugin(category, name) for name in foreign],
    )


def _embedder(library: Opened) -> Served:
    name = library.config.embedder
    try:
        manifest = library.manifest_or_none()
    except HermesLanceError:
        manifest = None  # another check says what is wrong with the dataset
    active = (manifest.space.get("active") if manifest is not None else None) or {}
    trouble = library.embedder_trouble()
    resolved = name
    if trouble is not None:
        resolved = active.get("embedder") or DEFAULTS["embedders"]
    signature = active.get("signature") if active.get("embedder") == resolved else None
    source = _source(library, "embedders", resolved)
    return Served(
        "embedders", name, resolved, resolved, source, signature,
        [] if trouble is None else [trouble], [resolved] if source != "builtin" else [],
    )  # fmt: skip


def _single(library: Opened, category: str) -> Served:
    name, _ = asked(library.config, category)
    built_in = registry.SIGNATURES.get(category, {}).get(name)
    if registry.entry_point(category, name) is None and (built_in or name in registry.WITHOUT_CLASS.get(category, ())):
        return Served(category, name, name, name, "builtin", built_in or name)
    found = had(library, category)
    resolved = name if found.trouble is None else DEFAULTS[category]
    made = [found.made] if found.made is not None else []
    troubles = [found.trouble] if found.trouble is not None else []
    signature = resolved
    for one in made:
        try:
            signature = str(one.signature())
        except Exception as error:
            troubles = [plugins.fault(category, name, error)]
    if found.reranking is not None and found.reranking.trouble is not None and not troubles:
        troubles = [found.reranking.trouble]  # what went wrong at the last question of this process
    plugin_name = str(getattr(made[0], "name", name)) if made else resolved
    source = _source(library, category, resolved)
    foreign = [name] if made and source != "builtin" else []
    return Served(category, name, resolved, plugin_name, source, signature, troubles, foreign, made)


@dataclass(frozen=True, slots=True)
class Health:
    """How the plugins of one category are."""

    category: str
    configured: Any
    resolved: Any
    plugin_name: str
    healthy: bool
    message: str
    details: Mapping[str, Any]
    remedy: str | None = None

    def as_json(self) -> dict[str, Any]:
        """For `doctor`."""
        return {
            "configured": self.configured,
            "resolved": self.resolved,
            "plugin_name": self.plugin_name,
            "healthy": self.healthy,
            "message": self.message,
            "details": dict(self.details),
        }


def health(library: Opened) -> list[Health]:
    """All six categories, each plugin asked for its `healthcheck()` where it has one."""
    found = []
    for one in served(library):
        healthy, message, remedy = True, "", None
        details: Mapping[str, Any] = {}
        if one.troubles:
            healthy, message = False, "; ".join(str(error) for error in one.troubles)
            remedy = one.troubles[0].hint
        for made in one.made if healthy else ():
            healthy, message, details = _asked_how_it_is(one.category, made)
            if not healthy:
                break
        message = message or f"{one.plugin_name} ({one.source})"
        found.append(
            Health(one.category, one.configured, one.resolved, one.plugin_name, healthy, message, details, remedy)
        )
    return found


def _asked_how_it_is(category: str, made: Any) -> tuple[bool, str, dict[str, Any]]:
    """What `healthcheck()` answers: a truth value, or `healthy`, `message` and `details` of a mapping or an object."""
    check = getattr(made, "healthcheck", None)
    if not callable(check):
        return True, "", {}
    try:
        said = check()
    except Exception as error:
        return False, str(plugins.fault(category, str(getattr(made, "name", category)), error)), {}

    def part(name: str, default: Any) -> Any:
        return said.get(name, default) if isinstance(said, Mapping) else getattr(said, name, default)

    name = getattr(made, "name", category)
    healthy = bool(said) if isinstance(said, bool) or said is None else bool(part("healthy", True))
    message = str(part("message", "") or ("" if healthy else "its own check fails"))
    return healthy, f"{name}: {message}" if message else "", dict(part("details", {}) or {})
