"""A question and a turn, wired: which generation answers, with which embedder, and where its files are.

A part of `Library`, on its own floor. A turn never fails: whatever goes wrong here ends it with a reason.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetMissing, HermesLanceError

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.records import KnownFile, Query
    from hermes_lance.library import Library
    from hermes_lance.search.page import Answer
    from hermes_lance.search.ranking import Settings
    from hermes_lance.search.turn import Shelf, Turn
    from hermes_lance.store.snapshot import Snapshot

log = logging.getLogger(__name__)


def search(library: Library, query: Query, generation: str | None) -> Answer:
    """See `Library.search`."""
    from hermes_lance.search.answer import answer
    from hermes_lance.search.freshness import Freshness

    snapshot = library.snapshot(generation)
    check_disk = generation is None and not library.caller_owned
    settings, said = _settings(library, snapshot, check_disk=check_disk, rerank=query.rerank)
    embedder, waiting = library.query_embedder(snapshot) if query.mode != "lexical" else (None, ())
    places = library.places(snapshot)
    freshness = Freshness(places.of, places.folder)
    found = answer(query, snapshot, settings, embedder, freshness, places.display)
    return replace(found, warnings=(*library.warnings, *said, *waiting, *found.warnings))


def _settings(
    library: Library, snapshot: Snapshot, *, check_disk: bool, rerank: str | None = None
) -> tuple[Settings, tuple[str, ...]]:
    """How a question is asked, and what is to be said of plugins that cannot be had."""
    from hermes_lance.search.ranking import Settings

    search, retriever = library.config.search, None
    said: tuple[str, ...] = ()
    if library.config.retriever != "builtin_hybrid" or library.config.retriever_options:
        from hermes_lance.plugged import asked_by, had

        search, retriever, said = asked_by(had(library, "retrievers"), search)
    legs = None
    if library.config.index_store != "lance" and not library.caller_owned:
        from hermes_lance.mirroring import legs as legs_of

        legs, also = legs_of(library, snapshot)
        said += also
    settings = Settings(
        search.fusion, search.dense_weight, search.candidates, None, retriever, legs, check_disk=check_disk
    )
    if rerank is None and library.config.reranker == "disabled":
        return settings, said
    from hermes_lance.plugged import reranking

    order, why_not = reranking(library, rerank)
    return replace(settings, reranking=order), (*said, *why_not)


def context(
    config: Config,
    shelf: Callable[[], Shelf],
    message: str | Sequence[Any],
    history: Sequence[Any],
    mode: str | None,
    until: float | None,
) -> Turn:
    """See `Turns.context`."""
    from hermes_lance.search.enrich import text_of
    from hermes_lance.search.turn import Turn

    wanted = config.retrieval_mode if mode is None else mode
    text = text_of(message)
    try:
        return replace(_served(config, shelf, text, history, mode, until), message=text)
    except DatasetMissing as error:
        return Turn(False, "index", f"nothing is indexed yet: {error.hint}", wanted, message=text)
    except HermesLanceError as error:
        log.warning("no context for this turn: %s", error)
        return Turn(False, "error", f"{error}. {error.hint}", wanted, message=text)
    except (Exception, SystemExit) as error:
        # A turn without context is worth more than no turn; whoever asks `workspace sources` or the log sees why. The
        # code of a plugin may end on `sys.exit`, which is to end no host.
        log.exception("no context for this turn")
        return Turn(False, "error", f"{type(error).__name__}: {error}", wanted, message=text)


def _served(
    config: Config,
    shelf: Callable[[], Shelf],
    text: str,
    history: Sequence[Any],
    mode: str | None,
    until: float | None,
) -> Turn:
    from hermes_lance.search.turn import MODES, Turn, turn

    wanted = config.retrieval_mode if mode is None else mode
    if wanted not in MODES:
        return Turn(False, "mode", f"there is no mode {wanted!r}: off, gated or always", wanted)
    if not (config.enabled and config.workspace.enabled):
        return Turn(False, "mode", "the workspace is switched off in the configuration", wanted)
    if mode is None and wanted != "off" and config.inject.injection_route == "tool_only":
        return Turn(False, "mode", "injection_route is tool_only: agents ask for passages themselves", wanted)
    return turn(text, history, wanted, config, shelf, until)


def shelf(library: Library) -> Shelf:
    """What a turn is served from."""
    from hermes_lance.search.freshness import Freshness
    from hermes_lance.search.in_time import Calls
    from hermes_lance.search.selection import gives_orders
    from hermes_lance.search.turn import Shelf

    snapshot = library.snapshot()
    embedder, waiting = library.query_embedder(snapshot)
    settings, said = _settings(library, snapshot, check_disk=not library.caller_owned)
    places = library.places(snapshot)

    def withheld(known: KnownFile) -> bool:
        # By the whole path: a root may begin inside `.cursor/rules`.
        whole = places.of(known) or known.path
        return gives_orders(whole) or places.within(known, library.config.home / "memories")

    freshness = Freshness(places.of, places.folder)
    library.question_calls = library.question_calls or Calls()
    return Shelf(
        snapshot,
        embedder,
        freshness,
        places.display,
        withheld,
        settings,
        (*library.warnings, *said, *waiting),
        library.question_calls,
    )
