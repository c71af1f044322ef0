"""From a question to the few facts that its answer needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from unmask.errors import InvalidRequestError
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.knowledge.conversation import Conversation
from unmask.knowledge.embedding import Chosen, Embedder, default_embedder
from unmask.knowledge.graph import Graph
from unmask.knowledge.homonyms import resolved
from unmask.knowledge.korean import Stemmer
from unmask.knowledge.linking import Linker
from unmask.knowledge.packing import Packer, Wanted
from unmask.knowledge.premises import Premises
from unmask.knowledge.question import Question, read_question
from unmask.knowledge.similar import Similar
from unmask.knowledge.slot_phrases import SlotPhrases
from unmask.knowledge.token_count import TokenCounter, embedded_tokens, estimated_tokens
from unmask.knowledge.vectors import VectorCache
from unmask.knowledge.walk import Walk, Walked
from unmask.knowledge.world import Misconception, Statement, World

PERSONA = "persona"
"""The slot whose facts are pinned for whoever answers, whatever its type says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """How facts are chosen.

    Attributes:
        budget: most tokens of the facts in a prompt; ``None`` sets no limit.
        most_similar: most facts that are there only because they sound like the question.
        pin_speaker: whether the identity facts and the persona of whoever answers are pinned.
        pin_linked: whether the identity facts of entities that the question names are pinned.
    """

    budget: int | None = 256
    most_similar: int = 3
    pin_speaker: bool = True
    pin_linked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question as it is asked.

    Attributes:
        speaker: id of the entity that answers.
        language: of the question and of the facts in the prompt.
    """

    question: str
    speaker: str
    language: str
    form: Form = Form.CARDS
    conversation: Conversation = field(default_factory=Conversation)


class Retriever:
    """Chooses facts of one world; what it is asked never says which facts an answer needs.

    The index of names is built with it; vectors are computed at the first question that needs them.
    """

    def __init__(
        self,
        world: World,
        *,
        settings: Retrieval | None = None,
        embedder: Embedder | None = None,
        count_tokens: TokenCounter | None = None,
        stemmer: Stemmer | None = None,
        cache: VectorCache | None = None,
    ) -> None:
        self.world = world
        self._settings = settings or Retrieval()
        self._graph = Graph(world)
        self._linker = Linker(world, stemmer)
        self._phrases = SlotPhrases(world)
        self._premises = Premises(world, self._graph)
        self._count_tokens = count_tokens
        self._cache = cache or VectorCache()
        chosen = {
            language: default_embedder(language) if embedder is None else Chosen(embedder=embedder)
            for language in world.languages
        }
        self.notes = tuple(dict.fromkeys(choice.note for choice in chosen.values() if choice.note))
        """What a person should know of how texts are compared here."""
        self._similar = {
            language: Similar(self._graph, choice.embedder, language, self._cache)
            for language, choice in chosen.items()
        }

    def prepare(self, language: str) -> None:
        """Embed the statements of the world in a language now, not at the first question that needs them."""
        self._similar[self._known(language)].prepare()

    def retrieve(self, ask: Ask) -> Context:
        """Return the facts for a question, and why each is there.

        Raises:
            InvalidRequestError: the speaker is no entity, or the language none of the world's.
            BudgetTooSmallError: the pinned facts alone take more tokens than the budget.
            EmbedderError: a similar fact was looked for, and there are no vectors to be had.
        """
        if ask.speaker not in self.world.entities:
            fix = "Name who answers by an id of the world."
            raise InvalidRequestError("speaker", ask.speaker, f"an id of {len(self.world.entities)} entities", fix)
        self._known(ask.language)
        question = read_question(ask.question, self._linker, self._phrases)
        mentions = resolved(question, self._graph, ask.speaker, ask.conversation.focus)
        walked = Walk(question, mentions, self._graph, ask.speaker, ask.conversation).walked()
        scores = {one.entity: min(one.score, 1.0) for mention in mentions for one in mention.candidates}
        wanted = list(self._wanted(ask, question, walked, scores))
        return self._context(ask, walked, _first_of_each(wanted))

    def _wanted(self, ask: Ask, question: Question, walked: Walked, scores: dict[str, float]) -> Iterable[Wanted]:
        """Yield facts in rank order; one may come more than once, and the first reason counts."""
        for statement in self._pinned(self._to_pin(ask, walked), ask.speaker):
            yield Wanted(record=statement, reason=Reason.PINNED, score=1.0)
        corrected = self._corrections(ask, question, walked)
        for record in corrected:
            yield Wanted(record=record, reason=Reason.CORRECTION, score=1.0)
        ranked = sorted(walked.asked, key=lambda statement: -scores.get(statement.subject, 1.0))
        for statement in ranked:
            yield Wanted(record=statement, reason=Reason.ASKED, score=scores.get(statement.subject, 1.0))
        for at, statement in enumerate(walked.on_the_way):
            yield Wanted(record=statement, reason=Reason.NEIGHBOUR, score=0.5 / (at + 1))
        if not (walked.asked or corrected or walked.slots):
            near = walked.linked
            for found in self._similar[ask.language].to(ask.question, near, self._settings.most_similar):
                yield Wanted(record=found.statement, reason=Reason.SIMILAR, score=found.score)

    def _to_pin(self, ask: Ask, walked: Walked) -> Sequence[str]:
        linked = tuple(entity for entity in walked.linked if entity != ask.speaker)
        return (
            *((ask.speaker,) if self._settings.pin_speaker else ()),
            *(linked if self._settings.pin_linked else ()),
        )

    def _pinned(self, entities: Sequence[str], speaker: str) -> Iterable[Statement]:
        for entity in dict.fromkeys(entities):
            if entity == speaker and self._graph.has_slot(entity, PERSONA):
                yield from self._graph.values(entity, PERSONA)
            yield from self._graph.identity(entity)

    def _corrections(self, ask: Ask, question: Question, walked: Walked) -> tuple[Statement | Misconception, ...]:
        named = {one.entity for mention in question.mentions for one in mention.candidates}
        subjects = {*walked.linked, *walked.ends}
        if not named:
            subjects.add(ask.speaker)
        found = self._premises.of(question, subjects, named, walked.slots)
        records: list[Statement | Misconception] = []
        for misconception in found:
            records += [misconception, *(self.world.statements[id_] for id_ in misconception.correction)]
        return tuple(records)

    def _context(self, ask: Ask, walked: Walked, wanted: Sequence[Wanted]) -> Context:
        told = ask.conversation.told
        packer = Packer(self.world, ask.language, ask.form, self._counter(ask.form))
        packed = packer.pack([want for want in wanted if want.record.id not in told], self._settings.budget)
        carried = tuple(
            Injected(id=want.record.id, reason=Reason.CARRIED, score=want.score, tokens=0)
            for want in wanted
            if want.record.id in told
        )
        named = tuple(entity for entity in walked.linked if entity != ask.speaker)
        return Context(
            world=self.world.id,
            language=ask.language,
            form=ask.form,
            entities=walked.linked,
            facts=(*packed.facts, *carried),
            dropped=packed.dropped,
            text=packed.text,
            tokens=packed.tokens,
            left_out=packed.left_out,
            focus=tuple(dict.fromkeys((*walked.ends, *named))) or ask.conversation.focus,
            asked=walked.slots,
        )

    def _counter(self, form: Form) -> TokenCounter:
        if self._count_tokens is not None:
            return self._count_tokens
        return estimated_tokens if form is Form.PROSE else embedded_tokens

    def _known(self, language: str) -> str:
        if language not in self._similar:
            allowed = ", ".join(self.world.languages)
            raise InvalidRequestError("language", language, allowed, "Ask in a language of the world.")
        return language


def _first_of_each(wanted: Iterable[Wanted]) -> list[Wanted]:
    kept: dict[str, Wanted] = {}
    for want in wanted:
        kept.setdefault(want.record.id, want)
    return list(kept.values())
