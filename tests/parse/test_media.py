"""The type of a file comes from its name, unless its bytes say otherwise."""

from __future__ import annotations

import pytest

from hermes_lance.parse.media import BINARY, language_of, media_type, refused_by_name, unsupported


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/notes.md", "text/markdown"),
        ("UPPER.MD", "text/markdown"),
        ("page.mdx", "text/markdown"),
        ("tool.py", "text/x-python"),
        ("lib.rs", "text/x-rust"),
        ("App.tsx", "text/x-tsx"),
        ("guide.rst", "text/rst"),
        ("paper.tex", "text/tex"),
        ("data.csv", "text/csv"),
        ("config.yaml", "text/yaml"),
        ("pyproject.toml", "text/toml"),
        ("package.json", "text/json"),
        ("feed.xml", "text/xml"),
        ("index.html", "text/html"),
        ("Makefile", "text/x-make"),
        ("sub/Dockerfile.dev", "text/x-dockerfile"),
        ("CMakeLists.txt", "text/x-cmake"),
        ("LICENSE", "text/plain"),
        ("notes.md.bak", "text/plain"),
        ("strange.xyz", "text/plain"),
        ("no suffix", "text/plain"),
    ],
)
def test_names_decide(path, kind):
    assert media_type(path, b"some text\n") == kind


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("really-a-pdf.txt", b"%PDF-1.7\n...", "application/pdf"),
        ("really-a-picture.md", b"\x89PNG\r\n\x1a\n\x00\x00", "image/png"),
        ("really-a-zip.pdf", b"PK\x03\x04\x14\x00", "application/zip"),
        ("program.md", b"\x7fELF\x02\x01\x01" + bytes(50), "application/x-elf"),
        ("all-bytes.txt", bytes(range(256)) * 8, BINARY),
        ("film.txt", b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
    ],
)
def test_a_lying_suffix_is_overruled_by_the_bytes(path, data, kind):
    assert media_type(path, data) == kind


def test_a_pdf_without_its_mark_stays_one_so_that_its_parser_says_what_is_wrong():
    assert media_type("not.pdf", b"this is not a pdf at all") == "application/pdf"


def test_an_office_file_is_told_from_any_other_zip():
    assert media_type("a.docx", b"PK\x03\x04").endswith("wordprocessingml.document")
    assert media_type("a.jar", b"PK\x03\x04") == "application/zip"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"#!/bin/sh\necho\n", "text/x-bash"),
        (b"#!/usr/bin/env python3\nprint()\n", "text/x-python"),
        (b"#!/usr/bin/env -S node --x\n", "text/x-javascript"),
        (b"<!DOCTYPE html>\n<p>x", "text/html"),
        (b"<?xml version='1.0'?><a/>", "text/xml"),
    ],
)
def test_without_a_suffix_the_first_line_decides(data, kind):
    assert media_type("bin/tool", data) == kind


def test_utf16_is_text_in_spite_of_its_nuls():
    assert media_type("a.txt", "\ufeffGrüße".encode("utf-16-le")) == "text/plain"
    assert media_type("a.txt", "plain words".encode("utf-16-be")) == "text/plain"


def test_a_header_with_classes_is_cpp():
    assert media_type("a.h", b"#pragma once\nnamespace x {\nclass A;\n}\n") == "text/x-cpp"
    assert media_type("a.h", b"struct a { int class_count; };\n") == "text/x-c"


def test_suffixes_of_pictures_and_archives_are_refused_by_name():
    reason = refused_by_name("holiday/beach.JPG")
    assert reason is not None and (reason.code, reason.failed) == ("image", False)
    assert "hermes-lance[ocr]" in (reason.remedy or "")
    archive = refused_by_name("all.zip")
    assert archive is not None and (archive.code, "archives" in archive.detail) == ("binary", True)
    assert refused_by_name("notes.txt") is None
    assert refused_by_name("a.png/notes") is None


def test_the_reason_for_a_format_without_parser_names_the_format():
    kind = media_type("a.docx", b"PK\x03\x04")
    assert "Word" in unsupported("a.docx", kind).detail
    assert unsupported("a.md", "image/png").code == "image"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"II*\x00\x08\x00", "image/tiff"),
        (b"MM\x00*\x00\x00", "image/tiff"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36", "image/bmp"),
        (b"BMW and other makes of cars", "text/plain"),
    ],
)
def test_pictures_are_known_by_their_beginnings(head, kind):
    assert media_type("scan", head) == kind


def test_an_encrypted_office_file_says_so():
    kind = media_type("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    assert unsupported("a.docx", kind).code == "encrypted"


def test_language_of_source_code():
    assert language_of("text/x-rust") == "rust"
    assert language_of("text/markdown") is None
