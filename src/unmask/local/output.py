"""What a request has put out, piece by piece."""

from collections import deque

from unmask.backend import Alternative, CommitEvent, TokenLogprob
from unmask.core.front import Kind, Notice
from unmask.local.settled import settled
from unmask.sequence import OutputToken
from unmask.text.chat import ChatTokenizer
from unmask.types import ScoredToken


class Output:
    """Text that no later token can change, with the log-probabilities of the tokens it is made of.

    A token goes out with the first of its text. One whose text a stop sequence
    cuts in two is whole in the log-probabilities, one that lies inside the stop
    sequence is not there.
    """

    def __init__(self, stop: tuple[str, ...], tokenizer: ChatTokenizer) -> None:
        self.text = ""
        self.logprobs: list[TokenLogprob] = []
        self._stop = stop
        self._tokenizer = tokenizer
        self._waiting: deque[OutputToken] = deque()

    def take(self, notice: Notice) -> CommitEvent | None:
        """Return what a notice adds to the output, if anything."""
        self._waiting += notice.logprobs
        text = notice.text if notice.kind is Kind.ENDED else settled(notice.text, self._stop)
        added = text[len(self.text) :]
        if not added:
            return None
        self.text = text
        logprobs: list[TokenLogprob] = []
        while self._waiting and self._waiting[0].start < len(text):
            logprobs.append(self._logprob(self._waiting.popleft()))
        self.logprobs += logprobs
        return CommitEvent(text=added, logprobs=tuple(logprobs))

    def _logprob(self, token: OutputToken) -> TokenLogprob:
        fixed = token.fixed
        return TokenLogprob(chosen=self._alternative(fixed.chosen), top=tuple(map(self._alternative, fixed.top)))

    def _alternative(self, token: ScoredToken) -> Alternative:
        return Alternative(data=self._tokenizer.token_bytes(token.token), logprob=token.logprob)
