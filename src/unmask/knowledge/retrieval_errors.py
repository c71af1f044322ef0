"""What goes wrong between a question and the facts for it."""

from unmask.errors import InvalidRequestError, UnmaskError


class BudgetTooSmallError(InvalidRequestError):
    """Facts that are never left out take more tokens than a prompt may carry."""

    def __init__(self, pinned_tokens: int, facts: int, budget: int) -> None:
        super().__init__(
            "budget",
            budget,
            f"at least {pinned_tokens} tokens, which {facts} pinned facts take",
            "Raise the budget, mark fewer slots as identity, or pin those of the speaker alone.",
        )
        self.args = (pinned_tokens, facts, budget)
        self.pinned_tokens = pinned_tokens
        self.budget = budget


class EmbedderError(UnmaskError):
    """An embedder did not return vectors: no connection, an error status, or an answer of another form."""


class MissingExtraError(UnmaskError):
    """A package of an extra is needed and not installed."""

    def __init__(self, package: str, extra: str, instead: str) -> None:
        super().__init__(f"{package} is not installed; install unmask[{extra}]; {instead}")
        self.args = (package, extra, instead)
