"""Claims in the plainest words, in English or Korean, for answers that are made up to try judges with."""

import re

from unmask.gate.reading.phrases import KOREAN
from unmask.gate.reading.setting import Setting
from unmask.knowledge.korean import final_of, particle
from unmask.tasks.dialogue_phrases import SLOT_NOUNS

_PAIRS = (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("이라", "라"), ("으로", "로"))
_KOREAN_NOUNS = {
    "role": "직책",
    "home": "집",
    "affiliation": "소속",
    "ally": "동맹",
    "rival": "적수",
    "state": "상태",
    "possession": "소지품",
    "era": "시대",
    "sealed_by": "봉인자",
    "mentor": "스승",
    "craft": "기술",
}


def plain_claim(setting: Setting, speaker: str, subject: str, slot: str, value: str, *, denied: bool = False) -> str:
    """Return a sentence that says, or denies, a value of an entity's slot; in the first person for the speaker."""
    world = setting.world
    language = setting.words.language if setting.words.language in world.languages else world.languages[0]
    words = world.text_of(subject, slot, value, language)
    name = world.entities[subject].names[language]
    if language == KOREAN:
        owner = "제" if subject == speaker else f"{name}의"
        head = f"{owner} {_with(_KOREAN_NOUNS.get(slot, slot), '은')}"
        return f"{head} {_with(words, '이')} 아닙니다." if denied else f"{head} {words}입니다."
    owner = "My" if subject == speaker else f"{name}'s"
    noun = SLOT_NOUNS.get(slot, (slot.replace("_", " "),))[0]
    return f"{owner} {noun} is {'not ' if denied else ''}{words}."


def with_particles(text: str, token: str, word: str) -> str:
    """Put a word in a token's place, with the particle behind it in the form that goes with the word."""
    forms = {form for pair in _PAIRS for form in pair}
    options = "|".join(sorted(forms, key=len, reverse=True))
    pattern = re.compile(rf"{re.escape(token)}(?:({options})(?![가-힣]))?")
    return pattern.sub(lambda found: _with(word, found[1]) if found[1] else word, text)


def _with(word: str, given: str) -> str:
    """Attach a particle in the form that goes with a word; that after a vowel where its reading is not known."""
    after_consonant, after_vowel = next(pair for pair in _PAIRS if given in pair)
    is_known = final_of(word[-1]) is not None
    return word + (particle(word, after_consonant, after_vowel) if is_known else after_vowel)
