"""The tree-sitter grammars we ship with, and which of their nodes are definitions. Loaded one at a time, on need.

A node kind is compared by its number only; names are resolved once for each grammar.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class _Spec:
    """Node kinds of one language, as blank-separated names."""

    module: str
    definitions: str
    """What makes a passage of its own, with a name."""
    containers: str = ""
    """Definitions (or other nodes) whose body holds further definitions."""
    bodies: str = ""
    """Children of a container that hold its members, where there is no field `body`."""
    wrappers: str = ""
    """Nodes around a definition: decorators, exports, templates."""
    attached: str = "comment"
    """What stands directly above a definition and belongs to it."""
    transparent: str = ""
    """Nodes that only gather members: what is in them counts as if it stood in their place."""
    naming: str = ""
    """Children whose texts make the name of a definition, joined by dots, where no field holds one."""
    function: str = "language"


_C = (
    "function_definition declaration type_definition struct_specifier union_specifier enum_specifier "
    "preproc_function_def"
)
_C_BLOCKS = "preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification"
_JS = (
    "function_declaration generator_function_declaration class_declaration method_definition lexical_declaration "
    "variable_declaration expression_statement field_definition"
)
_TS = (
    "interface_declaration type_alias_declaration enum_declaration abstract_class_declaration internal_module module "
    "function_signature method_signature abstract_method_signature public_field_definition"
)
_TS_HOLD = "class_declaration abstract_class_declaration internal_module module"

_SPECS: Mapping[str, _Spec] = {
    "bash": _Spec("tree_sitter_bash", "function_definition"),
    "c": _Spec("tree_sitter_c", _C, _C_BLOCKS),
    "cpp": _Spec(
        "tree_sitter_cpp",
        f"{_C} class_specifier namespace_definition concept_definition alias_declaration field_declaration",
        f"{_C_BLOCKS} class_specifier struct_specifier namespace_definition declaration_list",
        wrappers="template_declaration",
    ),
    "csharp": _Spec(
        "tree_sitter_c_sharp",
        "namespace_declaration class_declaration struct_declaration interface_declaration enum_declaration "
        "record_declaration delegate_declaration method_declaration constructor_declaration destructor_declaration "
        "property_declaration field_declaration event_declaration operator_declaration indexer_declaration",
        "namespace_declaration class_declaration struct_declaration interface_declaration record_declaration",
        attached="comment attribute_list",
    ),
    "go": _Spec("tree_sitter_go", "function_declaration method_declaration type_declaration"),
    "haskell": _Spec(
        "tree_sitter_haskell",
        "function bind data_type newtype class instance type_synonym data_family type_family",
        "class instance",
        bodies="class_declarations instance_declarations",
        attached="comment haddock signature",
        transparent="declarations imports",
    ),
    "hcl": _Spec("tree_sitter_hcl", "block attribute", transparent="body", naming="identifier string_lit"),
    "java": _Spec(
        "tree_sitter_java",
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration "
        "method_declaration constructor_declaration field_declaration",
        "class_declaration interface_declaration enum_declaration record_declaration enum_body_declarations",
        attached="line_comment block_comment",
    ),
    "javascript": _Spec("tree_sitter_javascript", _JS, "class_declaration", wrappers="export_statement"),
    "kotlin": _Spec(
        "tree_sitter_kotlin",
        "class_declaration object_declaration companion_object function_declaration property_declaration type_alias",
        "class_declaration object_declaration companion_object",
        bodies="class_body enum_class_body",
        attached="line_comment block_comment",
    ),
    "lua": _Spec("tree_sitter_lua", "function_declaration variable_declaration assignment_statement"),
    "php": _Spec(
        "tree_sitter_php",
        "namespace_definition class_declaration interface_declaration trait_declaration enum_declaration "
        "function_definition method_declaration const_declaration property_declaration",
        "namespace_definition class_declaration interface_declaration trait_declaration enum_declaration",
        attached="comment attribute_list",
        function="language_php",
    ),
    "powershell": _Spec(
        "tree_sitter_powershell",
        "function_statement class_statement enum_statement class_method_definition class_property_definition",
        "class_statement",
        transparent="statement_list",
        naming="function_name simple_name variable",
    ),
    "python": _Spec(
        "tree_sitter_python",
        "function_definition class_definition",
        "class_definition",
        wrappers="decorated_definition",
    ),
    "ruby": _Spec(
        "tree_sitter_ruby",
        "module class singleton_class method singleton_method",
        "module class singleton_class",
    ),
    "rust": _Spec(
        "tree_sitter_rust",
        "function_item function_signature_item struct_item enum_item union_item trait_item impl_item mod_item "
        "type_item macro_definition const_item static_item",
        "trait_item impl_item mod_item",
        attached="line_comment block_comment attribute_item",
    ),
    "scala": _Spec(
        "tree_sitter_scala",
        "class_definition object_definition trait_definition enum_definition function_definition function_declaration "
        "val_definition type_definition given_definition extension_definition package_object",
        "class_definition object_definition trait_definition enum_definition package_object extension_definition",
        attached="comment block_comment",
    ),
    "swift": _Spec(
        "tree_sitter_swift",
        "class_declaration protocol_declaration function_declaration init_declaration deinit_declaration "
        "property_declaration typealias_declaration subscript_declaration",
        "class_declaration protocol_declaration",
        attached="comment multiline_comment",
    ),
    "tsx": _Spec(
        "tree_sitter_typescript",
        f"{_JS.removesuffix(' field_definition')} {_TS}",
        _TS_HOLD,
        wrappers="export_statement ambient_declaration",
        function="language_tsx",
    ),
    "typescript": _Spec(
        "tree_sitter_typescript",
        f"{_JS.removesuffix(' field_definition')} {_TS}",
        _TS_HOLD,
        wrappers="export_statement ambient_declaration expression_statement",
        function="language_typescript",
    ),
    "zig": _Spec(
        "tree_sitter_zig",
        "function_declaration variable_declaration test_declaration",
        "variable_declaration",
        bodies="struct_declaration enum_declaration union_declaration opaque_declaration",
        naming="identifier string",
    ),
}


_ERROR = 65_535
"""The kind of a node in which the parser lost its way (`ts_builtin_sym_error`)."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A loaded grammar, its node kinds as sets of numbers."""

    language: Any
    definitions: frozenset[int]
    containers: frozenset[int]
    bodies: frozenset[int]
    wrappers: frozenset[int]
    attached: frozenset[int]
    transparent: frozenset[int]
    naming: frozenset[int]


def known_languages() -> frozenset[str]:
    """Languages that a grammar exists for."""
    return frozenset(_SPECS)


@cache
def grammar(language: str) -> Grammar | None:
    """The grammar of a language; None when there is none or its package is not installed."""
    spec = _SPECS.get(language)
    if spec is None:
        return None
    try:
        import tree_sitter

        module = importlib.import_module(spec.module)
    except ImportError:
        return None
    loaded = tree_sitter.Language(getattr(module, spec.function)())

    def numbers(names: str) -> frozenset[int]:
        # One name can stand for several numbers (aliases), so all numbers are looked through.
        wanted = set(names.split())
        kinds = range(loaded.node_kind_count)
        return frozenset(
            kind for kind in kinds if loaded.node_kind_is_named(kind) and loaded.node_kind_for_id(kind) in wanted
        )

    return Grammar(
        loaded,
        numbers(spec.definitions),
        numbers(spec.containers),
        numbers(spec.bodies),
        numbers(spec.wrappers),
        numbers(spec.attached),
        # What stands in a stretch with an error is found all the same.
        numbers(spec.transparent) | {_ERROR},
        numbers(spec.naming),
    )
