"""What is kept of an answer, and what it is found by."""

from dataclasses import dataclass

from unmask.backend import Generation
from unmask.cache.guard import Tokens
from unmask.knowledge.embedding import Vectors
from unmask.types import Verification

_ENTRY_BYTES = 1_024
_TOKEN_BYTES = 96
_LOGPROB_BYTES = 512
_CHARACTER_BYTES = 4
"""What Python takes for each, at most and roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Within which answers are shared: one tenant's, and alike in all but the question.

    Attributes:
        tenant: whose answers these are; nothing is shared across tenants.
        digest: of the model and its weights, the policy, everything said before the question, the form and what else
            the answer is verified against, and of sampling and steps as they were asked for.
    """

    tenant: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request as the cache sees it: its last message, and all else that has to be the same."""

    scope: Scope
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A text as it is compared with others.

    Attributes:
        embedder: name of what made the vector; vectors of two embedders are never compared.
        vector: a unit vector, [dimensions].
        tokens: what the guard reads.
    """

    embedder: str
    vector: Vectors
    tokens: Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An answer that may be given again.

    Attributes:
        id: names it to operators and clients.
        verification: what its verifiers said.
        stored: seconds on the cache's clock.
        meaning: ``None`` where only the very same words find it.
        model: whose answer it is, which a route alone does not say.
    """

    id: str
    question: Question
    generation: Generation
    verification: Verification
    stored: float
    meaning: Meaning | None = None
    model: str = ""

    @property
    def size(self) -> int:
        """Bytes that it takes, by a rough count that errs upwards."""
        characters = len(self.question.text) * (1 if self.meaning is None else 2) + len(self.generation.text)
        tokens = 0 if self.meaning is None else len(self.meaning.tokens)
        vector = 0 if self.meaning is None else int(self.meaning.vector.nbytes)
        alternatives = sum(1 + len(token.top) for token in self.generation.logprobs)
        return (
            _ENTRY_BYTES
            + _CHARACTER_BYTES * characters
            + _TOKEN_BYTES * (tokens + len(self.generation.tokens))
            + _LOGPROB_BYTES * alternatives
            + vector
        )
