"""Whether an answer is in a persona's manner, by markers: words that only one manner has."""

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.gate.reading.normal import normalised
from unmask.gate.reading.phrases import phrase_pattern
from unmask.gate.reading.setting import Setting
from unmask.tasks.dialogue_phrases import MANNERS


@dataclass(frozen=True, slots=True, kw_only=True)
class MannerFinding:
    """What markers tell of an answer's manner: 1 its own, 0 another's or none where one is required, 0.5 both.

    Attributes:
        value: ``None`` where no marker is in it and none is required.
    """

    value: float | None
    why: str


def manner_of(setting: Setting, persona: str, text: str) -> MannerFinding:
    """Look for the markers of every manner; ``persona`` is a key of the world's vocabulary."""
    plain = normalised(text)
    name = _trained_name(setting, persona)
    shown = {manner: tuple(_markers(setting, manner, plain)) for manner in _manners(setting)}
    found = {manner: markers for manner, markers in shown.items() if markers}
    own = found.pop(name, ())
    others = "; ".join(f"{manner}: {markers[0]!r}" for manner, markers in sorted(found.items()))
    if own and not found:
        return MannerFinding(value=1.0, why=f"{name}: {own[0]!r}")
    if own:
        return MannerFinding(value=0.5, why=f"{name}: {own[0]!r}, but also {others}")
    if found:
        return MannerFinding(value=0.0, why=f"manner of another persona than {name}: {others}")
    known = setting.phrases.personas.get(name)
    if known is not None and known.required:
        return MannerFinding(value=0.0, why=f"no marker of {name}, and one is required")
    return MannerFinding(value=None, why=f"no marker of any manner, so nothing tells whether it is {name}")


def _trained_name(setting: Setting, persona: str) -> str:
    """Return the name that markers have a persona by: its English word, or its key."""
    return setting.world.words.get(persona, {}).get("en", persona).casefold()


def _manners(setting: Setting) -> tuple[str, ...]:
    return tuple({**dict.fromkeys(MANNERS), **dict.fromkeys(setting.phrases.personas)})


def _markers(setting: Setting, manner: str, text: str) -> Iterator[str]:
    trained = MANNERS.get(manner)
    if trained is not None:
        yield from (opening for opening in trained.openings if text.startswith(opening))
        yield from (closing for closing in trained.closings if text.endswith(closing))
    markers = setting.phrases.personas.get(manner)
    if markers is None:
        return
    for language, phrases in markers.phrases.items():
        found = phrase_pattern(phrases, language).search(text)
        if found is not None:
            yield found.group()
