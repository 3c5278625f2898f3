"""Which embedder a library uses: the configured one for what is to be embedded, that of the served vectors to ask them.

A part of `Library`, on its own floor. Loading this file loads no model; a search by words alone needs none.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import UNAVAILABLE, ConfigError, HermesLanceError
from hermes_lance.core.signature import digest

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.contracts import Embedder
    from hermes_lance.store.manifest import Manifest
    from hermes_lance.store.snapshot import Snapshot

DEFAULT_EMBEDDER = "minilm"


class Embedding(ABC):
    """Embedders of one dataset, each made once."""

    config: Config
    warnings: list[str]
    _lock: threading.Lock
    _embedder: Embedder | None = None
    _served: Mapping[str, Embedder] = {}
    """By signature: embedders of vectors that are served though another one is configured."""

    @abstractmethod
    def manifest_or_none(self) -> Manifest | None:
        """The current generation."""

    def use(self, config: Config) -> None:
        """Takes another configuration; the embedder is made anew where it is another one."""
        with self._lock:
            mine, new = ((one.embedder, one.embedder_options) for one in (self.config, config))
            if mine != new:
                self._embedder = None
            self.config = config

    def embedder(self) -> Embedder:
        """The configured embedder. Where it is not available: the default one, unless other vectors are there."""
        with self._lock:
            if self._embedder is None:
                self._embedder = self._choose_embedder()
            return self._embedder

    def _choose_embedder(self) -> Embedder:
        try:
            return _load(self.config.embedder, self.config.embedder_options, self.config.home)
        except UNAVAILABLE as error:
            current = self.manifest_or_none()
            held = current.space["active"]["embedder"] if current is not None and current.vector_segments else None
            if self.config.embedder == DEFAULT_EMBEDDER or held not in (None, DEFAULT_EMBEDDER):
                raise
            self._say(f"{error}; {DEFAULT_EMBEDDER} is used instead. {error.hint}")
            return _load(DEFAULT_EMBEDDER)

    def embedder_trouble(self) -> HermesLanceError | None:
        """Why the configured embedder cannot be used, when it is not the one that made the vectors."""
        try:
            current = self.manifest_or_none()
        except HermesLanceError:
            current = None  # whoever asks about plugins too has said what is wrong with the dataset
        active = (current.space.get("active") if current is not None else None) or {}
        if self.config.embedder in (active.get("embedder"), DEFAULT_EMBEDDER):
            return None
        try:
            _load(self.config.embedder, self.config.embedder_options, self.config.home)
        except UNAVAILABLE as error:
            return error
        return None

    def _can_embed(self) -> bool:
        """False, with a warning, where the vectors have to wait for an embedder; words are indexed all the same."""
        try:
            self.embedder().signature()
        except UNAVAILABLE as error:
            if self.manifest_or_none() is None:
                raise
            self._say(f"vectors wait: {error}. New text is found by its words. {error.hint}")
            return False
        return True

    def query_embedder(self, snapshot: Snapshot) -> tuple[Callable[[], Embedder] | None, tuple[str, ...]]:
        """The embedder whose vectors the snapshot holds; none, and a warning, when it cannot be had.

        The warning belongs to this search alone: the next one may see a generation that a build has put right.
        """
        active = snapshot.manifest.space.get("active")
        if active is None or not len(snapshot.vectors):
            return self.embedder, ()
        try:
            model = self._of_space(active)
        except UNAVAILABLE as error:
            return None, (f"vectors wait: {error}. {error.hint}",)
        if model is None:
            return None, ("vectors wait: they were made by another version of the embedder; run `hermes-lance build`",)
        return lambda: model, ()

    def _of_space(self, space: Mapping[str, Any]) -> Embedder | None:
        """The embedder that made the vectors of a space; none where it makes others by now. Raises `UNAVAILABLE`."""
        name, wanted = str(space["embedder"]), space["signature"]
        if name == self.config.embedder:
            # Not asked otherwise: a model that is only about to be used need not be there for questions.
            with contextlib.suppress(*UNAVAILABLE):
                model = self.embedder()
                if model.signature() == wanted:
                    return model
        with self._lock:
            kept = self._served.get(wanted)
            if kept is None:
                try:
                    kept = _load(name, space.get("options"), self.config.home)
                except ConfigError:
                    return None  # options of an earlier release
                if kept.signature() != wanted:
                    return None
                self._served = {**self._served, wanted: kept}
        return kept

    def _vectors_fingerprint(self) -> str:
        try:
            return digest(self.embedder().signature())
        except UNAVAILABLE:
            current = self.manifest_or_none()
            if current is None or "vectors" not in current.fingerprints:
                raise
            return current.fingerprints["vectors"]  # no vector is made, so none with another fingerprint

    def _say(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)


def _load(name: str, options: Mapping[str, Any] | None = None, home: Path | None = None) -> Embedder:
    """See `hermes_lance.models.load`; a search by words alone does without that import."""
    from hermes_lance.models.load import embedder

    return embedder(name, options, home)
