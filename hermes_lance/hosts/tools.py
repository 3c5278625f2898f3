"""The tools that a model is offered, the same at every door: a name, a schema, and a handler that never raises.

Schemas come from `schemas/tools.json`. A handler takes what the model sent and returns one JSON document as text; an
error is a document too. What is read from files passes `search/render.py` before it is in one.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetMissing, HermesLanceError, UsageError
from hermes_lance.core.schema import schemas_folder
from hermes_lance.keeping import Keeping

if TYPE_CHECKING:
    from hermes_lance.library import Library
    from hermes_lance.search.page import Answer

log = logging.getLogger(__name__)

DEFAULT_LIMIT, HIGHEST_LIMIT = 8, 20
LONGEST_RESULT_CHARS = 48_000
"""Of one result as JSON. Hosts take a result of 100,000 out of the conversation, and it hurts long before."""
LONGEST_QUERY_CHARS = 4_000
OPEN_LIBRARIES = 8
"""Homes kept open at a time; a process seldom serves more profiles."""

Handler = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a host registers it."""

    name: str
    toolset: str
    schema: Mapping[str, Any]
    """`name`, `description` and `parameters` (JSON Schema)."""
    handler: Handler
    """`handler(arguments, **anything) -> str`: JSON, not ASCII-escaped. May be called from several threads."""


