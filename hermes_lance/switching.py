"""Another embedder without a pause: its vectors are made beside those that answer, and one publication turns over.

On the library's own floor. The turn can depend on a judgement of both; `rollback` goes back to the vectors that
answered before, which are kept. What is under way when a process dies goes on with the next build.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core import registry
from hermes_lance.core.config import Config, WorkspaceConfig
from hermes_lance.core.errors import (
    UNAVAILABLE,
    Cancelled,
    ConfigError,
    DatasetBusy,
    DatasetMissing,
    DatasetReadOnly,
    HermesLanceError,
    ModelUnavailable,
    UsageError,
)
from hermes_lance.core.records import IndexReport
from hermes_lance.library import Library
from hermes_lance.store import spaces as kept_spaces

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder
    from hermes_lance.learn.run_spaces import Judgement
    from hermes_lance.store.manifest import Manifest
    from hermes_lance.store.snapshot import Snapshot

Progress = Callable[[str, int, int, str], None]


@dataclass(frozen=True, slots=True)
class Switched:
    """What became of a switch."""

    switched: bool
    """The embedder that was asked for answers now; false too where it did before."""
    embedder: str
    before: Mapping[str, Any] | None
    """The vector space that answered before; none where nothing is indexed."""
    now: Mapping[str, Any] | None
    report: IndexReport | None = None
    judgement: Judgement | None = None

    @property
    def refused(self) -> bool:
        """The new vectors are worse beyond noise, so that the old ones go on answering."""
        return self.judgement is not None and self.judgement.worse


def spaces(library: Library) -> dict[str, Any]:
    """Which vectors answer, which are being made, and which are kept, each with vectors and bytes; what was chosen."""
    from hermes_lance.overview import folder_size

    config, manifest = library.config, library.manifest_or_none()
    space = manifest.space if manifest is not None else {}

    def shown(one: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if manifest is None or one is None:
            return None
        table = manifest.tables.get(one["table"], {})
        size = folder_size(kept_spaces.table_folder(library.dataset, one))
        return {**one, "vectors": table.get("rows", 0), "bytes": size}

    building = shown(space.get("building"))
    if building is not None:
        building["vectors_in_all"] = _strings(library)
    earlier = [shown(one) for one in space.get("earlier") or []]
    back = kept_spaces.previous(space)
    return {
        "configured": {"embedder": config.embedder, "options": dict(config.embedder_options)},
        "active": shown(space.get("active")),
        "building": building,
        "earlier": earlier,
        "rollback": back["embedder"] if back is not None else None,
    }


def _strings(library: Library) -> int:
    """Different strings that vectors stand for."""
    import numpy as np

    text = library.snapshot().text
    heads = [segment.keys_of("keys").heads() for segment in text.segments]
    return len(np.unique(np.concatenate(heads))) if heads else 0


def switch(
    library: Library,
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    unless_worse: Path | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    wait_seconds: float = 30.0,
) -> Switched:
    """Makes another embedder the one that answers, and writes it into the configuration. `options` replace the written
    ones of that name; none keeps those.

    The old vectors answer until the new ones are complete. `unless_worse` names a folder in the layout of BEIR, or a
    JSONL file of questions about the person's own files: where the new vectors are worse on it beyond noise, nothing
    turns and the configuration stays; the vectors are kept. Raises what the embedder raises, with the configuration as
    it was; `Cancelled` leaves the new configuration, with which the next build goes on.
    """
    config = chosen(library, name, options)
    model = _model(config)
    base = library.manifest_or_none()
    if base is None:
        if unless_worse is not None:
            raise DatasetMissing(f"{library.dataset}: nothing is indexed here yet, so there is nothing to compare")
        _write(library, config)
        return Switched(True, config.embedder, None, None)
    run = _Run(library, config, model, base, progress, cancelled, wait_seconds)
    return run.at_once() if unless_worse is None else run.unless_worse(unless_worse)


def rollback(
    library: Library,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    wait_seconds: float = 30.0,
) -> Switched:
    """Goes back to the vectors that answered before, and to their embedder. Only texts that came since are embedded.

    `UsageError` where there are none. Otherwise as `switch`.
    """
    back = previous(library)
    return switch(
        library, back["embedder"], back.get("options") or {},
        progress=progress, cancelled=cancelled, wait_seconds=wait_seconds,
    )  # fmt: skip


def previous(library: Library) -> Mapping[str, Any]:
    """The vector space that `rollback` goes back to; `UsageError` where there is none."""
    manifest = library.manifest_or_none()
    back = kept_spaces.previous(manifest.space) if manifest is not None else None
    if back is None:
        raise UsageError(
            f"{library.dataset}: no earlier vectors are kept",
            hint="They are after a change of embedder, until `hermes-lance generations gc`. "
            "`hermes-lance workspace embedder use NAME` makes them anew.",
        )
    return back


def chosen(library: Library, name: str, options: Mapping[str, Any] | None) -> Config:
    """The configuration with another embedder. `UsageError` where it would not count."""
    config, name = library.config, registry.normal("embedders", name)
    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
    origin = config.origins.get("knowledgebase.embedders.active", "")
    if origin.startswith("$"):
        raise UsageError(
            f"the variable {origin[1:]} names the embedder, which counts more than config.yaml", hint="Unset it first."
        )
    if options is None:
        options = config.embedder_options if name == config.embedder else config.embedder_blocks.get(name, {})
    return replace(config, embedder=name, embedder_options=dict(options))


def _model(config: Config) -> Embedder:
    """The embedder, made before anything is changed. Raises what is wrong with it."""
    from hermes_lance.models.load import embedder

    model = embedder(config.embedder, config.embedder_options, config.home)
    model.signature()  # a model on disk is looked for here
    return model


def _write(library: Library, config: Config) -> None:
    from hermes_lance.ingest.settings_file import set_values

    name = config.embedder
    file = config.config_file or config.home / "config.yaml"
    other = name.replace("_", "-")
    set_values(
        file,
        {
            "knowledgebase.embedders.active": name,
            **({f"knowledgebase.embedders.{other}": None} if other != name else {}),
            f"knowledgebase.embedders.{name}": dict(config.embedder_options) or None,
        },
    )
    library.reload()
    if (library.config.embedder, dict(library.config.embedder_options)) != (name, dict(config.embedder_options)):
        raise ConfigError(
            f"{file}: the older block `embeddings` adds options to embedder {name}",
            hint="Write its keys under knowledgebase.embedders and remove the block.",
        )


class _View(Library):
    """One state of the dataset, searched with one configuration, without what would blur the comparison."""

    def __init__(self, config: Config, dataset: Path, view: Snapshot, model: Embedder | None = None) -> None:
        super().__init__(replace(config, reranker="disabled", index_store="lance"), dataset)
        self._view = view
        self._embedder = model

    def snapshot(self, generation: str | None = None) -> Snapshot:
        """Always the same one."""
        return self._view


@dataclass(slots=True)
class _Run:
    """One switch of a dataset that holds something."""

    library: Library
    config: Config
    model: Embedder
    base: Manifest
    progress: Progress | None
    cancelled: Callable[[], bool] | None
    wait_seconds: float
    judgement: Judgement | None = None

    def at_once(self) -> Switched:
        """The configuration first, so that whatever ends this early is gone on with by the next build."""
        file = Path(os.path.realpath(self.config.config_file or self.config.home / "config.yaml"))
        before = file.read_bytes() if file.exists() else None
        try:
            _write(self.library, self.config)
            report = self._index(self.library)
        except Cancelled as error:
            kept = self.base.space["active"]["embedder"]
            said = f"{error}; {kept} answers, and the configuration names {self.config.embedder} already"
            hint = f"`hermes-lance build` goes on, `hermes-lance workspace embedder use {kept}` gives it up."
            raise Cancelled(said, hint=hint) from error
        except (*UNAVAILABLE, ConfigError, DatasetBusy, DatasetReadOnly) as error:
            self._put_back(file, before)
            if isinstance(error, UNAVAILABLE):
                self._settle()
            raise type(error)(f"{error}; the configuration is as it was", hint=error.hint) from error
        return self._outcome(report)

    def _put_back(self, file: Path, before: bytes | None) -> None:
        from hermes_lance.ingest.settings_file import replace_file

        if before is None:
            file.unlink(missing_ok=True)
        else:
            replace_file(file, before)
        self.library.reload()

    def unless_worse(self, data: Path) -> Switched:
        """The configuration last, when the judgement is there; until then nothing else sees the new vectors."""
        judge = self._judge(data)  # reads the data before anything is embedded
        beside = Library(self.config, self.library.dataset)
        beside._embedder = self.model

        def approve(filled: Snapshot) -> bool:
            self.judgement = judge(filled)
            if not self.judgement.worse:
                _write(self.library, self.config)
            return not self.judgement.worse

        try:
            report = self._index(beside, approve=approve)
        except (DatasetBusy, DatasetReadOnly):
            raise
        except HermesLanceError:
            self._settle()
            raise
        if self.judgement is not None and self.judgement.worse:
            self._settle()
        elif self.judgement is None:
            # These vectors answer already: there was nothing to judge, and only the configuration to be written.
            _write(self.library, self.config)
        return self._outcome(report)

    def _settle(self) -> None:
        """Nothing is being filled any more, and what was filled is kept."""
        manifest = self.library.manifest_or_none()
        if manifest is not None and manifest.space.get("building"):
            self._index(self.library)

    def _index(self, library: Library, **more: Any) -> IndexReport:
        # No file is looked at: only what is indexed gets other vectors, so that a switch is over when they are made.
        return library.index(
            only_paths=[], progress=self.progress, cancelled=self.cancelled, wait_seconds=self.wait_seconds, **more
        )

    def _outcome(self, report: IndexReport) -> Switched:
        self.library.close()
        before, now = self.base.space["active"], self.library.manifest().space["active"]
        switched = now["signature"] == self.model.signature() != before["signature"]
        return Switched(switched, self.config.embedder, before, now, report, self.judgement)

    # -- judging -----------------------------------------------------------------------------------------------

    def _judge(self, data: Path) -> Callable[[Snapshot], Judgement]:
        from hermes_lance.learn import beir, run_spaces

        if data.is_dir():
            beir.read(data)
            return lambda filled: self._on_beir(data)
        questions = run_spaces.read_questions(data)

        def judge(filled: Snapshot) -> Judgement:
            view = self.library.snapshot()
            places = self.library.places(view)
            files = {places.display(known) for known in view.files.all().values() if known.state == "indexed"}
            old = _View(self.library.config, self.library.dataset, view)
            new = _View(self.config, self.library.dataset, filled, self.model)
            return run_spaces.judge_questions(data.name, questions, files, old, new, self.progress)

        return judge

    def _on_beir(self, folder: Path) -> Judgement:
        from hermes_lance.learn.run_spaces import judge_beir

        asked, _ = self.library.query_embedder(self.library.snapshot())
        if asked is None:
            raise ModelUnavailable("the embedder of the present vectors cannot be had, so there is nothing to compare")
        with tempfile.TemporaryDirectory(prefix="hermes-lance-") as temporary:
            work = Path(temporary).resolve()

            def opened(model: Embedder, name: str) -> Callable[[Path], Library]:
                def library(files: Path) -> Library:
                    own = _elsewhere(self.config, work / "homes" / name / files.parent.name, files)
                    made = Library(own, own.dataset)
                    made._embedder = model
                    return made

                return library

            return judge_beir(folder, opened(asked(), "old"), opened(self.model, "new"), work, self.progress)


def _elsewhere(config: Config, home: Path, files: Path) -> Config:
    """The same settings for a home that lives as long as the comparison."""
    return replace(
        config,
        home=home,
        workspace=WorkspaceConfig(path=str(files)),
        knowledgebase_path="",
        roots=(),
        reranker="disabled",
        index_store="lance",
    )


def judgement_document(found: Judgement) -> dict[str, Any]:
    """A judgement as JSON has it."""
    return asdict(found)
