"""The two ways in which a gate run gets its facts: typed retrieval, and the baseline of naive triples."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from unmask.gate.response import TurnResponse
from unmask.gate.scenario import Scenario
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.knowledge.conversation import Conversation
from unmask.knowledge.embedding import Embedder, default_embedder
from unmask.knowledge.naive import FACTS, SPREAD, naive_triples
from unmask.knowledge.packing import Packer
from unmask.knowledge.retriever import Ask, Retrieval, Retriever
from unmask.knowledge.token_count import embedded_tokens, estimated_tokens
from unmask.knowledge.world import Misconception, Statement, World


class TypedRetrieval:
    """Facts of a typed world by what a question asks for; built once for each world.

    Args:
        form: how facts are written.
        settings: how they are chosen.
        embedder: what compares texts, in every language; without it what needs no server.
    """

    def __init__(self, form: Form, settings: Retrieval | None = None, embedder: Embedder | None = None) -> None:
        self._form = form
        self._settings = settings or Retrieval()
        self._retrievers: dict[str, Retriever] = {}
        self._given = embedder
        self._embedders: dict[str, Embedder] = {}

    @property
    def name(self) -> str:
        """Say how it chooses and packs; English is compared otherwise where an extra is not installed."""
        chosen = self._settings
        budget = "none" if chosen.budget is None else chosen.budget
        vectors = (self._given or self._embedder("en")).name
        return (
            f"typed {self._form} budget={budget} most_similar={chosen.most_similar} pinned={_pinned(chosen)} carried "
            f"vectors={vectors}"
        )

    @property
    def sees_needed(self) -> bool:
        """It may not."""
        return False

    def context(self, world: World, scenario: Scenario, turn: int, earlier: Sequence[TurnResponse]) -> Context:
        """Return the facts for a turn, and those of earlier turns as long as they fit into the budget.

        So it was where the embedded models were trained: what an earlier answer rests on is still on the card.
        """
        before = tuple(response.context for response in earlier)
        kept = self._kept(before)
        context = self._retriever(world).retrieve(
            Ask(
                question=scenario.turns[turn].question,
                speaker=scenario.speaker,
                language=scenario.language,
                form=self._form,
                conversation=Conversation(turns=before, forgotten=len(before) - len(kept)),
            )
        )
        return together(world, kept, context)

    def _kept(self, before: Sequence[Context]) -> Sequence[Context]:
        """Return the last turns whose own facts fit into the budget together."""
        budget, total = self._settings.budget, 0
        for number in range(len(before) - 1, -1, -1):
            total += sum(fact.tokens for fact in _own(before[number]))
            if budget is not None and total > budget:
                return before[number + 1 :]
        return before

    def _retriever(self, world: World) -> Retriever:
        if world.digest not in self._retrievers:
            (language, *others) = world.languages
            # Word vectors are megabytes: worlds of one language share them.
            embedder = self._given or (None if others else self._embedder(language))
            self._retrievers[world.digest] = Retriever(world, settings=self._settings, embedder=embedder)
        return self._retrievers[world.digest]

    def _embedder(self, language: str) -> Embedder:
        if language not in self._embedders:
            self._embedders[language] = default_embedder(language).embedder
        return self._embedders[language]


def _pinned(settings: Retrieval) -> str:
    if settings.pin_linked:
        return "linked" if settings.pin_speaker else "linked only"
    return "speaker" if settings.pin_speaker else "none"


def together(world: World, earlier: Sequence[Context], context: Context) -> Context:
    """Return a turn's context with the facts that earlier turns brought written before its own; they are carried."""
    own = _own(context)
    carried: dict[str, Injected] = {}
    for fact in (fact for before in earlier for fact in _own(before)):
        carried.setdefault(fact.id, replace(fact, reason=Reason.CARRIED))
    facts = (*carried.values(), *(fact for fact in own if fact.id not in carried))
    count = estimated_tokens if context.form is Form.PROSE else embedded_tokens
    known: dict[str, Statement | Misconception] = {**world.statements, **world.misconceptions}
    text = Packer(world, context.language, context.form, count).text(known[fact.id] for fact in facts)
    return replace(context, facts=facts, text=text, tokens=count(text))


def _own(context: Context) -> list[Injected]:
    return [fact for fact in context.facts if fact.reason is not Reason.CARRIED]


class NaiveRetrieval:
    """As many triples as it takes to be sure that the needed ones are among them, which it is told.

    The draw depends on scenario and turn alone, so that every system and seed has the same prompt.
    """

    @property
    def name(self) -> str:
        """Say how it chooses and packs."""
        return f"naive triples {FACTS}±{SPREAD}"

    @property
    def sees_needed(self) -> bool:
        """It has to: it loses by what surrounds the needed facts, not by lacking them."""
        return True

    def context(
        self,
        world: World,
        scenario: Scenario,
        turn: int,
        earlier: Sequence[TurnResponse],  # noqa: ARG002 - as every retriever
    ) -> Context:
        """Return the facts for a turn."""
        needed = scenario.turns[turn].needed
        rng = Random(f"naive {scenario.id} {turn}")
        return naive_triples(world, scenario.speaker, needed, scenario.language, rng)
