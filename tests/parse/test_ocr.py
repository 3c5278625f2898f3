"""With the extra `ocr`, words of images and of scanned pages are read, with the page or box they came from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core.config_file import from_mapping
from hermes_lance.core.errors import PluginMissing
from hermes_lance.ingest.reading import Read, Reader
from hermes_lance.ingest.rows import Origin
from hermes_lance.ingest.walk import settings_from
from hermes_lance.parse import ocr
from hermes_lance.parse.isolate import Answer
from hermes_lance.parse.pdf import PdfPages

LINES = ["Invoice number 4711", "Payable to Wilhelm Becker", "within thirty days"]
ORIGIN = Origin("0" * 32, "workspace", "scan", "run")


def drawn(*lines: str, size: tuple[int, int] = (900, 600), left: int = 60) -> Any:
    """A picture of printed lines."""
    from PIL import Image, ImageDraw, ImageFont

    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    for row, line in enumerate(lines):
        pen.text((left, 60 + 70 * row), line, fill="black", font=ImageFont.load_default(36))
    return sheet


def saved(picture: Any, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    config = from_mapping(tmp_path_factory.mktemp("home"), {"knowledgebase": {"ocr": True}}, "config.yaml")
    made = Reader.of(config)
    yield made
    made.close()


def read(reader: Reader, data: bytes, path: str) -> Read:
    found = reader.read(data, path, ORIGIN)
    assert isinstance(found, Read), found
    return found


def test_the_setting_puts_the_parsers_that_recognise_in_place(tmp_path: Path):
    plain = from_mapping(tmp_path, {}, "config.yaml")
    assert ".png" in settings_from(plain).image_suffixes
    config = from_mapping(tmp_path, {"knowledgebase": {"ocr": True}}, "config.yaml")
    assert (config.parsers["application/pdf"], config.parsers["image/*"]) == ("pdf_ocr", "image")
    assert config.parsers["image/svg+xml"] == "svg"
    assert settings_from(config).image_suffixes.isdisjoint({".png", ".jpg", ".tiff"})
    assert ".heic" in settings_from(config).image_suffixes
    chosen = {"knowledgebase": {"ocr": True, "parsers": {"active": {"application/pdf": "pdf"}}}}
    assert from_mapping(tmp_path, chosen, "config.yaml").parsers["application/pdf"] == "pdf"


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(PluginMissing, match="ocr") as caught:
        ocr.ImageParser().parse(b"\x89PNG", path="a.png", media_type="image/png")
    assert "hermes-lance[ocr]" in caught.value.hint


def test_a_picture_is_left_out_with_a_reason_while_the_setting_is_off(tmp_path):
    reader = Reader.of(from_mapping(tmp_path, {}, "config.yaml"))
    found = reader.read(b"\x89PNG\r\n\x1a\n", "a.png", ORIGIN)
    assert not isinstance(found, Read) and found.why.code == "image"


@pytest.mark.ocr
@pytest.mark.slow
def test_words_of_an_image_are_read_with_their_box(reader):
    made = read(reader, saved(drawn(*LINES), "PNG"), "scan.png")
    assert made.document.text.split("\n") == LINES
    [row] = made.rows
    assert row.locator is not None and row.locator.startswith("box ")
    left, top, right, bottom = map(int, row.locator[4:].split(","))
    assert 40 <= left <= 70 and 40 <= top <= 80 and 400 <= right <= 700 and 200 <= bottom <= 280
    assert (row.parser, row.page_start, row.line_start) == ("image/1", None, None)


@pytest.mark.ocr
@pytest.mark.slow
def test_transparent_turned_and_many_paged_images_are_read(reader):
    from PIL import Image

    clear = drawn(*LINES).convert("RGBA")
    clear.putdata([(0, 0, 0, 0) if pixel[0] > 128 else pixel for pixel in clear.get_flattened_data()])
    assert LINES[0] in read(reader, saved(clear, "WEBP", lossless=True), "a.webp").document.text
    turned = drawn(*LINES).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    assert LINES[1] in read(reader, saved(turned, "JPEG", exif=exif), "a.jpg").document.text
    frames = saved(drawn(LINES[0]), "TIFF", save_all=True, append_images=[drawn(LINES[1])])
    made = read(reader, frames, "fax.tif")
    assert len(made.document.page_starts) == 2
    assert [(row.page_start, row.page_end) for row in made.rows if LINES[1] in row.text] == [(2, 2)]


@pytest.mark.ocr
@pytest.mark.slow
def test_scanned_pages_are_read_and_cited_by_page_beside_the_others(reader, make_pdf):
    scan = saved(drawn(*LINES), "JPEG", quality=90)
    words = "A line of words that is long enough to count as text."
    made = read(reader, make_pdf.scanned([words, scan, None]), "mixed.pdf")
    assert [(row.page_start, row.page_end) for row in made.rows if LINES[1] in row.text] == [(1, 2)]
    text = made.document.text.split("\f")
    assert text[0] == words and text[1].split("\n") == LINES
    assert made.document.facts["ocr_pages"] == "2"
    assert made.document.facts["partial"] == "page 3: pictures without a text layer"
    assert made.document.parser == "pdf_ocr/1"


@pytest.mark.ocr
@pytest.mark.slow
def test_what_is_damaged_or_has_no_words_says_so(reader):
    for data, code in ((b"\x89PNG\r\n\x1a\nnothing more", "parse_failed"), (saved(drawn(), "PNG"), "image")):
        found = reader.read(data, "a.png", ORIGIN)
        assert not isinstance(found, Read) and found.why.code == code


@pytest.mark.ocr
@pytest.mark.slow
def test_a_picture_that_unpacks_to_too_many_pixels_is_refused(reader):
    from PIL import Image

    found = reader.read(saved(Image.new("1", (20_000, 20_000)), "PNG"), "bomb.png", ORIGIN)
    assert not isinstance(found, Read) and found.why.code == "too_large"


@pytest.mark.ocr
@pytest.mark.slow
def test_nothing_is_fetched_for_it():
    """The engine is made and reads while no socket can be opened."""
    import subprocess
    import sys

    code = """
import socket
class Refused:
    def __init__(self, *_, **__): raise OSError("the network is closed")
socket.socket = Refused
import numpy as np
from hermes_lance.parse.ocr_worker import _engine
assert _engine()(np.full((80, 200, 3), 255, np.uint8)).txts is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_bad_answer_of_the_worker_is_a_note_and_no_end():
    pages = PdfPages(
        ["text of the first page", ""],
        [],
        {"title": "", "outline": [], "labels": [], "scanned": [2], "garbled": [], "unmapped": [], "notes": []},
    )
    ocr._take_in(pages, Answer([({"event": "page", "page": 1}, b"less")], died="it took longer than 90 seconds"))
    assert pages.pages == ["text of the first page", ""] and pages.scanned == [2]
    assert pages.notes == ["OCR: it took longer than 90 seconds"]
