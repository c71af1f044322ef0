"""Right answers made wrong on purpose, so that whoever passes everything is caught.

Each mutation changes one thing that a scenario checks and leaves the rest of the answer as it is. What it becomes is
wrong by construction, not by anybody's judgement: the new value is none that holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from unmask.gate.plain import plain_claim, with_particles
from unmask.gate.reading.normal import normalised, sentences_of
from unmask.gate.reading.phrases import phrase_pattern
from unmask.gate.reading.reader import read
from unmask.gate.reading.setting import Setting
from unmask.gate.scenario import AdmitsUnknown, CorrectsClaim, KeepsManner, StatesFact, Turn
from unmask.gate.score import Metric
from unmask.knowledge.world import Statement, ValueKind
from unmask.tasks.dialogue_phrases import MANNERS


class Mutation(StrEnum):
    """What was made wrong.

    ``value_swapped``: a value is a look-alike's. ``negation_dropped``: what was denied is claimed. ``negation_added``:
    what is true is denied. ``admission_claimed``: what nobody knows is claimed. ``persona_swapped``: the manner is
    another persona's.
    """

    VALUE_SWAPPED = "value_swapped"
    NEGATION_DROPPED = "negation_dropped"
    NEGATION_ADDED = "negation_added"
    ADMISSION_CLAIMED = "admission_claimed"
    PERSONA_SWAPPED = "persona_swapped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutated:
    """An answer that is wrong, and the metric that must see it."""

    mutation: Mutation
    metric: Metric
    text: str


def mutate(setting: Setting, speaker: str, turn: Turn, text: str, rng: Random) -> tuple[Mutated, ...]:
    """Return every mutation that a right answer to a turn can be given; none where nothing in it can be told apart.

    Args:
        setting: the scenario's world in the language of the answer.
        speaker: id of the entity that answers.
        turn: what was asked.
        text: an answer that is right.
        rng: draws look-alikes among several, and manners.
    """
    maker = _Maker(setting, speaker, turn, text, rng)
    found = (
        *maker.value_swapped(),
        *maker.negation_dropped(),
        *maker.negation_added(),
        *maker.admission_claimed(),
        *maker.persona_swapped(),
    )
    return tuple(one for one in found if one.text != maker.text)


class _Maker:
    """Holds the answer that mutations are made of."""

    def __init__(self, setting: Setting, speaker: str, turn: Turn, text: str, rng: Random) -> None:
        self.text = normalised(text)
        self._setting = setting
        self._world = setting.world
        self._speaker = speaker
        self._turn = turn
        self._rng = rng
        self._reading = read(setting, speaker, turn.question, text)

    def value_swapped(self) -> Iterator[Mutated]:
        for statement in self._needed():
            false = self._false_value(statement.subject, statement.slot)
            if false is None:
                continue
            text = self._replaced(statement.value, self._words_of(statement, false))
            yield _factual(Mutation.VALUE_SWAPPED, text)

    def negation_dropped(self) -> Iterator[Mutated]:
        for check in self._turn.checks:
            if not isinstance(check, CorrectsClaim) or not self._reading.denials:
                continue
            one = self._world.misconceptions[check.misconception]
            claim = plain_claim(self._setting, self._speaker, one.subject, one.slot, one.claimed)
            text = self._with_sentence(self._reading.denials[0].sentence, claim)
            yield Mutated(mutation=Mutation.NEGATION_DROPPED, metric=Metric.TRAP_CORRECTED, text=text)

    def negation_added(self) -> Iterator[Mutated]:
        for statement in self._needed():
            said = next(
                (
                    one
                    for one in self._reading.said
                    if (one.subject, one.slot) == (statement.subject, statement.slot) and statement.value in one.values
                ),
                None,
            )
            if said is None or not statement.validity.is_current:
                continue
            denial = plain_claim(
                self._setting, self._speaker, statement.subject, statement.slot, statement.value, denied=True
            )
            yield _factual(Mutation.NEGATION_ADDED, self._with_sentence(said.sentence, denial))

    def admission_claimed(self) -> Iterator[Mutated]:
        for check in self._turn.checks:
            if not isinstance(check, AdmitsUnknown) or not self._reading.admissions:
                continue
            false = self._false_value(check.subject, check.slot)
            if false is not None:
                claim = plain_claim(self._setting, self._speaker, check.subject, check.slot, false)
                yield _factual(
                    Mutation.ADMISSION_CLAIMED, self._with_sentence(self._reading.admissions[0].sentence, claim)
                )

    def persona_swapped(self) -> Iterator[Mutated]:
        for check in self._turn.checks:
            if not isinstance(check, KeepsManner):
                continue
            own = self._world.words.get(check.persona, {}).get("en", check.persona).casefold()
            other = self._rng.choice(sorted(set(MANNERS) - {own}))
            opening = self._opening(other)
            trained = MANNERS.get(own)
            phrases = () if trained is None else (*trained.openings, *trained.closings)
            manner = {sentence for phrase in phrases for sentence in sentences_of(phrase)}
            body = " ".join(sentence for sentence in sentences_of(self.text) if sentence not in manner)
            body = self._without_markers(own, body)
            yield Mutated(mutation=Mutation.PERSONA_SWAPPED, metric=Metric.PERSONA, text=f"{opening} {body}".strip())

    def _without_markers(self, manner: str, text: str) -> str:
        known = self._setting.phrases.personas.get(manner)
        for language, phrases in ({} if known is None else known.phrases).items():
            pattern = phrase_pattern(phrases, language).pattern
            text = re.sub(rf"(?:{pattern})[.,!…]*\s*", "", text, flags=re.IGNORECASE)
        return text

    def _opening(self, manner: str) -> str:
        phrases = self._setting.phrases.personas[manner].phrases.get(self._setting.words.language, ())
        if self._setting.words.language == "en" or not phrases:
            return self._rng.choice(MANNERS[manner].openings)
        return f"{self._rng.choice(phrases)}..."

    def _needed(self) -> Iterator[Statement]:
        for check in self._turn.checks:
            match check:
                case StatesFact(statement=statement):
                    yield self._world.statements[statement]
                case CorrectsClaim(misconception=misconception):
                    for one in self._world.misconceptions[misconception].correction:
                        yield self._world.statements[one]
                case _:
                    pass

    def _false_value(self, subject: str, slot: str) -> str | None:
        """Return a value that the subject has never had: one it is mistaken for, or else another's of that slot."""
        known = self._setting.slot(subject, slot)
        if known is None or known.kind not in {ValueKind.WORD, ValueKind.ENTITY}:
            return None
        own = {one.value for one in self._world.statements.values() if (one.subject, one.slot) == (subject, slot)}
        believed = [
            one.claimed
            for one in self._world.misconceptions.values()
            if (one.subject, one.slot) == (subject, slot) and one.claimed not in own
        ]
        if believed:
            return self._rng.choice(sorted(believed))
        others = sorted(self._setting.vocabulary.get(slot, frozenset()) - own - {subject})
        if not others and known.kind is ValueKind.ENTITY:
            others = sorted(
                entity.id
                for entity in self._world.entities.values()
                if entity.type in known.refers_to and entity.id not in own | {subject, self._speaker}
            )
        return self._rng.choice(others) if others else None

    def _words_of(self, statement: Statement, value: str) -> str:
        return self._world.text_of(statement.subject, statement.slot, value, self._language)

    @property
    def _language(self) -> str:
        language = self._setting.words.language
        return language if language in self._world.languages else self._world.languages[0]

    def _replaced(self, value: str, words: str) -> str:
        """Put another value where this one stands."""
        masked = self._setting.names.mask(self.text)
        text = masked.text
        for mention in masked.mentions.values():
            is_value = value in mention.values
            text = with_particles(text, mention.token, words if is_value else mention.text)
        return text

    def _with_sentence(self, sentence: str, other: str) -> str:
        """Put a sentence in another's place, and leave out denials that would take it back."""
        return " ".join(other if one == sentence else one for one in sentences_of(self.text))


def _factual(mutation: Mutation, text: str) -> Mutated:
    return Mutated(mutation=mutation, metric=Metric.FACTUAL_PRECISION, text=text)
