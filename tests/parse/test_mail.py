"""Mail is read as its reader sees it, however it is packed."""

from __future__ import annotations

import base64
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.parse.mail import MailParser
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.paragraphs import ParagraphsChunker


def parsed(data: bytes | EmailMessage, media_type="message/rfc822"):
    raw = data.as_bytes() if isinstance(data, EmailMessage) else data
    return MailParser().parse(raw, path="a.eml", media_type=media_type)


def mail(subject="Plan", text="Words.\n", **headers) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ann <ann@example.org>", "Bo <bo@example.org>", subject
    for name, value in headers.items():
        made[name] = value
    if text is not None:
        made.set_content(text)
    return made


def test_headers_are_decoded_facts_and_words():
    document = parsed(mail("Grüße an 東京", Date="Wed, 21 Nov 2012 21:11:32 +0100"))
    assert document.facts["subject"] == document.facts["title"] == "Grüße an 東京"
    assert document.facts["from"] == "Ann <ann@example.org>"
    assert document.facts["date"].startswith("Wed, 21 Nov 2012")
    assert document.text.startswith("From: Ann <ann@example.org>\nTo: Bo <bo@example.org>\nDate: Wed")
    assert document.text.endswith("Subject: Grüße an 東京\n\nWords.\n\n")
    assert document.sections[0].trail == ("Grüße an 東京",)


def test_plain_text_is_preferred_to_the_page_beside_it():
    made = mail(text="The plain words of the letter.\n")
    made.add_alternative("<p>The page words</p>", subtype="html")
    text = parsed(made).text
    assert "plain words" in text and "page words" not in text


def test_a_page_alone_or_beside_a_stub_is_read_as_a_page():
    alone = mail(text=None)
    alone.set_content("<style>p{}</style><h1>Hello</h1><p>caf&eacute;</p>", subtype="html")
    assert parsed(alone).text.endswith("Hello\n\ncafé\n\n")
    stub = mail(text="Cannot be shown.\n")
    stub.add_alternative("<p>" + "The long page. " * 40 + "</p>", subtype="html")
    assert "The long page." in parsed(stub).text and "Cannot be shown" not in parsed(stub).text


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1251", "koi8-r", "iso-2022-jp", "gb2312"])
def test_any_transfer_encoding_and_charset_is_decoded(encoding, charset):
    words = {"iso-8859-1": "Größe für Köln", "utf-8": "Größe 東京", "iso-2022-jp": "東京の天気", "gb2312": "东京天气"}
    text = words.get(charset, "погода в Москве сегодня")
    body = text.encode(charset)
    if encoding == "base64":
        body = base64.encodebytes(body)
    elif encoding == "quoted-printable":
        body = b"".join(b"=%02X" % octet for octet in body)
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    assert text in parsed(head.encode() + body + b"\n").text


def test_attached_texts_are_read_and_other_attachments_named():
    made = mail()
    made.add_attachment("name,age\nAnn,41\n", subtype="csv", filename="people.csv")
    made.add_attachment(bytes(range(256)) * 20, maintype="application", subtype="pdf", filename="Bericht Mü.pdf")
    made.add_attachment(b"notes in a box\n", maintype="application", subtype="octet-stream", filename="notes.md")
    document = parsed(made)
    assert "Attachment: Bericht Mü.pdf (application/pdf, 5 KiB)" in document.text
    assert [(part.locator, part.trail) for part in document.sections] == [
        (None, ("Plan",)),
        ("attachment people.csv", ("Plan", "people.csv")),
        ("attachment notes.md", ("Plan", "notes.md")),
    ]
    assert "Ann,41" in document.text and "notes in a box" in document.text
    assert base64.b64encode(bytes(range(48))).decode()[:20] not in document.text


def test_a_forwarded_message_is_read_under_its_own_subject():
    made = mail()
    made.add_attachment(mail("Inner matter", "Deep words.\n"))
    document = parsed(made)
    assert [part.trail for part in document.sections] == [("Plan",), ("Inner matter",)]
    assert "Deep words." in document.text


