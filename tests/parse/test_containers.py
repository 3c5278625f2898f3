"""Which document a container holds is seen by its members and streams, whatever the file is called."""

from __future__ import annotations

import io
import zipfile

import pytest

from hermes_lance.parse.containers import MAX_MEMBERS, ole_format, zipped_format
from hermes_lance.parse.media import media_type, unsupported
from hermes_lance.parse.suffixes import DOCUMENT_TYPES

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OOXML = "application/vnd.openxmlformats-officedocument."


def zipped(**parts: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def of_type(content_type: str) -> bytes:
    types = f'<Types><Default Extension="xlsx" ContentType="{OOXML}spreadsheetml.sheet"/>'
    types += f'<Override PartName="/x.xml" ContentType="{content_type}"/></Types>'
    return zipped(**{"x.xml": "<x/>", "[Content_Types].xml": types})


def ole(*streams: str) -> bytes:
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in ("Root Entry", *streams))
    return OLE.ljust(512, b"\0") + entries


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        (f"{OOXML}wordprocessingml.document.main+xml", "docx"),
        (f"{OOXML}wordprocessingml.template.main+xml", "docx"),
        ("application/vnd.ms-word.document.macroEnabled.main+xml", "docx"),
        (f"{OOXML}presentationml.presentation.main+xml", "pptx"),
        (f"{OOXML}presentationml.slideshow.main+xml", "pptx"),
        ("application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", "pptx"),
        (f"{OOXML}spreadsheetml.sheet.main+xml", "xlsx"),
        ("application/vnd.ms-excel.sheet.macroEnabled.main+xml", "xlsx"),
        ("application/vnd.ms-excel.sheet.binary.macroEnabled.main", "xlsb"),
        ("application/vnd.ms-visio.drawing.main+xml", None),
    ],
)
def test_office_open_xml_by_its_content_types(kind, suffix):
    assert zipped_format(of_type(kind)) == suffix


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        ("application/epub+zip", "epub"),
        ("application/vnd.oasis.opendocument.text", "odt"),
        ("application/vnd.oasis.opendocument.text-template", "odt"),
        ("application/vnd.oasis.opendocument.spreadsheet\n", "ods"),
        ("application/vnd.oasis.opendocument.presentation", "odp"),
        ("application/vnd.oasis.opendocument.graphics", None),
    ],
)
def test_open_document_and_books_by_their_mimetype(kind, suffix):
    assert zipped_format(zipped(mimetype=kind)) == suffix


def test_any_other_archive_is_none_of_them():
    assert zipped_format(zipped(**{"notes.txt": "words"})) is None
    assert zipped_format(zipped(mimetype="application/epub+zip")[:-10]) is None
    assert zipped_format(b"PK\x03\x04") is None


def test_an_archive_of_too_many_members_is_not_looked_into():
    data = bytearray(zipped(mimetype="application/epub+zip"))
    end = data.rindex(b"PK\x05\x06")
    data[end + 10 : end + 12] = (MAX_MEMBERS + 1).to_bytes(2, "little")
    assert zipped_format(bytes(data)) is None


@pytest.mark.parametrize("name", ["report", "report.docx", "report.xlsx", "report.txt", "report.pdf"])
def test_the_content_decides_and_not_the_name(name):
    data = of_type(f"{OOXML}presentationml.presentation.main+xml")
    assert media_type(name, data) == DOCUMENT_TYPES["pptx"]


def test_old_documents_by_their_streams():
    assert ole_format(ole("WordDocument"), "") == "doc"
    assert ole_format(ole("Workbook"), "doc") == "xls"
    assert ole_format(ole("PowerPoint Document"), "") == "ppt"
    assert ole_format(ole("__substg1.0_001A001E"), "") == "msg"
    assert ole_format(ole("Other"), "doc") is None
    assert ole_format(ole() + b"\0" * 6 + "WordDocument".encode("utf-16-le"), "") is None


def test_a_document_within_another_does_not_decide():
    assert ole_format(ole("WordDocument", "Workbook"), "xls") == "xls"
    assert ole_format(ole("WordDocument", "Workbook"), "doc") == "doc"


@pytest.mark.parametrize("name", ["secret.docx", "secret.xlsx", "secret", "secret.doc"])
def test_a_protected_document_says_so_under_any_name(name):
    why = unsupported(name, media_type(name, ole("EncryptionInfo", "EncryptedPackage")))
    assert (why.code, why.failed) == ("encrypted", True)


def test_an_outlook_message_says_what_to_do():
    why = unsupported("a.msg", media_type("a.msg", ole("__substg1.0_001A001E")))
    assert (why.code, why.failed) == ("unsupported", False)
    assert "save them as .eml" in why.detail


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("export.xls", b"<html><table><tr><td>1</table>", "text/html"),
        ("export.xls", b"\xef\xbb\xbfname\tprice\r\napple\t3\r\n", "text/csv"),
        ("export.xls", "\ufeffname\tprice\r\n".encode("utf-16-le"), "text/csv"),
        ("letter.doc", b"<?xml version='1.0'?><w:wordDocument/>", "text/xml"),
        ("letter.doc", b"MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\n", "message/rfc822"),
        ("letter.doc", b"{\\rtf1 words}", "application/rtf"),
        ("letter.docx", b"plain words\n", "text/plain"),
        ("letter.docx", b"\x00\x01\x02\x03", DOCUMENT_TYPES["docx"]),
        ("letter.docx", b"", DOCUMENT_TYPES["docx"]),
    ],
)
def test_a_text_under_the_name_of_an_office_file_is_read_as_what_it_is(name, data, kind):
    assert media_type(name, data) == kind
