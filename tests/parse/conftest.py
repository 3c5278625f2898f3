"""Small PDFs made on the spot, and the check that passages cover a text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from hermes_lance.core.records import Document, Piece


def _assembled(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, trailer, table)
    return bytes(out)


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(data), data)


_PICTURE = b"q 500 0 0 700 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7f EI Q"


class PdfMaker:
    """PDFs of plain text, and ones that mean harm."""

    def pages(self, *texts: str | None, outline: Sequence[tuple[str, int]] = (), labels: bytes = b"") -> bytes:
        """One page for each text, lines below each other, or one picture for None; the outline as (title, page from 0).

        `labels` are the entries of the number tree of page labels.
        """
        kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(texts)))
        catalog = b"/Outlines %d 0 R" % (4 + 2 * len(texts)) if outline else b""
        catalog += b"/PageLabels<</Nums[%s]>>" % labels if labels else b""
        objects = [
            b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog,
            b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(texts)),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        for index, text in enumerate(texts):
            lines = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in (text or "").split("\n"))
            content = b"BT /F 12 Tf 14 TL 40 760 Td %s ET" % lines if text is not None else _PICTURE
            objects.append(
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>"
                % (5 + 2 * index)
            )
            objects.append(_stream(content))
        if outline:
            first = 5 + 2 * len(texts)
            last = first + len(outline) - 1
            objects.append(b"<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>" % (first, last, len(outline)))
            for index, (title, page) in enumerate(outline):
                following = b"/Next %d 0 R" % (first + index + 1) if first + index < last else b""
                objects.append(
                    b"<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>"
                    % (title.encode("latin-1"), first - 1, 4 + 2 * page, following)
                )
        return _assembled(objects)

    def content(self, stream: bytes, resources: bytes = b"", more: Sequence[bytes] = ()) -> bytes:
        """One page with the given content stream; further objects count from 6."""
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>%s>>>>"
        return _assembled(
            [
                b"<</Type/Catalog/Pages 2 0 R>>",
                b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                page % resources,
                stream,
                b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
                *more,
            ]
        )

    def bomb(self) -> bytes:
        """Two kilobytes that inflate twice, to a gigabyte."""
        packer = zlib.compressobj(9)
        once = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(1000)) + packer.flush()
        return self.content(_stream(zlib.compress(once, 9), b"/Filter[/FlateDecode/FlateDecode]"))

    def drawing_itself(self) -> bytes:
        """A form that draws itself, twice each time."""
        form = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
        return self.content(
            _stream(b"q /X Do Q BT /F 12 Tf (hello) Tj ET"), b"/XObject<</X 6 0 R>>", [_stream(b"/X Do /X Do", form)]
        )

    def many_paths(self, count: int) -> bytes:
        """One line of text among many lines of drawing."""
        paths = b"".join(b"%d %d m %d %d l S\n" % (i % 600, i % 800, i * 7 % 600, i * 3 % 800) for i in range(count))
        return self.content(_stream(b"BT /F 12 Tf 10 10 Td (a page full of lines that mean nothing) Tj ET\n" + paths))

    def looping(self) -> bytes:
        """A page tree that contains itself."""
        return _assembled([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 1>>"])

    def drawn(self, stream: bytes) -> bytes:
        """One page with this content; its font is /F."""
        return self.content(_stream(stream))

    def picture(self, pages: int = 1, stamp: bytes = b"") -> bytes:
        """Pages that are a picture and nothing else, as a scanner makes them, or with a stamp and its number."""
        kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(pages))
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>"
        for index in range(pages):
            text = b" BT /F 9 Tf 40 20 Td (%s) Tj ET" % (stamp % index) if stamp else b""
            objects += [page % (5 + 2 * index), _stream(_PICTURE + text)]
        return _assembled(objects)

    def scanned(self, pages: Sequence[str | bytes | None]) -> bytes:
        """Pages of a line of text, of a JPEG of 900 by 600 pixels that fills the page, or of a grey picture."""
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%s]/Count %d>>"
            % (b" ".join(b"%d 0 R" % (4 + 3 * n) for n in range(len(pages))), len(pages)),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        jpeg = (
            b"/Type/XObject/Subtype/Image/Width 900/Height 600/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/DCTDecode"
        )
        for number, page in enumerate(pages):
            first = 4 + 3 * number
            content = _PICTURE if page is None else b"q 450 0 0 300 0 0 cm /P Do Q"
            if isinstance(page, str):
                content = b"BT /F 10 Tf 20 200 Td (%s) Tj ET" % page.encode("latin-1")
            objects += [
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 450 300]/Contents %d 0 R"
                b"/Resources<</Font<</F 3 0 R>>/XObject<</P %d 0 R>>>>>>" % (first + 1, first + 2),
                _stream(content),
                _stream(page, jpeg) if isinstance(page, bytes) else b"null",
            ]
        return _assembled(objects)

    def table(self, rows: Sequence[Sequence[str]], offsets: Sequence[float] = (0.0,)) -> bytes:
        """A table with ruled lines; each cell is drawn once for each offset to the right."""
        high, wide = len(rows), len(rows[0])
        bottom = 700 - 30 * high
        lines = [b"40 %d m %d %d l S" % (700 - 30 * y, 40 + 120 * wide, 700 - 30 * y) for y in range(high + 1)]
        lines += [b"%d %d m %d 700 l S" % (40 + 120 * x, bottom, 40 + 120 * x) for x in range(wide + 1)]
        cells = [
            b"BT /F 10 Tf %.1f %d Td (%s) Tj ET" % (46 + 120 * x + offset, 680 - 30 * y, cell.encode("latin-1"))
            for y, row in enumerate(rows)
            for x, cell in enumerate(row)
            for offset in offsets
        ]
        return self.content(_stream(b"\n".join([*lines, *cells])))


@pytest.fixture(scope="session")
def make_pdf() -> PdfMaker:
    return PdfMaker()


@pytest.fixture(scope="session")
def covered() -> Callable[[Document, list[Piece]], None]:
    """Asserts that passages cover the text in order, and are exact slices that hold more than blanks."""

    def check(document: Document, pieces: list[Piece]) -> None:
        text = document.text
        assert pieces[0].start == 0 and pieces[-1].end == len(text)
        for before, after in pairwise(pieces):
            assert before.start < after.start <= before.end < after.end
        assert all(text[piece.start : piece.end].strip() for piece in pieces)

    return check
