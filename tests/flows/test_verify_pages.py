"""Citations of pages: a page that is as it was, has another number now, or has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.library import Library

ONE, TWO, THREE = "The blue whale sings at night", "A grey wolf runs in the snow", "The red fox sleeps until noon"


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF with one line on each page; an empty line makes an empty page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, line in enumerate(pages):
        drawn = f"BT /F 12 Tf 72 700 Td ({line}) Tj ET" if line else ""
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]"
            f"/Resources<</Font<</F 3 0 R>>>>/Contents {5 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream")
    made, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{at:010d} 00000 n \n" for at in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Size {size}/Root 1 0 R>>\n"
    return made + f"{end}startxref\n{len(made)}\n%%EOF\n".encode("latin-1")


@pytest.fixture
def report(tmp_path: Path) -> tuple[Library, Path]:
    (tmp_path / "workspace").mkdir()
    config = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"
    (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
    path = tmp_path / "workspace" / "report.pdf"
    path.write_bytes(pdf([ONE, "", TWO, THREE]))
    library = hermes_lance.open(tmp_path)
    library.index()
    return library, path


@pytest.mark.parametrize(
    ("pages", "wanted"),
    [
        ([ONE, "", TWO, THREE], ["exact 1", "exact 3", "exact 4"]),
        ([ONE, "", TWO, "Another fox"], ["exact 1", "exact 3", "changed"]),
        (["A title page", ONE, "", TWO, THREE], ["moved 2", "moved 4", "moved 5"]),
        ([THREE, "", TWO, ONE], ["moved 4", "exact 3", "moved 1"]),
        ([ONE, "", "Another wolf", THREE], ["exact 1", "changed", "exact 4"]),
        ([ONE + " and by day", "", TWO, THREE], ["changed", "exact 3", "exact 4"]),
    ],
)
def test_the_verdict_on_each_page(report, pages, wanted):
    library, path = report
    path.write_bytes(pdf(pages) + b"\n% written again\n")
    said = []
    for page in (1, 3, 4):
        found = library.verify(f"report.pdf#page={page}")
        said.append(found.verdict if found.verdict == "changed" else f"{found.verdict} {found.start}")
    assert said == wanted


def test_a_broken_file_is_changed_and_says_that_it_cannot_be_read(report):
    library, path = report
    path.write_bytes(b"%PDF-1.4\nbroken")
    found = library.verify("report.pdf#page=3")
    assert found.verdict == "changed" and "cannot be read" in found.detail
