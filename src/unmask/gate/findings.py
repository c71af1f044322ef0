"""What one answer to one turn has of what its turn asks for, and what it says that is false."""

from dataclasses import dataclass
from typing import TypeAlias

from unmask.gate.manner import MannerFinding, manner_of
from unmask.gate.reading.normal import TEXT_F1, normalised
from unmask.gate.reading.reader import read
from unmask.gate.reading.said import Reading, Said, Stance
from unmask.gate.reading.setting import Asked, Setting, asked_of
from unmask.gate.scenario import (
    AdmitsUnknown,
    Claim,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    StatesFact,
    Turn,
)
from unmask.gate.shape import form_faults
from unmask.gate.truth import Truth, held, says_text
from unmask.knowledge.world import Misconception, ValueKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """Whether a false belief was put right: denied, and what is true said."""

    misconception: str
    denied: bool
    corrected: bool

    @property
    def holds(self) -> bool:
        """Whether both were done."""
        return self.denied and self.corrected


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFindings:
    """All that was found in the answer to one turn.

    Attributes:
        right: ids of statements needed and said, and unknown slots admitted, as ``subject.slot?``.
        missing: those needed and not said.
        wrong: what was said and is false, in words.
        accepted: claims forbidden that it states or agrees to; ``wrong`` has them too.
        further: ids of statements said and not needed.
        named, unnamed: ids of the entities to be named.
        form: what is wrong with the form; ``None`` where none is asked for.
        unread: sentences of which nothing was read.
        silent: whether there are sentences and nothing was read of any.
    """

    right: tuple[str, ...]
    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    accepted: tuple[Claim, ...]
    further: tuple[str, ...]
    traps: tuple[Trap, ...]
    named: tuple[str, ...]
    unnamed: tuple[str, ...]
    manners: tuple[MannerFinding, ...]
    form: tuple[str, ...] | None
    unread: tuple[str, ...]
    silent: bool

    @property
    def failures(self) -> tuple[str, ...]:
        """What keeps the turn from passing, in words; a manner that shows no marker does not."""
        return (
            *(f"missing {one}" for one in self.missing),
            *self.wrong,
            *(f"trap {trap.misconception} not put right" for trap in self.traps if not trap.holds),
            *(f"{entity} not named" for entity in self.unnamed),
            *(manner.why for manner in self.manners if manner.value is not None and manner.value < 1),
            *(self.form or ()),
        )


def find(setting: Setting, speaker: str, turn: Turn, text: str) -> TurnFindings:
    """Read an answer and hold it against its turn and the world."""
    asked = asked_of(setting, speaker, turn.question)
    reading = read(setting, speaker, turn.question, text)
    stated, wrong = _held(setting, asked, reading)
    stated |= _texts(setting, reading)
    forbidden = _forbidden(setting, asked, turn, reading)
    wrong |= {(claim.subject, claim.slot, claim.value): why for claim, why in forbidden.items()}
    traps = tuple(
        _trap(setting, asked, check.misconception, reading, stated)
        for check in turn.checks
        if isinstance(check, CorrectsClaim)
    )
    wanted = _wanted(setting, turn)
    stated |= {one for one in wanted if _hinted(setting, asked, one, reading)}
    admitted = _admitted(asked, turn, reading)
    right = tuple(one for one in wanted if one in stated or one in admitted)
    named = setting.names.entities_in(text)
    to_name = _to_name(turn)
    return TurnFindings(
        right=right,
        missing=tuple(one for one in wanted if one not in right),
        wrong=tuple(wrong.values()),
        accepted=tuple(forbidden),
        further=tuple(sorted(stated - set(wanted))),
        traps=traps,
        named=tuple(entity for entity in to_name if entity in named),
        unnamed=tuple(entity for entity in to_name if entity not in named),
        manners=tuple(
            manner_of(setting, check.persona, text) for check in turn.checks if isinstance(check, KeepsManner)
        ),
        form=_form(turn, text),
        unread=reading.unread,
        silent=reading.says_nothing and not stated and not reading.affirms,
    )


_Wrong: TypeAlias = dict[tuple[str, str, str], str]
"""Why a claim is wrong, by subject, slot and value: what is false and forbidden too is wrong once."""


def _held(setting: Setting, asked: Asked, reading: Reading) -> tuple[set[str], _Wrong]:
    stated: set[str] = set()
    wrong: _Wrong = {}
    for said in reading.said:
        result = held(setting, asked, said)
        match result.truth:
            case Truth.TRUE:
                stated.update(result.statements)
            case Truth.FALSE:
                wrong[said.subject, said.slot, min(said.values, default=said.text)] = result.why
            case Truth.OPEN:
                pass
    own = {
        statement.value: statement.id
        for statement in setting.world.statements.values()
        if statement.subject == asked.subject and statement.slot in asked.slots and statement.validity.is_current
    }
    for denial in reading.denials:
        if denial.exact and not asked.is_past:
            denied = [value for value in sorted(denial.values) if value in own]
            wrong |= {(asked.subject, "", value): f"denies {own[value]}" for value in denied}
    return stated, wrong


