"""What the scale bench asks, written down before anything was measured.

Throughput: prompts that nobody else has, by as many callers as one engine's batch takes, so that two have half a
batch each; a request takes an engine more than a tenth of a second, or gateways would be compared.

Choice of replicas: it matters where what is asked again takes more pages than one replica has, and no more than all
have. Documents take 80 % of the pages of both replicas, the use at which an operator is warned first: more asks for
further replicas, and much less would not need two. Each question is about any of them, as likely as any other, and has
a short answer, as questions about documents do. An arm asks as many questions before it is measured as while it is: the
first question about a document finds it nowhere, which belongs to a server's first minutes and to no choice.
"""

from dataclasses import dataclass
from random import Random

from unmask.backend import Request
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Message, Role, StepBudget

POOL_TOKENS = 12_288
"""Of a replica's pages: for a whole batch of long requests, or 32 of the 51 documents."""
CALLERS, DOCUMENT_CALLERS = 16, 4
"""At once: a batch of one replica; of documents so few that what runs holds few of the pages."""
LONG_TOKENS, LONG_STEPS = 512, 32
DOCUMENT_TOKENS, QUESTION_TOKENS, ANSWER_STEPS = 384, 16, 1
CANVAS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSizes:
    """How much is asked.

    Attributes:
        requests: of a round, in each arm of throughput.
        documents: of a round, in each arm of choices.
        questions: about a document while an arm is measured, on average, and before that.
    """

    rounds: int
    requests: int
    documents: int
    questions: int


FULL = ScaleSizes(rounds=24, requests=64, documents=51, questions=4)
QUICK = ScaleSizes(rounds=2, requests=8, documents=4, questions=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Makes the requests of one arm of one round; no two have a tenant, and so a page, in common."""

    model: str
    tokenizer: TextTokenizer
    tenant: str

    def long(self, count: int, rng: Random) -> list[Request]:
        """Return requests that have no beginning in common."""
        return [self._request(self._text(LONG_TOKENS, rng), LONG_STEPS) for _ in range(count)]

    def questions(self, sizes: ScaleSizes, rng: Random) -> tuple[list[Request], list[Request]]:
        """Return questions about documents that their prompts begin with: those before an arm is measured, and then."""
        documents = [self._text(DOCUMENT_TOKENS, rng) for _ in range(sizes.documents)]
        count = sizes.documents * sizes.questions
        asked = [
            self._request(f"{document} {self._text(QUESTION_TOKENS, rng)}", ANSWER_STEPS)
            for document in rng.choices(documents, k=2 * count)
        ]
        return asked[:count], asked[count:]

    def _request(self, text: str, steps: int) -> Request:
        return Request(
            model=self.model,
            messages=_said(text),
            max_tokens=CANVAS,
            canvas_length=CANVAS,
            budget=StepBudget(max_steps=steps, max_total_steps=steps),
            tenant=self.tenant,
        )

    def _text(self, tokens: int, rng: Random) -> str:
        """Return random sums of about so many tokens."""
        text = "add"
        while len(self.tokenizer.encode_chat(_said(text))) < tokens:
            text += "".join(f" {rng.randrange(1000)} +" for _ in range(max(1, tokens // 128)))
        return text


def _said(text: str) -> tuple[Message, ...]:
    return (Message(role=Role.USER, content=text),)
