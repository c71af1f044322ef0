"""Speculative decoding with two models: one drafts on its canvas, the other verifies; one request at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.plan import Plan, PlanRunner, Row, SpeculativeResult, SpeculativeTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """An answer, its rounds of a draft and its verification, and how many tokens were drafted and accepted."""

    tokens: tuple[int, ...]
    rounds: int
    drafted: int
    accepted: int


class TwoModelDecoder:
    """Decodes greedily what the verifier says, with drafts of another model that knows the same tokens.

    Args:
        drafter: drafts; its pages are its own.
        verifier: whose answer it is.
        pages: that each of them has, all of them for the one request.
        length: of the drafting canvas.
        mask: id of an open position.
        end: id after which nothing is output.
    """

    def __init__(
        self, drafter: PlanRunner, verifier: PlanRunner, *, pages: int, length: int, mask: int, end: int
    ) -> None:
        self._drafter = drafter
        self._verifier = verifier
        self._pages = tuple(range(pages))
        self._canvas = (mask,) * length
        self._end = end

    def decode(self, prompt: Sequence[int], max_tokens: int) -> Decoded:
        """Return up to ``max_tokens`` tokens, the end token the last of them where it comes."""
        tokens = list(prompt)
        seen, committed, rounds, drafted, accepted = 0, 0, 0, 0, 0
        while True:
            room = max_tokens - (len(tokens) - len(prompt))
            guessed = self._run(self._drafter, seen, tokens[seen:], (), self._canvas[:room])
            seen = len(tokens)
            draft = (*guessed.tokens, *guessed.draft)[: room - 1]
            found = self._run(self._verifier, committed, [*tokens[committed:], *draft], draft, ())
            rounds, drafted, accepted = rounds + 1, drafted + len(draft), accepted + found.accepted
            tokens += found.tokens
            committed = len(tokens) - 1
            output = tuple(tokens[len(prompt) :])
            if self._end in output:
                output = output[: output.index(self._end) + 1]
            if output[-1] == self._end or len(output) == max_tokens:
                return Decoded(tokens=output, rounds=rounds, drafted=drafted, accepted=accepted)

    def _run(
        self, engine: PlanRunner, start: int, append: Sequence[int], draft: tuple[int, ...], canvas: tuple[int, ...]
    ) -> SpeculativeResult:
        task = SpeculativeTask(draft=draft, tokens=canvas, index=start)
        row = Row(sequence=0, start=start, append=tuple(append), pages=self._pages, task=task)
        (result,) = engine.run(Plan(rows=(row,)))
        assert isinstance(result, SpeculativeResult), f"a draft is verified, or the engine is broken: {result}"
        return result
