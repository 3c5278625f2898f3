"""Reading a YAML file, with errors that say where in it to look."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_lance.core.errors import ConfigError


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The mapping in a YAML file; empty when the file is missing or empty."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})", hint="Check --home and --config.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not in UTF-8 ({error.reason})", hint="Save it as UTF-8.") from error
    import yaml

    try:
        # The parser in C reads a long file of a host in a tenth of the time; not every build of PyYAML has it.
        loaded = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        line = f" at line {place.line + 1}" if place is not None else ""
        raise ConfigError(f"{path}: not valid YAML{line}", hint="Correct that line.") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: the top level is not a mapping")
    return loaded
