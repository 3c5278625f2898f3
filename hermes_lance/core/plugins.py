"""From a configured name to a working plugin: ours, one of another package, or one that is a folder of this home.

A name is looked for in the home first, then among the packages, then among ours; a name of ours that no package
replaces costs no look at the disk. Whatever goes wrong in a plugin comes out as `PluginFailed` with its place.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hermes_lance.core import contracts, registry
from hermes_lance.core.errors import ConfigError, HermesLanceError, PluginFailed, PluginMissing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from hermes_lance.core.folder_plugins import Folder

PROTOCOLS: Mapping[str, type] = {
    "parsers": contracts.Parser,
    "chunkers": contracts.Chunker,
    "embedders": contracts.Embedder,
    "rerankers": contracts.Reranker,
    "retrievers": contracts.Retriever,
    "index_stores": contracts.IndexStore,
}
CATEGORIES = tuple(PROTOCOLS)


@dataclass(frozen=True, slots=True)
class Found:
    """Where a plugin comes from. Nothing of it has been imported."""

    category: str
    name: str
    source: str
    """`builtin`, `entry-point` or `folder`."""
    description: str = ""
    folder: Folder | None = None
    point: EntryPoint | None = None


def find(category: str, name: str, home: Path | None = None) -> Found:
    """The plugin of that name. Raises `PluginMissing` with the names that there are."""
    name = registry.normal(category, name)
    point = registry.entry_point(category, name)
    if point is None and registry.is_built_in(category, name):
        return Found(category, name, "builtin")
    from hermes_lance.core import folder_plugins

    if not registry.is_built_in(category, name) and home is not None:
        folder = folder_plugins.folder(home, category, name)
        if folder is not None:
            return Found(category, name, "folder", _description(folder), folder=folder)
    if point is not None:
        return Found(category, name, "entry-point", point.value, point=point)
    known, message = registry.names(category), f"{category}: there is no {name!r}"
    if home is not None:
        known += [one.name for one in folder_plugins.folders(home, category)]
        message += f", neither installed nor a folder of {home.joinpath(*folder_plugins.PLACE, category)}"
    raise PluginMissing(message, hint=f"Choose one of: {', '.join(sorted(set(known)))}.")


def _description(folder: Folder) -> str:
    try:
        return folder.about.get("description", "")
    except ConfigError as error:
        raise PluginFailed(f"plugin {folder.name} ({folder.category}): {error}", hint=error.hint) from error


def make(
    category: str,
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    home: Path | None = None,
    offered: Mapping[str, Any] | None = None,
) -> Any:
    """A plugin with the options that the user wrote for it; of `offered` it gets what its constructor takes.

    Unknown options raise `ConfigError`, what is not there `PluginMissing` or `ModelUnavailable`, any other fault
    `PluginFailed` that names plugin, file and line.
    """
    found = find(category, name, home)
    if options:
        from hermes_lance.core.service_keys import refuse_keys

        refuse_keys(f"knowledgebase.{category}.{found.name}", options)
    try:
        made = _made(found, home, dict(options or {}), offered or {})
        if found.source != "builtin":
            _check_shape(found, made)
            _check_available(found, made)
    except HermesLanceError:
        raise
    except (Exception, SystemExit) as error:
        raise fault(category, found.name, error, found.folder.path if found.folder else None) from error
    return made


def _made(found: Found, home: Path | None, options: Mapping[str, Any], offered: Mapping[str, Any]) -> Any:
    if found.source == "builtin":
        return construct(found, registry.built_in_class(found.category, found.name), options, offered)
    if found.folder is not None:
        from hermes_lance.core import folder_plugins

        assert home is not None
        return _from_module(found, folder_plugins.load(found.folder, home), home, options, offered)
    assert found.point is not None
    target = found.point.load()
    if isinstance(target, ModuleType):
        return _from_module(found, target, home, options, offered)
    # An instance needs no making; a function that makes one is called like a class.
    return construct(found, target, options, offered) if isinstance(target, type) or callable(target) else target


def _from_module(
    found: Found, module: ModuleType, home: Path | None, options: Mapping[str, Any], offered: Mapping[str, Any]
) -> Any:
    """Both ways of the feature spec: `register(ctx)`, else the first class with the shape of the category."""
    register = getattr(module, "register", None)
    if callable(register):
        context = Registration(found.category, found.name, home, {**offered, **options})
        register(context)
        if context.registered is None:
            wanted = f"register_workspace_{found.category.removesuffix('s')}"
            raise PluginFailed(f"plugin {found.name} ({found.category}): its register(ctx) never calls ctx.{wanted}")
        return context.registered
    kind = next(_classes(found.category, module), None)
    if kind is None:
        needed = ", ".join(f"{name}()" for name in methods(found.category))
        raise PluginFailed(
            f"plugin {found.name} ({found.category}): {module.__file__} has neither register(ctx) nor a class with "
            f"{needed}"
        )
    return construct(found, kind, options, offered)


@dataclass(slots=True)
class Registration:
    """What `register(ctx)` of a plugin is given."""

    category: str
    name: str
    hermes_home: Path | None
    options: Mapping[str, Any]
    """What the user wrote under `knowledgebase.<category>.<name>`, and for chunkers the configured sizes."""
    registered: Any = None
    """The instance of this category; the last call wins."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("register"):
            raise AttributeError(f"ctx has no {name}; it has options, hermes_home and register_workspace_…")
        wanted = f"register_workspace_{self.category.removesuffix('s')}"

        def call(instance: Any = None, *_: Any, **__: Any) -> None:
            if name == wanted:
                self.registered = instance

        return call


