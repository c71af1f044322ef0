"""The two ways in which a gate run gets its facts: typed retrieval, and the baseline of naive triples."""

from collections.abc import Sequence
from random import Random

from unmask.gate.response import TurnResponse
from unmask.gate.scenario import Scenario
from unmask.knowledge.context import Context, Form
from unmask.knowledge.conversation import Conversation
from unmask.knowledge.embedding import Embedder, default_embedder
from unmask.knowledge.naive import FACTS, SPREAD, naive_triples
from unmask.knowledge.retriever import Ask, Retrieval, Retriever
from unmask.knowledge.world import World


class TypedRetrieval:
    """Facts of a typed world by what a question asks for; built once for each world.

    Args:
        form: how facts are written.
        settings: how they are chosen.
    """

    def __init__(self, form: Form, settings: Retrieval | None = None) -> None:
        self._form = form
        self._settings = settings or Retrieval()
        self._retrievers: dict[str, Retriever] = {}
        self._embedders: dict[str, Embedder] = {}

    @property
    def name(self) -> str:
        """Say how it chooses and packs."""
        chosen = self._settings
        budget = "none" if chosen.budget is None else chosen.budget
        pinned = "linked" if chosen.pin_linked else "speaker"
        return f"typed {self._form} budget={budget} most_similar={chosen.most_similar} pinned={pinned}"

    @property
    def sees_needed(self) -> bool:
        """It may not."""
        return False

    def context(self, world: World, scenario: Scenario, turn: int, earlier: Sequence[TurnResponse]) -> Context:
        """Return the facts for a turn; those that earlier turns had are told again where they are needed again."""
        before = tuple(response.context for response in earlier)
        return self._retriever(world).retrieve(
            Ask(
                question=scenario.turns[turn].question,
                speaker=scenario.speaker,
                language=scenario.language,
                form=self._form,
                conversation=Conversation(turns=before, forgotten=len(before)),
            )
        )

    def _retriever(self, world: World) -> Retriever:
        if world.digest not in self._retrievers:
            (language, *others) = world.languages
            # Word vectors are megabytes: worlds of one language share them.
            embedder = None if others else self._embedder(language)
            self._retrievers[world.digest] = Retriever(world, settings=self._settings, embedder=embedder)
        return self._retrievers[world.digest]

    def _embedder(self, language: str) -> Embedder:
        if language not in self._embedders:
            self._embedders[language] = default_embedder(language).embedder
        return self._embedders[language]


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
