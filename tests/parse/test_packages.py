"""Archives are checked before anything in them is unpacked."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile

import pytest

from hermes_lance.parse import packages
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.packages import Package


def zipped(*parts: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # about the same name twice
        for name, content in parts:
            archive.writestr(name, content)
    return made.getvalue()


def refusal(data: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        package = Package(data)
        for name in package.text_parts:
            package.read(name)
    return caught.value


def test_only_text_parts_reach_a_parser():
    package = Package(zipped(("a.xml", b"<a/>"), ("media/picture.png", b"\x89PNG"), ("b.rels", b"<b/>")))
    with zipfile.ZipFile(io.BytesIO(package.repacked({"a.xml": b"<new/>", "c.xml": b"<c/>"}))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "a.xml": b"<new/>",
            "b.rels": b"<b/>",
            "c.xml": b"<c/>",
        }


def test_a_part_that_grows_out_of_all_proportion_is_refused():
    why = refusal(zipped(("word/document.xml", b"A" * (20 << 20))))
    assert (why.code, why.failed) == ("too_large", True)
    assert "word/document.xml would grow" in why.detail


def test_all_parts_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(packages, "MAX_BYTES", 1_000)
    assert refusal(zipped(("a.xml", b"<a>" + b"x" * 600), ("b.xml", b"<b>" + b"y" * 600))).code == "too_large"


def test_too_many_parts_are_refused(monkeypatch):
    monkeypatch.setattr(packages, "MAX_MEMBERS", 3)
    assert refusal(zipped(*((f"{n}.xml", b"") for n in range(4)))).code == "too_large"


def test_the_same_name_twice_is_refused():
    assert "same name" in refusal(zipped(("a.xml", b"<a/>"), ("a.xml", b"<b/>"))).detail


def test_an_encrypted_part_is_said_by_name():
    data = bytearray(zipped(("a.xml", b"<a/>")))
    entry = data.index(b"PK\x01\x02")
    struct.pack_into("<H", data, entry + 8, 1)
    assert refusal(bytes(data)).code == "encrypted"


def test_a_size_that_lies_gives_no_more_than_it_says():
    data = bytearray(zipped(("a.xml", b"<a>" + b"x" * 5_000)))
    entry = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, 10)
    why = refusal(bytes(data))
    assert why.code == "parse_failed"
    assert "a.xml cannot be unpacked" in why.detail


def test_a_document_type_in_utf_16_is_seen():
    trap = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE d [<!ENTITY a "lol">]><d/>'.encode("utf-16")
    assert "declares" in refusal(zipped(("a.xml", trap))).detail


def test_document_types_are_usual_in_books_but_entities_are_not():
    assert Package(zipped(("a.xhtml", b"<!DOCTYPE html><html/>")), doctypes=True).read("a.xhtml")
    package = Package(zipped(("a.xhtml", b'<!DOCTYPE html [<!ENTITY a "b">]><html/>')), doctypes=True)
    with pytest.raises(Unreadable, match="declares"):
        package.read("a.xhtml")


def test_a_cut_archive_is_damaged():
    assert "cut off" in refusal(zipped(("a.xml", b"<a/>"))[:-30]).detail
