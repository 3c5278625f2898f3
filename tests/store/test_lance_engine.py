"""Loading Lance: what is put off comes when it is asked for, and the process is left as it was."""

from __future__ import annotations

import subprocess
import sys

PUT_OFF = "lance_namespace_urllib3_client.api"


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_client_of_remote_catalogues_is_not_loaded_with_lance():
    code = f"""
import gc, sys
from hermes_lance.store.lance_engine import lancedb
lancedb().connect
print(any(name.startswith({PUT_OFF!r}) for name in sys.modules), gc.isenabled())
"""
    assert said(code) == "False True"


def test_whoever_asks_for_the_client_gets_it_whole():
    code = """
import sys
from hermes_lance.store.lance_engine import lancedb
lancedb()
import lance_namespace_urllib3_client as client
print(client.TableApi.__module__, type(client).__name__, client.__version__ != "", client.Configuration.__name__)
"""
    assert said(code) == f"{PUT_OFF}.table_api module True Configuration"


def test_a_client_that_is_loaded_already_is_left_alone():
    code = """
import lance_namespace_urllib3_client as before
from hermes_lance.store.lance_engine import lancedb
lancedb()
import lance_namespace_urllib3_client as after
print(before is after, type(after).__name__)
"""
    assert said(code) == "True module"


def test_a_collector_that_was_off_stays_off():
    code = """
import gc
gc.disable()
from hermes_lance.store.lance_engine import lancedb
lancedb()
print(gc.isenabled())
"""
    assert said(code) == "False"
