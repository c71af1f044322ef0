"""Answers to scenarios as they came, and what they are bound to. Nothing here is a judgement."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.knowledge.context import Context
from unmask.types import Message, Mode


class SystemLabel(StrEnum):
    """Which of the systems of a run: the one judged, or the one it is judged against."""

    MODEL = "model"
    AGAINST = "against"


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What answers.

    Attributes:
        digest: of the weights, or of what a remote server says of itself.
        url: of a remote server; ``None`` for an embedded model.
        policy: digest of the budget policy that it runs under, if any.
        settings: everything else that a request is made with, as sorted ``name=value``.
    """

    label: SystemLabel
    model: str
    digest: str
    mode: Mode
    url: str | None
    policy: str | None
    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a run is of; two runs with the same binding answer the same questions in the same way.

    Attributes:
        suite: digest of the suite; ``family`` is its name across versions.
        worlds: digests of its worlds by id, sorted.
        retrieval: how prompts got their facts, in words that tell any two ways apart.
        revision: of the code, from git; empty outside of a repository.
    """

    run: str
    suite: str
    family: str
    worlds: tuple[tuple[str, str], ...]
    retrieval: str
    revision: str
    seeds: tuple[int, ...]
    systems: tuple[System, ...]
    started: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ResponseKey:
    """Names one answer of a run."""

    scenario: str
    seed: int
    system: SystemLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResponse:
    """The answer to one turn.

    Attributes:
        messages: the whole prompt.
        seconds: from sending to the last byte, by the clock of whoever asked.
        steps: denoise steps, or decode steps of an autoregressive model; ``None`` where a server does not say.
    """

    messages: tuple[Message, ...]
    context: Context
    text: str
    finish_reason: str
    prompt_tokens: int
    output_tokens: int
    steps: int | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The answers to a scenario's turns, or why there are none.

    Attributes:
        fault: of the infrastructure, after all retries. Such a response is no failure of the model: it is unscored.
        attempts: calls that it took in all.
    """

    key: ResponseKey
    turns: tuple[TurnResponse, ...]
    fault: str | None = None
    attempts: int = 1