def construct(found: Found, kind: Any, options: Mapping[str, Any], offered: Mapping[str, Any]) -> Any:
    """`kind` called with its options, checked against the names of its arguments."""
    arguments = {**offered, **options}
    if arguments:
        taken = inspect.signature(kind).parameters
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values()):
            for option in options:
                if option not in taken:
                    raise _unknown_option(found, option, list(taken))
            arguments = {key: value for key, value in arguments.items() if key in taken}
    try:
        return kind(**arguments)
    except HermesLanceError:
        raise
    except (Exception, SystemExit) as error:
        place = found.folder.path if found.folder is not None else None
        made = fault(found.category, found.name, error, place)
        made.hint = f"Check the options under knowledgebase.{found.category}.{found.name}."
        raise made from error


def _unknown_option(found: Found, option: str, known: list[str]) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(str(option), known, 1)
    advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"
    return ConfigError(f"knowledgebase.{found.category}.{found.name}.{option} is not a known key; {advice}")


def members(category: str) -> list[str]:
    """What a plugin of a category has: attributes, then methods."""
    protocol = PROTOCOLS[category]
    return [*protocol.__annotations__, *methods(category)]


def methods(category: str) -> list[str]:
    """The methods that the contract of a category asks for."""
    return [name for name, value in vars(PROTOCOLS[category]).items() if callable(value) and not name.startswith("_")]


def _classes(category: str, module: ModuleType) -> Iterator[type]:
    """Concrete classes that a module itself defines and that have every method of the contract."""
    protocol = PROTOCOLS[category]
    for kind in vars(module).values():
        own = isinstance(kind, type) and f"{kind.__module__}.".startswith(f"{module.__name__}.")
        if not own or inspect.isabstract(kind) or getattr(kind, "_is_protocol", False):
            continue
        # What a subclass of our contract has only inherited from it is not there.
        have = [getattr(kind, name, None) for name in methods(category)]
        ours = [getattr(protocol, name) for name in methods(category)]
        if all(callable(one) and one is not bare for one, bare in zip(have, ours, strict=True)):
            yield kind


def _check_shape(found: Found, made: Any) -> None:
    lacking = [name for name in members(found.category) if not hasattr(made, name)]
    if lacking:
        what = ", ".join(f"{name}()" if name in methods(found.category) else name for name in lacking)
        kind = type(made).__name__
        raise PluginFailed(
            f"plugin {found.name} ({found.category}): {kind} lacks {what}",
            hint=f"The contract is hermes_lance.core.contracts.{PROTOCOLS[found.category].__name__}.",
        )


def _check_available(found: Found, made: Any) -> None:
    asked = getattr(made, "is_available", None)
    if callable(asked) and not asked():
        raise PluginMissing(
            f"plugin {found.name} ({found.category}) says that it is not available",
            hint="See its own documentation for what it needs.",
        )


def fault(category: str, name: str, error: BaseException, place: Path | None = None) -> PluginFailed:
    """Any exception of a plugin as one that names the plugin, the file and the line."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    where = _where(error, place)
    hint = PluginFailed.hint
    if isinstance(error, ModuleNotFoundError):
        hint = f"Install {error.name} for this Python, or choose another plugin."
    return PluginFailed(f"plugin {name} ({category}): {said}{where}", hint=hint)


def _where(error: BaseException, place: Path | None) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if place is not None and Path(one.filename).is_relative_to(place)]
    foreign = [one for one in frames if Path(one.filename) != Path(__file__) and "importlib" not in one.filename]
    last = (own or foreign)[-1:]
    return "".join(f" ({one.filename}, line {one.lineno})" for one in last)