def test_a_mailbox_has_a_section_for_each_message():
    box = b"".join(
        b"From ann@example.org Wed Nov 21 21:11:32 2012\n"
        + mail(f"No. {n}", f"Body {n}\n\nFrom here on it is text\n").as_bytes()
        + b"\n"
        for n in range(1, 4)
    )
    document = parsed(box.replace(b"\nFrom here", b"\n>From here"), "application/mbox")
    assert document.text.count("\n\nFrom here on it is text\n") == 3
    assert [(part.locator, part.trail) for part in document.sections] == [
        (f"message {n}", (f"No. {n}",)) for n in range(1, 4)
    ]
    assert document.facts == {"messages": "3"}
    pieces = ParagraphsChunker().pieces(document)
    assert [piece.locator for piece in pieces] == ["message 1", "message 2", "message 3"]


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nfound words\n",
        b"Subject: a\nContent-Type: multipart/mixed\n\nfound words\n",
        b"Subject: a\nContent-Type: multipart/mixed; boundary=\"never\"\n\nfound words\n",
        b"Subject: a\nContent-Transfer-Encoding: base64\n\nZm91bmQgd29yZHM",
        b"Subject: a\nContent-Type: text/plain; charset=no-such-set\n\nfound words\n",
        b"Subject: a\nContent-Type: text/plain; charset=punycode\n\nfound words\n",
        b"Subject: =?utf-8?b?broken=\n\nfound words\n",
        b"Subject: =?nonsense?q?a?=\r\n\r\nfound words\r\n",
        b"found words, and no header at all\n",
        b"\nfound words after an empty line\n",
        b"Subject: a\rContent-Type: text/plain\r\rfound words\r",
    ],
)  # fmt: skip
def test_broken_mails_are_read_as_far_as_they_go(data):
    assert "found words" in parsed(data).text


def nested(levels: int, text: bytes) -> bytes:
    head = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(levels))
    return b"Subject: deep\n" + head + b"\n" + text


@pytest.mark.parametrize(
    "data",
    [
        nested(400, b"found words\n" * 20_000),
        b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nfound\n" * 50_000,
        b"To: " + b"a@b.example, " * 100_000 + b"\n\nfound\n",
        b"Subject: " + b"=?utf-8?q?x?= " * 50_000 + b"\n\nfound\n",
        b"Content-Type: text/plain; " + b'a="b"; ' * 20_000 + b"\n\nfound\n",
        b"X: y\n" * 40_000 + b"\nfound\n",
        b"Content-Type: multipart/mixed; boundary=b\n\n--b" + b" " * 300_000 + b"\n\nfound\n",
    ],
    ids=["nested", "parts", "recipients", "words", "parameters", "headers", "blanks"],
)
def test_hostile_mails_are_read_in_bounded_work(data):
    assert "found" in parsed(data).text


FRAGMENTS = [
    b"Subject: a\n", b"Content-Type: multipart/mixed; boundary=b\n", b"Content-Type: message/rfc822\n", b"\n", b"--b\n",
    b"--b--\n", b"Content-Type: text/html\n", b"Content-Transfer-Encoding: base64\n", b"<p>x</p>\n", b"\xff\xfe", b"=",
    b"Content-Disposition: attachment; filename*=utf-8''%E4%FF\n", b"charset=", b"text", b"\r\n", b'"', b"=?u?b?/=?=",
    b"Content-Type: multipart/alternative; boundary=\"b\"\n", b"\x00", b" ", b";", b"begin 644 x\n", b"From a 1:1\n",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30), st.sampled_from(["message/rfc822", "application/mbox"]))
def test_any_bytes_are_a_mail_or_unreadable(fragments, media_type):
    try:
        document = parsed(b"".join(fragments), media_type)
    except Unreadable:
        return
    document.text.encode()
    assert "".join(document.text[part.start : part.end] for part in document.sections) == document.text


def test_a_mailbox_that_is_not_read_to_its_end_says_so(monkeypatch):
    box = b"".join(b"From a@b Thu Jan  1 00:00:00 2026\n" + mail(f"No {n}").as_bytes() + b"\n" for n in range(4))
    assert "partial" not in parsed(box, "application/mbox").facts
    monkeypatch.setattr("hermes_lance.parse.mail._MOST_CHARS", 10)
    document = parsed(box, "application/mbox")
    assert document.facts["partial"] == "only the first 1 of 4 messages are read" and "No 1" not in document.text
