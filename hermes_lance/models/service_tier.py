"""What a tier behind an official SDK is made of, whether it embeds or reranks: options, key, one client, its failures.

Construction opens no connection. Text leaves this machine where a tier sends it, to the host that `sends_to` names.
"""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic, TypeVar
from urllib.parse import urlsplit

from hermes_lance.core.errors import PluginFailed
from hermes_lance.models.service_access import Access
from hermes_lance.models.service_call import Advice, Failure, Service, told_wait
from hermes_lance.models.service_errors import ServiceErrors, headers_of

Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)


class ServiceTier(ABC):
    """A model behind an official SDK. Construction needs the SDK (`PluginMissing`) and a key (`ModelUnavailable`); the
    SDK itself is loaded by the first request.

    A subclass names its service in the attributes below. After its own options it calls `_take_key`, so that what is
    wrong with an option is said before a key is asked for.
    """

    name: str = ""
    sends_to: str | None = None
    """The host that text goes to; none where `base_url` names a server on this machine."""

    kind: ClassVar[str] = ""
    """`embedder` or `reranker`."""
    package: ClassVar[str] = ""
    home: ClassVar[str] = ""
    """Where the service is."""
    variables: ClassVar[tuple[str, ...]] = ()
    default_model: ClassVar[str] = ""

    def __init__(self, model: str | None, base_url: str | None, retries: int) -> None:
        self._access = Access(self.kind, self.name, self.package, self.home, self.variables)
        self._access.need_sdk()
        self.model = self.default_model if model is None else str(model)
        self._base_url, self.sends_to = self._access.address(base_url)
        self._retries = int(self._access.number("retries", retries, 0, 20))
        self._making = threading.Lock()
        self._made: Any = None

    def _take_key(self, advice: Advice) -> None:
        variable, self._key = self._access.key(self.sends_to)
        host = urlsplit(self._base_url).netloc
        self._errors = ServiceErrors(self._access.where, self.model, host, variable, self._key, advice)
        self._service = Service(self._access.plugin, advice)

    @abstractmethod
    def _make_client(self) -> Any:
        """The client of the SDK, or its module; with `close`, where connections are kept."""

    def _client(self) -> Any:
        with self._making:
            if self._made is None:
                try:
                    self._made = client = self._make_client()
                except Exception as error:
                    raise PluginFailed(
                        f"{self._access.plugin}: its SDK cannot be used ({type(error).__name__})",
                        hint=f'Install it anew with `pip install --upgrade "hermes-lance[{self.name}]"`.',
                    ) from error
                if close := getattr(client, "close", None):
                    # Kept connections end with us, and not whenever the collector finds them.
                    weakref.finalize(self, close).atexit = False
            return self._made

    def _or_failure(self, request: Callable[[], Found], seconds: float) -> Found:
        """What `request()` returns; every error of the SDK as a `Failure`, without what the SDK says of the request."""
        try:
            return request()
        except Failure:
            raise
        except Exception as error:
            raise self._errors.failure(error, seconds, self._told_wait(error)) from None

    def _told_wait(self, error: Exception) -> float | None:
        """Seconds that an answer asks to wait, if it does."""
        return told_wait(headers_of(error).get("retry-after"))


class Remembered(Generic[Key, Found]):
    """The last answers, so that asking again sends nothing and waits for nobody. Threads may share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: dict[Key, Found] = {}
        self._lock = threading.Lock()

    def answer(self, key: Key, ask: Callable[[], Found]) -> Found:
        """The answer to `key`, from `ask()` where it is not remembered."""
        with self._lock:
            known = self._answers.pop(key, None)
            if known is not None:
                self._answers[key] = known
                return known
        found = ask()
        with self._lock:
            self._answers[key] = found
            while len(self._answers) > self._most:
                del self._answers[next(iter(self._answers))]
        return found
