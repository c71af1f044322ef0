"""What answers say things with: cues and templates by language and slot, read once from a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.config.strict_yaml import load_yaml
from unmask.errors import ConfigError
from unmask.gate.reading.mentions import ENTITY, LIST_ENDS, MENTION

FILE = "phrases.yaml"

KOREAN = "ko"
_PARTICLES = "은|는|이|가|도|의|을|를|에게|께서|께|께서는|님은|님의"
_POSSESSIVE = {"en": "'s", "ko": "의"}


class LanguagePhrases(BaseModel):
    """The words of one language that are of no slot."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    first_person: list[str]
    second_person: list[str]
    third_person: list[str]
    negations: list[str]
    denials: list[str]
    affirmations: list[str]
    admissions: list[str]
    reports: list[str]
    past: list[str]
    present: list[str]
    no_longer: list[str]
    breaks: list[str]
    breaks_before: list[str]
    lists: list[str]


class _SlotPhrases(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    cues: list[str]
    templates: list[str]


class _Markers(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    required: bool
    en: list[str] = []
    ko: list[str] = []


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    languages: dict[str, LanguagePhrases]
    slots: dict[str, dict[str, _SlotPhrases]]
    personas: dict[str, _Markers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Markers:
    """What only one manner of speaking has, by language; ``required`` tells whether an answer must have one."""

    required: bool
    phrases: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A clause that says a slot, with groups ``s`` or ``p`` for whom it is said of and ``v`` for values."""

    slot: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The phrases of one language, ready to be looked for.

    Attributes:
        cues: by slot.
    """

    language: str
    first_person: re.Pattern[str]
    second_person: re.Pattern[str]
    third_person: re.Pattern[str]
    negations: re.Pattern[str]
    denials: re.Pattern[str]
    affirmations: re.Pattern[str]
    admissions: re.Pattern[str]
    reports: re.Pattern[str]
    past: re.Pattern[str]
    present: re.Pattern[str]
    no_longer: re.Pattern[str]
    breaks: re.Pattern[str]
    cues: Mapping[str, re.Pattern[str]]
    templates: tuple[Template, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """All phrases there are; ``text`` is the file, for digests."""

    words: Mapping[str, Words]
    personas: Mapping[str, Markers]
    text: str


def parse_phrases(text: str) -> Phrases:
    """Read a file of phrases.

    Raises:
        ConfigError: it is no YAML, or has a name that is unknown, missing or of another type.
    """
    try:
        document = _Document.model_validate(load_yaml(text))
    except yaml.YAMLError as error:
        raise ConfigError(f"phrases are no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"phrases, {place}: {first['msg']}; see the comments in {FILE}", param=place) from error
    words = {language: _words(language, document) for language in document.languages}
    personas = {
        name: Markers(required=entry.required, phrases={"en": tuple(entry.en), "ko": tuple(entry.ko)})
        for name, entry in document.personas.items()
    }
    return Phrases(words=MappingProxyType(words), personas=MappingProxyType(personas), text=text)


@cache
def load_phrases() -> Phrases:
    """Return the package's phrases."""
    return parse_phrases(files("unmask.gate.reading").joinpath(FILE).read_text(encoding="utf-8"))


def phrase_pattern(phrases: tuple[str, ...] | list[str], language: str) -> re.Pattern[str]:
    """Return what finds any of these phrases: whole words, but anywhere in a word of Korean, which glues endings on."""
    if not phrases:
        return re.compile(r"(?!)")
    options = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    if language == KOREAN:
        return re.compile(options)
    return re.compile(rf"(?<!\w)(?:{options})(?:(?<=\W)|(?!\w))", re.IGNORECASE)


def _words(language: str, document: _Document) -> Words:
    words = document.languages[language]
    found = {
        name: phrase_pattern(getattr(words, name), language)
        for name in ("negations", "denials", "affirmations", "admissions", "reports", "past", "present", "no_longer")
    }
    starts = {
        name: _word_starts(getattr(words, name), language) for name in ("first_person", "second_person", "third_person")
    }
    slots = {slot: entry[language] for slot, entry in document.slots.items() if language in entry}
    return Words(
        language=language,
        breaks=_breaks(words, language),
        cues={slot: phrase_pattern(entry.cues, language) for slot, entry in slots.items()},
        templates=tuple(
            Template(slot=slot, pattern=_template(phrase, words, language))
            for slot, entry in slots.items()
            for phrase in entry.templates
        ),
        **found,
        **starts,
    )


def _word_starts(phrases: list[str], language: str) -> re.Pattern[str]:
    """Return what finds words from their beginning; Korean pronouns are followed by what belongs to them."""
    if language == KOREAN:
        options = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
        return re.compile(rf"(?<![가-힣])(?:{options})(?:{_PARTICLES})?(?![가-힣])")
    return phrase_pattern(phrases, language)


def _breaks(words: LanguagePhrases, language: str) -> re.Pattern[str]:
    """Return what parts clauses; what joins two mentions into a list parts none, unless a verb follows the second."""
    joins = _options([phrase for phrase in words.breaks if phrase in words.lists])
    others = _options([phrase for phrase in words.breaks if phrase not in words.lists])
    before = "".join(rf"|(?={re.escape(phrase)})" for phrase in words.breaks_before)
    second = MENTION if language == KOREAN else rf"(?:the )?{MENTION}(?!{LIST_ENDS})"
    return re.compile(rf"{others}{before}|(?!(?<=\dZ){joins}{second}){joins}", re.IGNORECASE)


def _options(phrases: list[str]) -> str:
    return "(?:" + "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True)) + ")"


def _template(phrase: str, words: LanguagePhrases, language: str) -> re.Pattern[str]:
    pronouns = sorted({*words.first_person, *words.third_person, *words.second_person}, key=len, reverse=True)
    people = "|".join(map(re.escape, pronouns))
    joins = "|".join(re.escape(join) for join in sorted(words.lists, key=len, reverse=True))
    article = "" if language == KOREAN else "(?:the |a |an )?"
    values = rf"{MENTION}(?:(?:{joins}){article}{MENTION}(?!{LIST_ENDS}))*"
    particles = ""
    if language == KOREAN:
        # First it is who does something, further on whom it is done to.
        particles = "(?:은|는|이|가|도|께서)?" if phrase.startswith("{s}") else "(?:을|를)?"
    parts = {
        " ... ": r" (?:[^\n]*? )?",
        "{s}": rf"(?<!\w)(?P<s>{ENTITY}|{people}){particles}(?!\w)",
        "{p}": rf"(?<!\w)(?P<p>{ENTITY}|{people})(?:{_POSSESSIVE[language]})?(?!\w)",
        "{v}": rf"{article}(?P<v>{values})",
    }
    if language == KOREAN:
        phrase = phrase.replace("{v} ", "{v_} ")
        parts["{v_}"] = parts["{v}"] + "(?:은|는|이|가|께서)?"
    pieces = re.split(r"( \.\.\. |\{(?:[spv]|v_)\})", phrase)
    edge = r"(?<!\w)" if language != KOREAN else ""
    return re.compile(edge + "".join(parts.get(piece, re.escape(piece)) for piece in pieces), re.IGNORECASE)
