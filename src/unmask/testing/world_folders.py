"""Folders of worlds for tests: a small sound one, to be spoilt in one place."""

from collections.abc import Mapping
from pathlib import Path

HEAD = """\
id: small
title: A small world
languages: [en, ko]
times: [dawn, frost]
types:
  person:
    slots:
      role: {kind: word, identity: true, asked_by: {en: [role], ko: [직책]}}
      home: {kind: entity, refers_to: [place], asked_by: {en: [home], ko: [집]}}
      ally: {kind: entity, many: true, asked_by: {en: [ally], ko: [동료]}}
      age: {kind: number, asked_by: {en: [age], ko: [나이]}}
      saying: {kind: text, many: true, asked_by: {en: [saying], ko: [말버릇]}}
  place:
    slots: {}
words:
  keeper: {en: keeper, ko: 지기}
  smith: {en: smith, ko: 대장장이}
"""
PEOPLE = """\
kaelis:
  type: person
  names: {en: Kaelis, ko: 카엘리스}
  aliases: {en: [the keeper], ko: [성문지기, Keeper 카엘리스]}
  note: chapter one
  slots:
    role: keeper
    home:
      - {value: dorvel, until: frost}
      - {value: miven, since: frost, note: moved}
    ally: [joren]
    age: 41
    saying: [So be it., '그럴 수밖에.']
joren:
  type: person
  names: {en: Joren, ko: 요렌}
  slots:
    role: smith
"""
PLACES = """\
miven: {type: place, names: {en: Miven, ko: 미벤}}
dorvel: {type: place, names: {en: Dorvel, ko: 도르벨}}
"""
MISCONCEPTIONS = """\
- id: kaelis-is-no-smith
  subject: kaelis
  confused_with: joren
  slot: role
  claimed: smith
  correction: [kaelis.role]
  triggers: {en: [at the forge], ko: [대장간]}
"""
FILES: Mapping[str, str] = {
    "world.yaml": HEAD,
    "entities/people.yaml": PEOPLE,
    "entities/places.yaml": PLACES,
    "misconceptions.yaml": MISCONCEPTIONS,
}


def write_folder(folder: Path, files: Mapping[str, str] = FILES, /, **changed: str) -> Path:
    """Write a world's folder; ``changed`` replaces a file by the last part of its name without suffix."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(path.stem, text), encoding="utf-8")
    return folder


def line_of(text: str, part: str) -> int:
    """Return the line of the first occurrence of a part of a text, from 1."""
    return text[: text.index(part)].count("\n") + 1
