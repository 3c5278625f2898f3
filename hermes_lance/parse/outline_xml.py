"""Outlines of XML by its tags alone: no declaration is read, no entity resolved, nothing outside is opened."""

from __future__ import annotations

import re

from hermes_lance.parse.outline import Frame, Frames, Outline, shortened

_TAG = re.compile(
    r"<(?:(!--|!\[CDATA\[|\?|!)|(/?)([^\W\d][^\s<>/=\"']{0,100}|:)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>)"
)
_ENDS = {"!--": "-->", "![CDATA[": "]]>", "?": "?>"}
_ATTRIBUTE = re.compile(r"\s(?:name|id|key|xml:id)\s{0,9}=\s{0,9}[\"']([^\"'<>]{1,60})[\"']")
_TITLES = frozenset({"title", "name", "head", "label"})


def xml_outline(text: str) -> Outline:
    """Elements as labels: their title, else their name with the value of `name` or `id`.

    An element with words of its own between its children is left whole.
    """
    outline = Outline()
    frames = Frames(outline)
    stack = frames.stack
    mixed = place = 0
    while (found := _TAG.search(text, place)) is not None:
        special, closing, tag, attributes = found.groups()
        start = found.start()
        between = text[place:start]
        place = found.end()
        words = bool(between) and not between.isspace()
        if words and stack and not stack[-1].mixed and (mixed or frames.untouched):
            stack[-1].mixed = True
            mixed += 1
        if special:
            place = _after_special(text, special, place)
            if place < 0:
                outline.problem = f"<{special} is not closed"
                break
        elif closing:
            mixed -= _closed(frames, tag, between)
        else:
            if not mixed:
                frames.border(start)
            if not attributes.endswith("/"):
                frames.push(Frame(start, _label(tag, attributes) if not mixed else None, tag))
    if stack and outline.problem is None:
        outline.problem = f"<{stack[-1].name[:40]}> is not closed"
    return outline.close()


def _after_special(text: str, special: str, place: int) -> int:
    """Behind a comment, CDATA, instruction or declaration; -1 where it does not end."""
    if special != "!":
        end = text.find(_ENDS[special], place)
        return -1 if end < 0 else end + len(_ENDS[special])
    # A document type may hold declarations of its own in brackets.
    end = text.find(">", place)
    bracket = text.find("[", place, end if end >= 0 else len(text))
    if bracket >= 0:
        inner = text.find("]", bracket)
        end = text.find(">", inner) if inner >= 0 else -1
    return -1 if end < 0 else end + 1


def _closed(frames: Frames, tag: str, words: str) -> int:
    """Ends the innermost element of that name; how many of the ended ones held words of their own."""
    stack = frames.stack
    if frames.beyond:
        frames.pop()
        return 0
    depth = len(stack) - 1
    while depth >= 0 and stack[depth].name != tag:
        depth -= 1
    if depth < 0:
        frames.outline.problem = frames.outline.problem or f"</{tag[:40]}> closes nothing"
        return 0
    ended = 0
    while len(stack) > depth:
        ended += frames.pop().mixed
    if stack and not stack[-1].count and tag.rpartition(":")[2] in _TITLES and words.strip():
        parent = stack[-1]
        parent.count = 1
        frames.rename(parent, shortened(words))
    return ended


def _label(tag: str, attributes: str) -> str:
    named = _ATTRIBUTE.search(attributes[:2_000]) if attributes else None
    return shortened(f"{tag} {named[1]}" if named else tag)
