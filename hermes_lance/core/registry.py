"""Plugin names to classes, loaded late; the most exact media type wins.

Built-ins are text here, so that naming one or asking for its signature costs no import. Other packages add theirs
through entry points of the groups `hermes_lance.parsers`, `.chunkers`, `.embedders`, `.rerankers`, `.retrievers` and
`.index_stores`; the same name replaces ours. How a name becomes a plugin is in `plugins`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import PluginFailed, PluginMissing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "parsers": {
        "builtin_text": "hermes_lance.parse.plain:PlainParser",
        "markdown": "hermes_lance.parse.markdown:MarkdownParser",
        "markup": "hermes_lance.parse.markup:MarkupParser",
        "html": "hermes_lance.parse.web:HtmlParser",
        "svg": "hermes_lance.parse.svg:SvgParser",
        "pdf": "hermes_lance.parse.pdf:PdfParser",
        "pdf_ocr": "hermes_lance.parse.ocr:OcrPdfParser",
        "image": "hermes_lance.parse.ocr:ImageParser",
        "notebook": "hermes_lance.parse.notebook:NotebookParser",
        "mail": "hermes_lance.parse.mail:MailParser",
        "office": "hermes_lance.parse.office:OfficeParser",
    },
    "chunkers": {
        "headings": "hermes_lance.parse.headings:HeadingsChunker",
        "symbols": "hermes_lance.parse.symbols:SymbolsChunker",
        "paragraphs": "hermes_lance.parse.paragraphs:ParagraphsChunker",
        "cells": "hermes_lance.parse.cells:CellsChunker",
        "keys": "hermes_lance.parse.keys:KeysChunker",
        "rows": "hermes_lance.parse.table_rows:RowsChunker",
        "fixed": "hermes_lance.parse.window:FixedChunker",
    },
    "embedders": {
        "minilm": "hermes_lance.models.minilm:MiniLmEmbedder",
        "builtin_hash": "hermes_lance.models.hashing:HashEmbedder",
        "local_sentence_transformers": "hermes_lance.models.sentence:SentenceTransformersEmbedder",
        "openai": "hermes_lance.models.openai_embed:OpenAiEmbedder",
        "google": "hermes_lance.models.google_embed:GoogleEmbedder",
    },
    "rerankers": {
        "heuristic": "hermes_lance.models.rerank_heuristic:HeuristicReranker",
        "local_cross_encoder": "hermes_lance.models.rerank_local:LocalCrossEncoder",
        "cohere": "hermes_lance.models.rerank_cohere:CohereReranker",
        "voyage": "hermes_lance.models.rerank_voyage:VoyageReranker",
    },
    "retrievers": {
        "builtin_hybrid": "hermes_lance.search.retrievers:HybridRetriever",
        "builtin_hybrid_rrf": "hermes_lance.search.retrievers:RrfRetriever",
    },
}
SIGNATURES: Mapping[str, Mapping[str, str]] = {
    "parsers": {
        "builtin_text": "builtin_text/2",
        "markdown": "markdown/2",
        "markup": "markup/1",
        "html": "html/3",
        "svg": "svg/2",
        "pdf": "pdf/2",
        "pdf_ocr": "pdf_ocr/1",
        "image": "image/1",
        "notebook": "notebook/1",
        "mail": "mail/1",
        "office": "office/1",
    },
    "chunkers": {
        "headings": "headings/2:{target}:{overlap}",
        "symbols": "symbols/2:{target}:{overlap}",
        "paragraphs": "paragraphs/1:{target}:{overlap}",
        "cells": "cells/1:{target}:{overlap}",
        "keys": "keys/1:{target}:{overlap}",
        "rows": "rows/1:{target}:{overlap}",
        "fixed": "fixed/1:{target}:{overlap}",
    },
    "retrievers": {"builtin_hybrid": "builtin_hybrid/1", "builtin_hybrid_rrf": "builtin_hybrid_rrf/1"},
}
"""What the built-in classes answer when they are asked for their signature; a test compares the two."""
WITHOUT_CLASS: Mapping[str, tuple[str, ...]] = {"rerankers": ("disabled",), "index_stores": ("lance",)}
"""Names that stand for what is there without any plugin."""
NEEDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("parsers", "pdf_ocr"): ("rapidocr", "ocr"),
    ("parsers", "image"): ("rapidocr", "ocr"),
}
"""The package that a built-in parser or chunker cannot do without, and the extra that brings it."""
ALIASES: Mapping[str, Mapping[str, str]] = {
    "parsers": {"plain": "builtin_text", "docx": "office", "web": "html"},
    "rerankers": {"none": "disabled", "off": "disabled"},
}


def normal(category: str, name: str) -> str:
    """Trimmed, lower case, `-` as `_`, old names replaced."""
    name = name.strip().lower().replace("-", "_")
    return ALIASES.get(category, {}).get(name, name)


def names(category: str) -> list[str]:
    """Every name of ours and of other packages that can be chosen in a category, sorted."""
    extra = {normal(category, point.name) for point in _added(category)}
    return sorted({*BUILT_IN.get(category, ()), *WITHOUT_CLASS.get(category, ()), *extra})


def is_built_in(category: str, name: str) -> bool:
    """Whether the (normalised) name is one of ours, replaced by a package or not."""
    return name in BUILT_IN.get(category, ()) or name in WITHOUT_CLASS.get(category, ())


def built_in_signature(category: str, name: str) -> str | None:
    """The signature of a built-in parser or chunker; none for another one, or when a package has replaced it."""
    name = normal(category, name)
    known = SIGNATURES[category].get(name)
    return None if known is None or entry_point(category, name) is not None else known


def entry_point(category: str, name: str) -> EntryPoint | None:
    """What another package declares for a (normalised) name."""
    return next((point for point in _added(category) if normal(category, point.name) == name), None)


@cache
def _added(category: str) -> tuple[EntryPoint, ...]:
    """Entry points of other packages. Looked up once: it reads a file of every installed package."""
    group = f"hermes_lance.{category}"
    if not _may_be_declared(group):
        return ()
    from importlib import metadata

    return tuple(metadata.entry_points(group=group))


def _may_be_declared(group: str) -> bool:
    """False when no installed package can have entry points of that group.

    Looks for the words only: `importlib.metadata` takes many times as long to be imported and to parse all of it, and
    hardly anybody has a plugin. Where packages may be found by other means than folders, the answer is yes.
    """
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    head = f"[{group}]".encode()
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except NotADirectoryError:
            return True  # an archive
        except OSError:
            continue
        for name in names:
            if name.lower().endswith((".dist-info", ".egg-info", "egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if head in file.read():
                            return True
                except OSError:
                    continue
    return False


def plugin_class(category: str, name: str) -> Any:
    """The class behind a name of ours or of a package; imports its module."""
    name = normal(category, name)
    point = entry_point(category, name)
    if point is not None:
        try:
            return point.load()
        except Exception as error:
            raise PluginFailed(f"plugin {name} ({category}): {error}", hint=f"Reinstall or remove {name}.") from error
    if name not in BUILT_IN.get(category, ()):
        known = ", ".join(names(category))
        raise PluginMissing(f"{category}: there is no {name!r}", hint=f"Choose one of: {known}.")
    return built_in_class(category, name)


def built_in_class(category: str, name: str) -> Any:
    """The class of one of ours."""
    module, _, attribute = BUILT_IN[category][name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def best_match(choices: Mapping[str, str], media_type: str) -> str | None:
    """The value whose pattern fits the media type most exactly (fewest wildcards, then longest)."""
    fitting = [pattern for pattern in choices if fnmatchcase(media_type, pattern)]
    if not fitting:
        return None
    return choices[min(fitting, key=lambda pattern: (pattern.count("*"), -len(pattern)))]