def _texts(setting: Setting, reading: Reading) -> set[str]:
    open_kinds = {ValueKind.TEXT, ValueKind.NUMBER}
    return {
        statement.id
        for statement in setting.world.statements.values()
        if setting.world.slot_of(statement.subject, statement.slot).kind in open_kinds
        and says_text(setting, statement, tuple(map(normalised, reading.sentences)), TEXT_F1)
    }


def _wanted(setting: Setting, turn: Turn) -> tuple[str, ...]:
    """Return what the turn's checks need said: a correction's statements, an unknown slot as ``subject.slot?``."""
    wanted: list[str] = []
    for check in turn.checks:
        match check:
            case StatesFact(statement=statement):
                wanted.append(statement)
            case CorrectsClaim(misconception=misconception):
                wanted += _corrections(setting.world.misconceptions[misconception], setting)
            case AdmitsUnknown(subject=subject, slot=slot):
                wanted.append(f"{subject}.{slot}?")
            case NamesEntities() | KeepsManner() | HasForm():
                pass
    return tuple(dict.fromkeys(wanted))


def _corrections(misconception: Misconception, setting: Setting) -> tuple[str, ...]:
    """Return the statements on the very slot that the false belief is on, or all where none is."""
    on_it = tuple(
        one
        for one in misconception.correction
        if (setting.world.statements[one].subject, setting.world.statements[one].slot)
        == (misconception.subject, misconception.slot)
    )
    return on_it or misconception.correction


def _admitted(asked: Asked, turn: Turn, reading: Reading) -> frozenset[str]:
    """Return the unknown slots that the answer admits and does not fill all the same.

    "I do not know" is said by the speaker, whomever it is asked about.
    """
    found: set[str] = set()
    for check in turn.checks:
        if not isinstance(check, AdmitsUnknown):
            continue
        admits = any(
            admission.slot in {check.slot, None} and admission.subject in {check.subject, asked.speaker}
            for admission in reading.admissions
        )
        fills = any(
            said.firm and said.stance is Stance.STATED and (said.subject, said.slot) == (check.subject, check.slot)
            for said in reading.said
        )
        if admits and not fills:
            found.add(f"{check.subject}.{check.slot}?")
    return frozenset(found)


def _trap(setting: Setting, asked: Asked, name: str, reading: Reading, stated: set[str]) -> Trap:
    misconception = setting.world.misconceptions[name]
    claim = Claim(subject=misconception.subject, slot=misconception.slot, value=misconception.claimed)
    denied = any(misconception.claimed in denial.values or not denial.values for denial in reading.denials)
    believed = _states(claim, reading) or (reading.affirms and claim.value in asked.values)
    return Trap(
        misconception=name,
        denied=denied and not believed,
        corrected=all(one in stated for one in _corrections(misconception, setting)),
    )


def _hinted(setting: Setting, asked: Asked, wanted: str, reading: Reading) -> bool:
    """Whether what is asked for is named, though the sentence leaves open whose it is, as "bronze" alone does."""
    statement = setting.world.statements.get(wanted)
    return statement is not None and any(
        not said.firm
        and said.stance is Stance.STATED
        and said.slot == statement.slot
        and said.slot in asked.slots
        and statement.value in said.values
        for said in reading.said
    )


def _forbidden(setting: Setting, asked: Asked, turn: Turn, reading: Reading) -> dict[Claim, str]:
    claims = list(turn.forbidden)
    for check in turn.checks:
        if isinstance(check, CorrectsClaim):
            one = setting.world.misconceptions[check.misconception]
            claims.append(Claim(subject=one.subject, slot=one.slot, value=one.claimed))
    found: dict[Claim, str] = {}
    for claim in claims:
        words = f"{claim.subject} {claim.slot} {claim.value}"
        if _states(claim, reading):
            found[claim] = f"forbidden: {words}"
        elif reading.affirms and claim.value in asked.values and not _denies(claim, reading):
            found[claim] = f"agrees to what is forbidden: {words}"
    return found


def _states(claim: Claim, reading: Reading) -> bool:
    return any(_is_of(said, claim) and said.firm and said.stance is Stance.STATED for said in reading.said)


def _denies(claim: Claim, reading: Reading) -> bool:
    return any(claim.value in denial.values for denial in reading.denials)


def _is_of(said: Said, claim: Claim) -> bool:
    return (said.subject, said.slot) == (claim.subject, claim.slot) and claim.value in said.values


def _to_name(turn: Turn) -> tuple[str, ...]:
    named = (entity for check in turn.checks if isinstance(check, NamesEntities) for entity in check.entities)
    return tuple(dict.fromkeys(named))


def _form(turn: Turn, text: str) -> tuple[str, ...] | None:
    forms = [check for check in turn.checks if isinstance(check, HasForm)]
    return tuple(fault for form in forms for fault in form_faults(form, text)) if forms else None
