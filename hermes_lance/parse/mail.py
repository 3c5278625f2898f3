"""Parser: mail (.eml) and mailboxes (.mbox). Headers decoded, plain text before HTML, attachments named or read."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import Message

from hermes_lance.core.records import Document, Section
from hermes_lance.core.text import decode
from hermes_lance.parse import mime
from hermes_lance.parse.media import Unreadable, suffix_of
from hermes_lance.parse.suffixes import TEXT_TYPES
from hermes_lance.parse.web import HtmlParser

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST_MESSAGE = 5
_MOST_MESSAGES = 50_000
_ATTACHMENT_CHARS = 200_000
_MOST_CHARS = 20_000_000
_STUB_CHARS = 200


class MailParser:
    """What a reader of the mail sees: who, when, about what, the words, and what was attached."""

    name = "mail"
    media_types: Sequence[str] = ("message/rfc822", "application/mbox")

    def signature(self) -> str:
        """Name and version."""
        return "mail/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """One section for each message, its subject as trail, and one for each attached text.

        Locators: `message <number from 1>` in a mailbox, `attachment <name>` in a mail. Facts: from, to, date and
        subject of a mail, the number of messages of a mailbox. Raises `Unreadable` (`empty`, `binary`).
        """
        if not data.strip():
            raise Unreadable("empty", "the file has no bytes" if not data else "the file holds only blanks")
        if decode(data[:65_536]) is None:
            raise Unreadable("binary", "the content is not a mail")
        if b"\n" not in data:
            data = data.replace(b"\r", b"\n")
        page = _Page()
        box = mime.messages(data) if media_type == "application/mbox" else [data]
        facts: dict[str, str] = {}
        for number, raw in enumerate(box, 1):
            fields, body = mime.split(raw)
            if media_type != "application/mbox":
                shown = {key.lower(): mime.field(fields, key) for key in _SHOWN if key != "Cc"}
                facts = {**{key: value for key, value in shown.items() if value}}
                if shown["subject"]:
                    facts["title"] = shown["subject"]
            _message(page, fields, body, f"message {number}" if media_type == "application/mbox" else None, 0)
            if number < len(box) and (page.length > _MOST_CHARS or number == _MOST_MESSAGES):
                facts["partial"] = f"only the first {number:,} of {len(box):,} messages are read"
                break
        if media_type == "application/mbox":
            facts["messages"] = str(len(box))
        text = "".join(page.parts)
        if not text.strip():
            raise Unreadable("empty", "the mail holds no text")
        return Document(
            text=text,
            media_type=media_type,
            parser=self.signature(),
            sections=tuple(page.sections),
            verbatim=False,
            facts=facts,
        )


class _Page:
    """Text and sections as they grow."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.sections: list[Section] = []
        self.length = 0

    def add(self, text: str, trail: tuple[str, ...], locator: str | None) -> None:
        text = text.strip("\n")
        if text.strip():
            text += "\n\n"
            self.parts.append(text)
            self.sections.append(Section(self.length, self.length + len(text), trail, "mail", locator))
            self.length += len(text)


def _message(page: _Page, fields: Message, body: bytes, locator: str | None, depth: int) -> None:
    head = [f"{key}: {value}" for key in _SHOWN if (value := mime.field(fields, key))]
    subject = mime.field(fields, "Subject")[:200]
    trail = (subject,) if subject else ()
    shown: list[str] = []
    attached: list[tuple[str, str]] = []
    nested: list[bytes] = []
    leaves = list(mime.parts(fields, body))
    plain, pages = _alternatives(leaves)
    for part in leaves:
        if part.kind == "message/rfc822" and depth < _DEEPEST_MESSAGE:
            shown.append(f"Attached message{': ' + part.name if part.name else ''}")
            nested.append(part.content())
        elif part.kind.startswith("text/") and not part.attached and not part.name:
            if part.alternative and part.kind == "text/html" and part.alternative in plain:
                continue
            if part.alternative and part.kind == "text/plain" and part.alternative in pages - plain:
                continue
            shown.append(_readable(part))
        elif text := _attached_text(part):
            attached.append((part.name, text))
        else:
            shown.append(f"Attachment: {part.name or 'without a name'} ({part.kind}, {_size(part)})")
    page.add("\n".join(head) + "\n\n" + "\n\n".join(text.strip("\n") for text in shown if text.strip()), trail, locator)
    for name, text in attached:
        named = name or "without a name"
        page.add(f"Attachment: {named}\n\n{text}", (*trail, named), locator or f"attachment {named}")
    for raw in nested:
        _message(page, *mime.split(raw), locator, depth + 1)


def _alternatives(leaves: list[mime.Part]) -> tuple[set[int], set[int]]:
    """Groups whose plain text says it all, and groups that have a page."""
    plain = {part.alternative: part for part in leaves if part.alternative and part.kind == "text/plain"}
    pages = {part.alternative: part for part in leaves if part.alternative and part.kind == "text/html"}
    enough = set()
    for group, part in plain.items():
        words = part.text().strip()
        # "Your reader cannot show this mail": a line of plain text beside a long page.
        stub = len(words) < _STUB_CHARS and group in pages and len(_readable(pages[group]).strip()) > 4 * len(words)
        if words and not stub:
            enough.add(group)
    return enough, set(pages)


def _readable(part: mime.Part) -> str:
    """The words of a text part; those of a page as its reader sees them."""
    text = part.text()
    if part.kind != "text/html":
        return text
    try:
        return HtmlParser().parse(text.encode("utf-8", "replace"), path=part.name, media_type="text/html").text
    except Unreadable:
        return ""


def _attached_text(part: mime.Part) -> str:
    """The words of an attached text, shortened; nothing for what is not text."""
    by_name = TEXT_TYPES.get(suffix_of(part.name), "").startswith("text/")
    if not part.kind.startswith("text/") and not (by_name and not part.kind.startswith("image/")):
        return ""
    content = part.content()
    if not content.strip() or decode(content) is None:
        return ""
    return _readable(part)[:_ATTACHMENT_CHARS]


def _size(part: mime.Part) -> str:
    encoded = part.fields.get("content-transfer-encoding", "")
    size = len(part.raw) * 3 // 4 if str(encoded).strip().lower() == "base64" else len(part.raw)
    return f"{size / 1024:.0f} KiB" if size >= 1024 else f"{size} bytes"
