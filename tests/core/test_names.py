"""Names of files as people see and type them."""

from __future__ import annotations

import pytest

from hermes_lance.core import names
from hermes_lance.hosts.output import shown


@pytest.mark.parametrize("name", ["new\nline.txt", "tab\tand\x1b[1m.md", "turn\u202eed.md", "c1\x9b.md"])
def test_a_name_is_found_again_as_a_console_shows_it(name):
    assert names.unescaped(shown(name)) == name


def test_what_is_no_escape_of_a_console_stays_as_it_is():
    assert names.unescaped(r"C:\path\x41\xff\q.txt") == r"C:\path\x41\xff\q.txt"
