"""Where definitions start in source code, by grammar.

The walk goes over the children of the file and of class-like bodies only, never into statements, so that it costs
next to nothing beside the parse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hermes_lance.parse.grammars import Grammar

_MAX_DEPTH = 8
_NAME_CHARS = 100


class Mark(NamedTuple):
    """The start of a member: a definition (`name`, `defines`) or the first of some statements between them."""

    start: int
    name: str | None
    trail: tuple[str, ...]
    """Enclosing scopes, outermost first."""
    defines: bool
    scope: tuple[str, ...]
    """The trail under which it may be joined with neighbours: a class head goes with its members."""


def by_grammar(data: bytes, grammar: Grammar, small_bytes: int) -> list[Mark] | None:
    """Marks in byte offsets, rising, each at the start of a line; None when the parser found no way through.

    A class-like definition of at most `small_bytes` is not opened.
    """
    root = _parsed(data, grammar)
    if root is None:
        return None
    walk = _Walk(data, grammar, small_bytes)
    walk.members(root.children, (), 0, 0)
    return walk.marks


def _parsed(data: bytes, grammar: Grammar) -> Any:
    import tree_sitter

    # Recovering from garbage is 25 times slower than parsing code. The bound counts steps, not seconds, so that the
    # same file is cut the same way on every machine; sound code reports about once in 200 bytes.
    steps = 2_000 + len(data) // 20

    def read(offset: int, _point: Any) -> bytes:
        return data[offset : offset + 65_536]

    def stop(_offset: int, _error: bool) -> bool:
        nonlocal steps
        steps -= 1
        return steps < 0

    try:
        return tree_sitter.Parser(grammar.language).parse(read, progress_callback=stop).root_node
    except ValueError:
        return None


class _Walk:
    """Collects marks from a syntax tree."""

    def __init__(self, data: bytes, grammar: Grammar, small_bytes: int) -> None:
        self.data = data
        self.grammar = grammar
        self.small_bytes = small_bytes
        self.marks: list[Mark] = []
        self._last_start = -1

    def members(self, children: list[Any], trail: tuple[str, ...], head: int, depth: int) -> None:
        """Marks of the members of a body, with the comments directly above them; `head` is where its owner starts."""
        data, grammar = self.data, self.grammar
        attached, definitions = grammar.attached, grammar.definitions
        if any(child.kind_id in grammar.transparent for child in children):
            children = self._spread(children)
        above: tuple[int, int] | None = None
        previous_end = head + 1
        for child in children:
            kind = child.kind_id
            start, end = child.start_byte, child.end_byte
            if not child.is_named or end == start:
                continue
            if self.marks and data.find(b"\n", max(0, previous_end - 1), start) < 0:
                # On the line where the one before ends: a note on it, or a further statement of that line.
                previous_end = max(previous_end, end)
                continue
            previous_end = end
            if kind in attached:
                if above is not None and not self._touches(above[1], start):
                    self._mark(above[0], None, trail, False, trail)
                    above = None
                above = (start if above is None else above[0], end)
                continue
            if above is not None:
                if self._touches(above[1], start):
                    start = above[0]
                else:
                    self._mark(above[0], None, trail, False, trail)
                above = None
            inner = self._unwrapped(child)
            if inner.kind_id in definitions or inner.kind_id in grammar.containers:
                self._definition(inner, start, end, trail, depth)
            else:
                self._mark(start, None, trail, False, trail)
        if above is not None:
            self._mark(above[0], None, trail, False, trail)

    def _spread(self, children: list[Any]) -> list[Any]:
        spread: list[Any] = []
        for child in children:
            spread.extend(child.children if child.kind_id in self.grammar.transparent else (child,))
        return spread

    def _definition(self, node: Any, start: int, end: int, trail: tuple[str, ...], depth: int) -> None:
        name = self._named(node) if self.grammar.naming else None
        name = name or _name(node, self.data)
        opens = node.kind_id in self.grammar.containers and end - start > self.small_bytes and depth < _MAX_DEPTH
        body = self._body(node) if opens else None
        inside = (*trail, name) if name else trail
        self._mark(start, name, trail, name is not None, inside if body is not None else trail)
        if body is not None:
            self.members(self._inside(node, body), inside, start, depth + 1)

    def _named(self, node: Any) -> str | None:
        """The name as the grammar's naming children give it, those before the body only."""
        parts = []
        for child in node.named_children:
            if child.kind_id in self.grammar.naming:
                part = self.data[child.start_byte : min(child.end_byte, child.start_byte + _NAME_CHARS)]
                parts.append(part.decode("utf-8", "replace").strip(" \t\"'"))
            elif parts:
                break
        return ".".join(part for part in parts if part)[:_NAME_CHARS] or None

    def _inside(self, node: Any, body: Any) -> list[Any]:
        """Children of a body; some grammars leave the comments at its head to the definition around it."""
        children: list[Any] = body.children
        if body == node:
            return children
        begin = body.start_byte
        head = [child for child in node.children if child.kind_id in self.grammar.attached and child.end_byte <= begin]
        return head + children

    def _mark(
        self, start: int, name: str | None, trail: tuple[str, ...], defines: bool, scope: tuple[str, ...]
    ) -> None:
        line = self.data.rfind(b"\n", 0, start) + 1
        if self.data[line:start].strip():
            line = start
        if line > self._last_start:
            self.marks.append(Mark(line, name, trail, defines, scope))
            self._last_start = line

    def _touches(self, end: int, start: int) -> bool:
        """Whether no empty line stands between; some grammars count the line end to the comment."""
        if self.data[end - 1 : end] == b"\n":
            end -= 1
        return self.data.count(b"\n", end, start) <= 1

    def _unwrapped(self, node: Any) -> Any:
        grammar = self.grammar
        for _ in range(3):
            if node.kind_id not in grammar.wrappers:
                break
            for child in node.named_children:
                kind = child.kind_id
                if kind in grammar.definitions or kind in grammar.containers or kind in grammar.wrappers:
                    node = child
                    break
            else:
                break
        return node

    def _body(self, node: Any) -> Any:
        body = node.child_by_field_name("body")
        if body is not None:
            return body
        if self.grammar.bodies:
            return next((child for child in node.named_children if child.kind_id in self.grammar.bodies), None)
        return node


def _name(node: Any, data: bytes) -> str | None:
    """The name of a definition: its field `name`, the end of its declarators, the type of an `impl`, a left side."""
    found = node.child_by_field_name("name")
    if found is None:
        found = node.child_by_field_name("declarator")
        while found is not None and (deeper := found.child_by_field_name("declarator")) is not None:
            found = deeper
        if found is not None:
            found = found.child_by_field_name("name") or found
    if found is None:
        found = node.child_by_field_name("type")
    if found is None and node.named_child_count:
        first = node.named_child(0)
        found = first.child_by_field_name("name") or first.child_by_field_name("left")
    if found is None:
        return None
    # Not `found.text`: that would ask the reader again for a whole block of the file.
    raw = data[found.start_byte : min(found.end_byte, found.start_byte + 4 * _NAME_CHARS)]
    name = raw.decode("utf-8", "replace").partition("\n")[0].partition("(")[0].partition("=")[0]
    if "operator" not in name:
        name = name.partition("<")[0]
    name = name.strip(" \t\"'`*&;{")
    return name[:_NAME_CHARS] or None