class Libraries:
    """One open library for each home, opened when first asked for and again when its `config.yaml` has changed."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, tuple[tuple[int, int] | None, Library]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, home: Path) -> Library:
        """The library of `home`. Raises `ConfigError` for an unusable configuration."""
        from hermes_lance.library import Library

        home = home.expanduser().absolute()
        stamp = _stamp(home / "config.yaml")
        with self._lock:
            kept = self._open.get(home)
            if kept is None or kept[0] != stamp:
                kept = self._open[home] = (stamp, Library.open(home))
            self._open.move_to_end(home)
            while len(self._open) > OPEN_LIBRARIES:
                self._open.popitem(last=False)
            return kept[1]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def tools(
    home: Callable[[], Path], libraries: Libraries | None = None, keeping: Keeping | None = None
) -> tuple[Tool, ...]:
    """Every tool. `home()` is asked once for each call, in the thread of the call. `libraries` and `keeping` may be
    shared with whatever else the host does."""
    declared = json.loads((schemas_folder() / "tools.json").read_text(encoding="utf-8"))["tools"]
    opened, kept = libraries or Libraries(), keeping or Keeping()
    actions: dict[str, Callable[[Library, Mapping[str, Any]], dict[str, Any]]] = {
        "workspace": lambda library, arguments: _workspace(library, arguments, kept)
    }

    def handler(name: str) -> Handler:
        def handle(arguments: object = None, **_: object) -> str:
            return _answered(name, lambda: actions[name](opened.of(home()), _arguments(arguments)))

        return handle

    return tuple(
        Tool(
            one["name"],
            one["toolset"],
            {key: one[key] for key in ("name", "description", "parameters")},
            handler(one["name"]),
        )
        for one in declared
    )


def _answered(name: str, act: Callable[[], dict[str, Any]]) -> str:
    """The document as JSON; whatever goes wrong becomes a document."""
    try:
        return _json(act())
    except HermesLanceError as error:
        return failure(str(error), error.code, error.hint)
    except ImportError as error:
        log.exception("the tool %s lacks a package", name)
        remedy = f"The user can run: {sys.executable} -m pip install hermes-lance"
        return failure(f"a package that hermes-lance needs cannot be loaded: {error}", "plugin-missing", remedy)
    except Exception as error:
        log.exception("the tool %s failed", name)
        return failure(f"{name} failed: {type(error).__name__}: {error}", "unexpected", "See the log of the host.")


def failure(message: str, code: str, hint: str) -> str:
    """An error as a model reads it. Messages can quote names and lines of files, so they are rendered too."""
    from hermes_lance.search.render import one_line

    return _json({"success": False, "error": one_line(message, 1_000), "code": code, "hint": one_line(hint, 1_000)})


def _json(document: Mapping[str, Any]) -> str:
    # A lone surrogate (a file name that is not UTF-8) would end the request that carries this text.
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


# -- arguments as models send them --------------------------------------------------------------------------------


def _arguments(sent: object) -> Mapping[str, Any]:
    if isinstance(sent, str):
        try:
            sent = json.loads(sent) if sent.strip() else {}
        except ValueError:
            sent = None
    elif sent is None:
        sent = {}
    if not isinstance(sent, Mapping):
        raise UsageError("the arguments are not an object", hint='Send an object such as {"action": "status"}.')
    return sent


def _text(arguments: Mapping[str, Any], key: str) -> str:
    """The argument without blanks around it; empty when it is missing or null. A list of words is joined."""
    value = arguments.get(key)
    if isinstance(value, list | tuple) and all(isinstance(one, str | int | float) for one in value):
        value = " ".join(map(str, value))
    if value is None or isinstance(value, bool):
        return ""
    if not isinstance(value, str | int | float):
        raise UsageError(f"{key} is a {type(value).__name__}, not text", hint=f"Send {key} as a string.")
    return str(value).strip()


def _whole(arguments: Mapping[str, Any], key: str, default: int, lowest: int, highest: int) -> int:
    """A whole number within its bounds; the default for what is none."""
    value = arguments.get(key)
    if isinstance(value, bool) or value is None:
        return default
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return default
    if math.isnan(number):
        return default
    return int(min(max(number, lowest), highest))


# -- workspace ----------------------------------------------------------------------------------------------------


def _workspace(library: Library, arguments: Mapping[str, Any], keeping: Keeping) -> dict[str, Any]:
    action = _text(arguments, "action").lower()
    if action not in {"status", "retrieve"}:
        named = f"unknown action {action!r}" if action else "action is required"
        raise UsageError(named, hint="Choose one of: retrieve, status.")
    if not (library.config.enabled and library.config.workspace.enabled):
        raise UsageError(
            "the workspace is switched off", hint="The user can set workspace.enabled: true in config.yaml."
        )
    return _status(library) if action == "status" else _retrieve(library, arguments, keeping)


def _status(library: Library) -> dict[str, Any]:
    from hermes_lance.search.render import one_line, path_line

    whole = library.status()
    document = {
        key: whole[key]
        for key in ("success", "generation", "published_at", "chunks", "vectors", "retrieval_mode", "stale")
    }
    # Hermes 0.19 takes any result for a failure that has the word "failed" or "error" in quotes near its beginning.
    document["files"] = {"unreadable" if key == "failed" else key: count for key, count in whole["files"].items()}
    document["embedder"] = one_line(whole["embedder"]["name"])
    document["roots"] = [
        {
            "label": path_line(root["label"]),
            "path": path_line(root["path"]),
            "recursive": root["recursive"],
            "exists": root["exists"],
        }
        for root in whole["roots"]
    ]
    document["warnings"] = [one_line(warning) for warning in whole["warnings"]]
    if whole["generation"] is None:
        document["hint"] = "Nothing is indexed yet: the user can run `hermes workspace index`."
    return document


def _retrieve(library: Library, arguments: Mapping[str, Any], keeping: Keeping) -> dict[str, Any]:
    query = _text(arguments, "query")
    if not query:
        raise UsageError("query is required", hint="Send the question as `query`.")
    said = keeping.before_question(library)
    try:
        answer = library.search(
            query[:LONGEST_QUERY_CHARS],
            limit=_whole(arguments, "limit", DEFAULT_LIMIT, 1, HIGHEST_LIMIT),
            path=_text(arguments, "path") or None,
            file_glob=_text(arguments, "file_glob") or None,
        )
    except DatasetMissing as error:
        raise DatasetMissing(str(error), hint=said[0] if said else error.hint) from error
    answer = replace(answer, warnings=(*said, *answer.warnings))
    if len(query) > LONGEST_QUERY_CHARS:
        cut = f"only the first {LONGEST_QUERY_CHARS:,} characters of the query were used"
        answer = replace(answer, warnings=(cut, *answer.warnings))
    document = _page(answer, LONGEST_RESULT_CHARS)
    # Quotes, backslashes and new lines grow in JSON; the cap is on what the host receives.
    size = LONGEST_RESULT_CHARS
    while len(_json(document)) > LONGEST_RESULT_CHARS and size > 1_000:
        size = size * 2 // 3
        document = _page(answer, size)
    return document


def _page(answer: Answer, longest: int) -> dict[str, Any]:
    """Hits as a model reads them, in at most about `longest` characters."""
    from hermes_lance.search.render import NOTE, one_line, passages

    shown = passages(answer.hits, longest)
    warnings = [one_line(warning) for warning in answer.warnings]
    if len(shown) < len(answer.hits):
        warnings.append(f"{len(answer.hits) - len(shown)} more passages did not fit; ask more narrowly")
    if any(hit.freshness == "changed" for hit in answer.hits):
        warnings.append("some files have changed since they were indexed: read them, or run `hermes workspace index`")
    hits = []
    for hit, passage in zip(answer.hits, shown, strict=False):
        one: dict[str, Any] = {"source": passage.citation, "text": passage.text}
        if passage.section:
            one["section"] = passage.section
        if hit.freshness != "fresh":
            one["freshness"] = hit.freshness
        if hit.flags:
            one["flags"] = [one_line(flag) for flag in hit.flags]
        hits.append(one)
    document: dict[str, Any] = {
        "success": True,
        "count": len(hits),
        "generation": answer.generation,
        "has_more": answer.has_more or len(shown) < len(answer.hits),
        "note": NOTE,
        "hits": hits,
        "warnings": warnings,
    }
    if not hits:
        document["note"] = (
            "Nothing matched. Other words or a wider path may help; a new file is found once it is indexed."
        )
    return document
