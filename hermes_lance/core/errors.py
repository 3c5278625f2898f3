"""Every error raised on purpose. Message: what happened, to what. Hint: what to do. Code and status: for programs."""

from __future__ import annotations

from typing import ClassVar


class HermesLanceError(Exception):
    """Something went wrong that the caller can understand and act on."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1
    hint: str = "Run `hermes-lance doctor` for a check of the whole dataset."

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


class UsageError(HermesLanceError):
    """The request itself cannot be served."""

    code = "usage"
    exit_status = 2
    hint = "See --help."


class ConfigError(HermesLanceError):
    """Unknown key, wrong type or conflicting choices in the configuration."""

    code = "config"
    exit_status = 3
    hint = "Correct the named key in config.yaml."


class DatasetMissing(HermesLanceError):
    """Nothing is indexed here yet."""

    code = "dataset-missing"
    exit_status = 10
    hint = "Run `hermes-lance build` first."


class DatasetBusy(HermesLanceError):
    """Another process is writing to this dataset."""

    code = "dataset-busy"
    exit_status = 11
    hint = "Wait for the other run to end, or pass --wait SECONDS."


class DatasetNewer(HermesLanceError):
    """Written by a later release; left untouched."""

    code = "dataset-newer"
    exit_status = 12
    hint = "Upgrade hermes-lance, or point --home at another folder."


class DatasetDamaged(HermesLanceError):
    """A check failed; the message names the file."""

    code = "dataset-damaged"
    exit_status = 13
    hint = "Run `hermes-lance doctor --fix`."


class DatasetReadOnly(HermesLanceError):
    """The dataset cannot be written by this user."""

    code = "dataset-read-only"
    exit_status = 14
    hint = "Make the folder writable, or use another --home. Searching goes on working."


class DiskFull(HermesLanceError):
    """No space left while writing; the last published generation is intact."""

    code = "disk-full"
    exit_status = 15
    hint = "Free some space and run the command again: it continues where it stopped."


class Purged(HermesLanceError):
    """The generation was changed by a purge and can no longer be read as it was."""

    code = "purged"
    exit_status = 16
    hint = "Choose another generation: `hermes-lance generations list`."


class GenerationMissing(HermesLanceError):
    """No such generation, tag or time."""

    code = "generation-missing"
    exit_status = 17
    hint = "See `hermes-lance generations list`."


class PluginMissing(HermesLanceError):
    """Named in the configuration but not installed."""

    code = "plugin-missing"
    exit_status = 20


class PluginFailed(HermesLanceError):
    """A plugin raised, or is not trusted; the cause is kept."""

    code = "plugin-failed"
    exit_status = 21
    hint = "Mend or remove the plugin; `hermes-lance doctor` tries it again."


class ModelUnavailable(HermesLanceError):
    """Weights or service not reachable, or not the ones expected."""

    code = "model-unavailable"
    exit_status = 22


UNAVAILABLE = (PluginMissing, PluginFailed, ModelUnavailable)
"""What a plugin raises that cannot be had; something else takes its place where that is right."""


class OutsideRoots(HermesLanceError):
    """A path leaves the permitted roots."""

    code = "outside-roots"
    exit_status = 30
    hint = "Add its folder first: `hermes-lance workspace roots add PATH`."


class FileMissing(HermesLanceError):
    """A named file or folder does not exist or cannot be read."""

    code = "file-missing"
    exit_status = 33
    hint = "Check the path."


class ArtifactMissing(HermesLanceError):
    """No artifact has this id."""

    code = "artifact-missing"
    exit_status = 34
    hint = "Ids come from `hermes-lance knowledge search`."


class Cancelled(HermesLanceError):
    """Stopped by the caller; the last published generation is intact."""

    code = "cancelled"
    exit_status = 130
    hint = "Run the command again: it continues where it stopped."
