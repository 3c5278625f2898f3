"""A service on loopback that speaks like Cohere and Voyage AI: the more words of the question, the better."""

from __future__ import annotations

from typing import Any

from tests.contracts.conftest import Service

VARIABLES = {"cohere": ("COHERE_API_KEY", "CO_API_KEY"), "voyage": ("VOYAGE_API_KEY",)}


class RerankService(Service):
    """A row of the answer is one score; `Reply.change` makes them wrong."""

    question = ""

    @property
    def url(self) -> str:
        """As the SDK wants it."""
        return f"http://127.0.0.1:{self._server.server_port}" + ("/v1" if self.name == "voyage" else "")

    def vector(self, text: str, width: int) -> list[float]:
        """The share of the words of the question."""
        wanted = set(self.question.lower().split())
        return [len(wanted & set(text.lower().replace(".", " ").split())) / (len(wanted) or 1)]

    def _read(self, body: Any) -> tuple[list[str], int]:
        self.question = body["query"]
        return list(body["documents"]), 1

    def _written(self, vectors: list[list[float]], packed: bool) -> Any:
        rows = [{"index": at, "relevance_score": score} for at, (score, *_) in enumerate(vectors)]
        for row, numbers in zip(rows, vectors, strict=True):
            row["index"] = numbers[1] if len(numbers) > 1 else row["index"]
        rows.sort(key=lambda row: -row["relevance_score"])
        if self.name == "voyage":
            return {"object": "list", "data": rows, "model": "any", "usage": {"total_tokens": 1}}
        return {"id": "1", "results": rows, "meta": {"api_version": {"version": "2"}}}


def refused(name: str, message: str) -> Any:
    """The body of an error, as the services write it."""
    return {"detail": message} if name == "voyage" else {"id": "1", "message": message}
