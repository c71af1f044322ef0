"""The parts of a suite as its file holds them; what refers to what is for `unmask.gate.suite_references`."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    Claim,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
    Turn,
)
from unmask.knowledge.schema import LONGEST_NAME, LONGEST_TEXT, Document, Identifier, Language, Name

Id = Annotated[str, Field(min_length=1, max_length=2 * LONGEST_NAME)]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
MOST_TURNS = 20


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"allowed: a regular expression; {error}") from error
    return text


class SubjectSlot(Document):
    """What an answer is to admit not to know."""

    subject: Id
    slot: Id


class FormDocument(Document):
    """The form of an answer."""

    most_characters: Annotated[int, Field(ge=1)] | None = None
    pattern: Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_pattern)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "FormDocument":
        if self.most_characters is None and self.pattern is None:
            raise ValueError("allowed: most_characters, pattern or both")
        return self


class CheckDocument(Document):
    """One check: a mapping with a single name."""

    states: Id | None = None
    corrects: Id | None = None
    admits: SubjectSlot | None = None
    names: Annotated[list[Id], Field(min_length=1)] | None = None
    manner: Id | None = None
    form: FormDocument | None = None

    @model_validator(mode="after")
    def _is_one(self) -> "CheckDocument":
        given = [name for name in CheckDocument.model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            allowed = ", ".join(CheckDocument.model_fields)
            raise ValueError(f"allowed: exactly one of {allowed}; write each check as an item of its own")
        return self

    def check(self) -> Check:
        """Return the check."""
        if self.states is not None:
            return StatesFact(statement=self.states)
        if self.corrects is not None:
            return CorrectsClaim(misconception=self.corrects)
        if self.admits is not None:
            return AdmitsUnknown(subject=self.admits.subject, slot=self.admits.slot)
        if self.names is not None:
            return NamesEntities(entities=tuple(self.names))
        if self.manner is not None:
            return KeepsManner(persona=self.manner)
        assert self.form is not None, "a check says exactly one thing"
        return HasForm(most_characters=self.form.most_characters, pattern=self.form.pattern)


class ClaimDocument(Document):
    """A claim that would be a hallucination."""

    subject: Id
    slot: Id
    value: Id


class TurnDocument(Document):
    """A question."""

    question: Question
    needed: list[Id] = Field(default_factory=list)
    checks: list[CheckDocument] = Field(default_factory=list)
    forbidden: list[ClaimDocument] = Field(default_factory=list)

    def turn(self) -> Turn:
        """Return the turn."""
        claims = [Claim(subject=claim.subject, slot=claim.slot, value=claim.value) for claim in self.forbidden]
        return Turn(
            question=self.question,
            needed=tuple(self.needed),
            checks=tuple(check.check() for check in self.checks),
            forbidden=tuple(claims),
        )


class ScenarioDocument(Document):
    """A scenario."""

    id: Identifier
    world: Identifier
    language: Language
    kind: Annotated[ScenarioKind, Field(strict=False)]
    speaker: Identifier
    cluster: Name
    turns: Annotated[list[TurnDocument], Field(min_length=1, max_length=MOST_TURNS)]
    note: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""

    def scenario(self) -> Scenario:
        """Return the scenario."""
        return Scenario(
            id=self.id,
            world=self.world,
            language=self.language,
            kind=self.kind,
            speaker=self.speaker,
            cluster=self.cluster,
            turns=tuple(turn.turn() for turn in self.turns),
            note=self.note,
        )


class HeadDocument(Document):
    """What a suite says of itself."""

    id: Identifier
    family: Identifier
    worlds: Annotated[list[Id], Field(min_length=1)]
