"""How a service is reached, the same for all hosted tiers: its SDK, its address, its key, and numbers within bounds."""

from __future__ import annotations

import importlib.util
import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hermes_lance.core.errors import ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.core.redact import redact
from hermes_lance.core.service_keys import NO_KEY, key_from_environment


@dataclass(frozen=True, slots=True)
class Access:
    """Checks the options of one tier; the fields are what its messages name."""

    kind: str
    """`embedder` or `reranker`."""
    name: str
    package: str
    home: str
    """Where the service is."""
    variables: tuple[str, ...]
    """Of the environment, that may hold the key; the first one that is set counts."""

    @property
    def plugin(self) -> str:
        """As messages call it."""
        return f"{self.kind} {self.name}"

    @property
    def where(self) -> str:
        """The configuration key of its options."""
        return f"knowledgebase.{self.kind}s.{self.name}"

    def need_sdk(self) -> None:
        """`PluginMissing`, with the line that installs it, where the SDK is not there."""
        if not _installed(self.package):
            raise PluginMissing(
                f"{self.plugin}: the package {self.package.replace('.', '-')} is not installed",
                hint=f'Install it with `pip install "hermes-lance[{self.name}]"`.',
            )

    def number(self, option: str, value: Any, least: float, most: float) -> float:
        """The value, or `ConfigError`."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ConfigError(f"{self.where}.{option} is {value!r}; a number from {least:g} to {most:g}")
        return value

    def address(self, base_url: str | None) -> tuple[str, str | None]:
        """The base URL in use, and the host that text goes to; none where that is this machine."""
        url = urlsplit(str(base_url or self.home))
        if url.scheme not in {"http", "https"} or not url.hostname:
            raise ConfigError(f"{self.where}.base_url is {redact(str(base_url))!r}; an address like {self.home}")
        if url.username or url.password or url.query:
            raise ConfigError(
                f"{self.where}.base_url holds more than an address",
                hint="Leave out user, password and everything after `?`; the key belongs into the environment.",
            )
        return url.geturl(), None if _this_machine(url.hostname) else url.hostname

    def key(self, sends_to: str | None) -> tuple[str, str]:
        """The variable and the key in it. A server on this machine may need none."""
        try:
            return key_from_environment(self.plugin, self.variables)
        except ModelUnavailable:
            if sends_to is not None:
                raise
            return self.variables[0], NO_KEY


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False  # the package above it is missing


def _this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
