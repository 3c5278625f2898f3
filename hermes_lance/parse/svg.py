"""Parser: SVG drawings, of which only the words are read: title, description and labels. A drawing without any is a
picture to us.
"""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.plain import decoded


class SvgParser:
    """One line for each label, in the order of the file. Offsets count characters of the extracted text."""

    name = "svg"
    media_types: Sequence[str] = ("image/svg+xml",)

    def signature(self) -> str:
        """Name and version."""
        return "svg/2"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The words of the drawing; raises `Unreadable` (`binary`, `empty`, `image` where there are no words)."""
        from selectolax.lexbor import LexborHTMLParser

        found = decoded(data)
        # Lexbor reads SVG inside HTML by the rules of HTML 5, which resolve no entity of the document's own.
        tree = LexborHTMLParser(found.text)
        labels = [" ".join(node.text().split()) for node in tree.css("svg title, svg desc, svg text")]
        lines = [label for label in labels if label]
        if not lines:
            raise Unreadable("image", "a drawing without words")
        return Document(
            text="\n".join(lines) + "\n",
            media_type=media_type,
            parser=self.signature(),
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            verbatim=False,
        )
