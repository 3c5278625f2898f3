"""What an error of an SDK means to a person, and whether a further try may help. Neither key nor texts are in it.

SDKs bring HTTP libraries of different names, so classes are known by their names, and by the status of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hermes_lance.core.redact import redact
from hermes_lance.core.service_keys import NO_KEY
from hermes_lance.models.service_call import Advice, Failure, timed_out

SHOWN = 200
"""Characters of what a service says about an error."""
_TIMED_OUT = {"TimeoutException", "APITimeoutError", "TimeoutError", "Timeout"}
_UNREACHED = {"TransportError", "NetworkError", "APIConnectionError", "ConnectionError", "OSError"}
_STATUS = ("status_code", "http_status", "code")
_AWAY = {"ConnectError", "NewConnectionError", "ConnectionRefusedError", "gaierror"}


@dataclass(frozen=True, slots=True)
class ServiceErrors:
    """Reads the errors of one tier; the fields are what its messages name."""

    where: str
    """The configuration key of the tier's options."""
    model: str
    host: str
    variable: str
    key: str
    advice: Advice

    def __repr__(self) -> str:
        return f"ServiceErrors({self.where})"

    def failure(self, error: Exception, seconds: float, told_wait: float | None) -> Failure:
        """`told_wait`: seconds that the service asks to wait, if it does."""
        kinds = _kinds(error)
        status = next((found for name in _STATUS if isinstance(found := getattr(error, name, None), int)), None)
        if status is not None and status >= 400:
            return self._of_status(status, error, told_wait)
        # urllib3 calls a refused connection a time-out as well.
        if kinds & _TIMED_OUT and not kinds & _AWAY:
            return timed_out(seconds, self.advice)
        if kinds & _UNREACHED:
            return Failure(
                f"{self.host} cannot be reached ({self._cause(error)})",
                self.advice.offline,
                again=True,
                away=bool(kinds & _AWAY),
            )
        return Failure(
            f"the answer of {self.host} is not that of {self.advice.what} ({type(error).__name__})",
            f"Check {self.where}.base_url, and whether a proxy or a login page stands in between.",
        )

    def _of_status(self, status: int, error: Exception, told_wait: float | None) -> Failure:
        said = self._said(error)
        if status in {401, 403} or (status == 400 and "api key" in said.lower()):
            return Failure(
                f"the service refused the key in {self.variable} ({status})",
                f"Check that the key is valid for the model {self.model}, and export the right one as "
                f"{self.variable}. {self.advice.kept}",
            )
        if status == 404:
            return Failure(
                f"the service has no model {self.model} ({said})",
                f"Set {self.where}.model to one that it offers; models are retired now and then.",
            )
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            return Failure(
                f"the account behind {self.variable} has no quota left ({said})",
                f"Check plan and billing at the provider. {self.advice.kept}",
            )
        if status == 429:
            return Failure(
                f"the service asks for fewer requests (429: {said})",
                self.advice.slower,
                again=True,
                wait=told_wait,
                busy=True,
            )
        if status in {408, 409, 425} or status >= 500:
            what = f"the service has a fault of its own ({status}: {said})"
            return Failure(what, self.advice.later, again=True, wait=told_wait)
        return Failure(
            f"the service refused the request ({status}: {said})",
            f"Check the options under {self.where}.",
            refused_input=status in {400, 413, 422},
        )

    def _said(self, error: Exception) -> str:
        body = getattr(error, "body", None)
        if isinstance(body, Mapping):
            text = body.get("message")
        else:
            text = getattr(error, "message", None) or getattr(error, "user_message", None)
        return self._shown(str(text or "no reason given"))

    def _cause(self, error: BaseException) -> str:
        """The innermost reason: it names host or error number, where the outer one says that there was an error."""
        behind = error.__cause__ or error.__context__
        while behind is not None:
            error, behind = behind, behind.__cause__ or behind.__context__
        return self._shown(str(error)) or type(error).__name__

    def _shown(self, text: str) -> str:
        if self.key != NO_KEY:
            text = text.replace(self.key, "<redacted>")
        return " ".join(redact(text).split())[:SHOWN]


def headers_of(error: Exception) -> dict[str, str]:
    """The headers of the answer behind an error of an SDK, their names in lower case; empty where there are none."""
    found = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in found.items()}


def _kinds(error: BaseException) -> set[str]:
    """Names of the classes of an error and of those behind it."""
    found: set[str] = set()
    behind: BaseException | None = error
    while behind is not None:
        found |= {kind.__name__ for kind in type(behind).__mro__}
        behind = behind.__cause__ or behind.__context__
    return found
