"""Extraction: read a short text and fill a given schema as compact JSON."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Never, TypeAlias

from unmask.tasks.extract_fields import (
    GROUPS,
    INSTRUCTIONS,
    LIST_FIELDS,
    NAME,
    NAMELESS,
    PLAIN_FIELDS,
    PRONOUNS,
    Field,
    Kind,
    Value,
    draw_value,
    spoken,
)
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Difficulty, Item, Split, failed, question_of, split_of
from unmask.tasks.json_place import syntax_fault
from unmask.tasks.names import draw_names
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

Shape: TypeAlias = "str | dict[str, Shape]"

MAX_ANSWER_TOKENS = 92
MAX_DISTRACTORS = 2
MISSING_SHARE = 0.1
_ABSENT = "is not in the text"
NAME_SHARE = 0.5
INTRODUCTION_SHARE = 0.6
SECOND_GROUP_SHARE = 0.3
SECOND_LIST_SHARE = 0.3
SECOND_MIN_FIELDS = 5
PRONOUN_SHARE = 0.6
AND_SHARE = 0.3
MAX_CHARACTERS = 20_000
MAX_DEPTH = 8

_COUNTED = re.compile(r"[A-Z][a-z]*|[a-z]+|\d|[^\w\s]+")
_SCHEMA_TOKEN = re.compile(r'\s*("[^"\\]{1,64}"|\[str\]|str\b|int\b|bool\b|[{}:,])')


def crude_tokens(text: str) -> int:
    """Count tokens without a tokenizer: 3 a name, 1 a word, a digit or a run of punctuation."""
    return sum(3 if part[0].isupper() else 1 for part in _COUNTED.findall(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    group: str
    field: Field

    @property
    def path(self) -> str:
        return f"{self.group}.{self.field.key}" if self.group else self.field.key

    @property
    def about_subject(self) -> bool:
        return self.group != "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Everything that fixes truth; only wording and sentence order are still open."""

    leaves: tuple[_Leaf, ...]
    facts: tuple[tuple[_Leaf, Value], ...]
    subject: str
    named: bool

    def value(self, path: str) -> Value | None:
        return next((value for leaf, value in self.facts if leaf.path == path), None)


class Extract:
    """Task type ``extract``: schema and text in, JSON out."""

    @property
    def name(self) -> str:
        """Name used in ``diffusion.task``, records and figures."""
        return "extract"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one item of ``split``; draws again until the canonical form's hash falls into it."""
        spec = load_spec()
        fields, nesting, array = (spec.axis("extract", key).draw_int(rng) for key in ("fields", "nesting", "array"))
        nesting = nesting if fields > 1 else 0
        while True:
            plan = _draw_plan(rng, split, fields, nesting, array)
            canonical = _canonical(plan)
            if split_of(canonical) is not split:
                continue
            answer = _render(plan, values=True)
            if crude_tokens(answer) <= MAX_ANSWER_TOKENS:
                break
        prompt = draw_phrasing(rng, split, INSTRUCTIONS).format(
            schema=_render(plan, values=False), text=_draw_text(rng, plan)
        )
        return Item(
            task=self.name,
            messages=(Message(role=Role.USER, content=prompt),),
            answer=answer,
            difficulty=Difficulty(axes=(("fields", fields), ("nesting", nesting), ("array", array))),
            canonical=canonical,
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Judge ``text`` knowing the truth: equal as a value, arrays as multisets."""
        parsed = _parse(text)
        if isinstance(parsed, CheckResult):
            return parsed
        reason = _difference(json.loads(item.answer), parsed.value, "")
        failure = self.verify(item.messages, text).failure or FailureKind.LOGIC
        return failed(reason, failure) if reason else PASSED

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Judge ``text`` from the request: the schema's shape, and values that the text holds."""
        request = question_of(messages)
        found = find_schema(request)
        if found is None:
            return failed("the request holds no schema")
        shape, source = found
        parsed = _parse(text)
        if isinstance(parsed, CheckResult):
            return parsed
        reason = _misfit(shape, parsed.value, "", source)
        failure = FailureKind.FACT if reason.endswith(_ABSENT) else FailureKind.FORMAT
        return failed(reason, failure) if reason else PASSED


def _draw_leaves(rng: Random, fields: int, nesting: int, array: int) -> list[list[_Leaf]]:
    """Draw the schema as a list of entries in order; a nested object is one entry of several leaves."""
    second = fields >= SECOND_MIN_FIELDS
    lists = array + (array and second and rng.random() < SECOND_LIST_SHARE)
    entries = [[_Leaf(group="", field=field)] for field in rng.sample(LIST_FIELDS, lists)]
    left = fields - lists
    barred: set[str] = set()
    for group in rng.sample(GROUPS, nesting + (nesting and second and rng.random() < SECOND_GROUP_SHARE)):
        most = min(left, len(group.fields))
        if most:
            chosen = rng.sample(group.fields, rng.randint(min(2, most), most))
            entries.append([_Leaf(group=group.key, field=field) for field in chosen])
            left -= len(chosen)
        if group.key != "owner":
            barred.update(field.key for field in group.fields)
    plain = [field for field in PLAIN_FIELDS if field.key not in barred and field is not NAME]
    if left and rng.random() < NAME_SHARE:
        entries.append([_Leaf(group="", field=NAME)])
        left -= 1
    entries.extend([_Leaf(group="", field=field)] for field in rng.sample(plain, left))
    rng.shuffle(entries)
    return entries


def _draw_plan(rng: Random, split: Split, fields: int, nesting: int, array: int) -> _Plan:
    """Draw schema, missing field, distractors and values."""
    leaves = [leaf for entry in _draw_leaves(rng, fields, nesting, array) for leaf in entry]
    missing = rng.choice(leaves) if rng.random() < MISSING_SHARE else None
    used = {leaf.field.key for leaf in leaves if leaf.about_subject}
    stated = [leaf for leaf in leaves if leaf is not missing]
    spare = [field for field in (*PLAIN_FIELDS, *LIST_FIELDS) if field.key not in used and field is not NAME]
    # A text needs a sentence even where nothing that was asked for is in it.
    distractors = max(rng.randint(0, MAX_DISTRACTORS), 0 if stated else 1)
    stated += [_Leaf(group="", field=field) for field in rng.sample(spare, distractors)]
    named = missing is None or missing.field is not NAME
    subject, *names = draw_names(rng, split, 1 + sum(leaf.field.kind is Kind.NAME for leaf in stated))
    facts: list[tuple[_Leaf, Value]] = []
    for leaf in stated:
        if leaf.field is NAME:
            facts.append((leaf, subject))
        elif leaf.field.kind is Kind.NAME:
            facts.append((leaf, names.pop()))
        else:
            facts.append((leaf, draw_value(rng, leaf.field)))
    return _Plan(
        leaves=tuple(leaves), facts=tuple(facts), subject=subject if named else rng.choice(NAMELESS), named=named
    )


def _canonical(plan: _Plan) -> str:
    """Schema and facts without any order, so that a reworded item stays in its split."""
    schema = ",".join(sorted(leaf.path for leaf in plan.leaves))
    facts = sorted(
        f"{leaf.path}={'+'.join(sorted(value)) if isinstance(value, tuple) else value}" for leaf, value in plan.facts
    )
    return f"extract {schema} of {plan.subject if plan.named else '?'}: {' '.join(facts)}"


def _render(plan: _Plan, *, values: bool) -> str:
    """Write the schema, or the answer that fills it."""
    parts: dict[str, list[str]] = {}
    for leaf in plan.leaves:
        written = json.dumps(plan.value(leaf.path), separators=(",", ":")) if values else leaf.field.kind.notation
        # A top-level leaf is its own entry; a group's leaves share one.
        parts.setdefault(leaf.group or f"-{leaf.field.key}", []).append(f'"{leaf.field.key}":{written}')
    entries = [
        members[0] if key.startswith("-") else f'"{key}":{{{",".join(members)}}}' for key, members in parts.items()
    ]
    return f"{{{','.join(entries)}}}"


def _draw_text(rng: Random, plan: _Plan) -> str:
    """Write every fact as a clause and join the clauses into sentences."""
    facts = [fact for fact in plan.facts if fact[0].field is not NAME or fact[0].group]
    rng.shuffle(facts)
    asked = any(leaf.field is NAME for leaf in plan.leaves) and plan.named
    clauses: list[str] = []
    # Other clauses give the name in passing, so that it need not be introduced.
    if asked and (rng.random() < INTRODUCTION_SHARE or not any(leaf.about_subject for leaf, _ in facts)):
        clauses.append(rng.choice(NAME.phrasings).format(v=plan.subject))
    nominative, possessive = rng.choice(PRONOUNS)
    clear = bool(clauses)
    for leaf, value in facts:
        pronoun = clear and rng.random() < PRONOUN_SHARE
        pool = leaf.field.denied if value is False else leaf.field.phrasings
        clauses.append(
            rng.choice(pool).format(
                s=nominative if pronoun else plan.subject,
                p=possessive if pronoun else f"{plan.subject}'s",
                v=spoken(value),
            )
        )
        clear = (clear or leaf.about_subject) and not leaf.field.other_person
    text = clauses[0][0].upper() + clauses[0][1:]
    for clause in clauses[1:]:
        joined = rng.random() < AND_SHARE
        text += f" and {clause}" if joined else f". {clause[0].upper()}{clause[1:]}"
    return f"{text}."


# --- reading JSON ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Members:
    """A JSON object as written: duplicate keys survive until a path can be named."""

    pairs: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    value: object


def _refuse_constant(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")


def _keep_pairs(pairs: list[tuple[str, object]]) -> _Members:
    return _Members(pairs=tuple(pairs))


def _parse(text: str) -> _Parsed | CheckResult:
    if len(text) > MAX_CHARACTERS:
        return failed(f"answer: longer than {MAX_CHARACTERS} characters", FailureKind.FORMAT)
    try:
        return _Parsed(value=json.loads(text, object_pairs_hook=_keep_pairs, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        return failed(f"answer: not JSON ({str(error)[:80]})", FailureKind.FORMAT, syntax_fault(text))


def _join(path: str, key: str) -> str:
    # Keys come from a model: keep reasons short and printable.
    shown = key if key.isascii() and key.isprintable() else ascii(key)
    return f"{path}.{shown[:64]}" if path else shown[:64]


def _key_fault(wanted: set[str], got: object, path: str) -> str:
    """Say what is wrong with an object's keys, or nothing."""
    if not isinstance(got, _Members):
        return f"{path or 'answer'}: not an object"
    counts = Counter(key for key, _ in got.pairs)
    for key, count in counts.items():
        if count > 1:
            return f"{_join(path, key)}: duplicate key"
        if key not in wanted:
            return f"{_join(path, key)}: not in the schema"
    return next((f"{_join(path, key)}: missing" for key in sorted(wanted) if key not in counts), "")


def _difference(truth: object, got: object, path: str) -> str:
    """Say where ``got`` differs from the truth, or nothing."""
    if isinstance(truth, dict):
        fault = _key_fault(set(truth), got, path)
        if fault or not isinstance(got, _Members):
            return fault
        reasons = (_difference(truth[key], value, _join(path, key)) for key, value in got.pairs)
        return next((reason for reason in reasons if reason), "")
    if type(got) is not type(truth):
        return f"{path}: {_type_name(got)} instead of {_type_name(truth)}"
    if isinstance(truth, list) and isinstance(got, list):
        strings = [element for element in got if isinstance(element, str)]
        same = len(strings) == len(got) and Counter(strings) == Counter(truth)
    else:
        same = got == truth
    return "" if same else f"{path}: wrong value"


def _type_name(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "float", str: "string", list: "array", _Members: "object"}
    return names.get(type(value), "null")


# --- reading the request -----------------------------------------------------


def _next_token(text: str, at: int) -> tuple[str, int]:
    match = _SCHEMA_TOKEN.match(text, at)
    if match is None:
        raise ValueError("not a schema")
    return match[1], match.end()


def _parse_shape(text: str, at: int, depth: int = 0) -> tuple[dict[str, Shape], int]:
    """Read ``{"key":type,...}`` just after its opening brace; ``ValueError`` if it is none."""
    shape: dict[str, Shape] = {}
    while depth < MAX_DEPTH:
        key, at = _next_token(text, at)
        colon, at = _next_token(text, at)
        kind, at = _next_token(text, at)
        key = key[1:-1] if key[0] == '"' else ""
        if not key or key in shape or colon != ":" or kind[0] in '"}:,':
            break
        if kind == "{":
            shape[key], at = _parse_shape(text, at, depth + 1)
        else:
            shape[key] = kind
        mark, at = _next_token(text, at)
        if mark == "}":
            return shape, at
        if mark != ",":
            break
    raise ValueError("not a schema")


def find_schema(request: str) -> tuple[dict[str, Shape], str] | None:
    """Find the first schema of a request; return it and the text to read."""
    start = request.find("{")
    while start >= 0:
        try:
            shape, end = _parse_shape(request, start + 1)
        except ValueError:
            start = request.find("{", start + 1)
            continue
        return shape, _source(request[:start], request[end:])
    return None


def _source(before: str, after: str) -> str:
    """Strip the words of a known instruction; of an unknown one, keep everything."""
    best = ""
    for phrasing in INSTRUCTIONS:
        head, tail = phrasing.split("{schema}")
        left, right = head.split("{text}") if "{text}" in head else tail.split("{text}")
        whole, rest, bare = (before, after, tail) if "{text}" in head else (after, before, head)
        if rest != bare or not (whole.startswith(left) and whole.endswith(right)):
            continue
        inner = whole[len(left) : len(whole) - len(right)]
        # Several may fit; the one that strips most is the one that was used.
        if not best or len(inner) < len(best):
            best = inner
    return best or f"{before}\n{after}"


def _occurrences(value: str, source: str) -> int:
    """Count ``value`` in ``source`` as whole words."""
    return len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", source)) if value else 0


def _misfit(shape: Shape, got: object, path: str, source: str) -> str:
    """Say where ``got`` leaves the schema or the text, or nothing."""
    if isinstance(shape, dict):
        fault = _key_fault(set(shape), got, path)
        if fault or not isinstance(got, _Members):
            return fault
        reasons = (_misfit(shape[key], value, _join(path, key), source) for key, value in got.pairs)
        return next((reason for reason in reasons if reason), "")
    if got is None or (shape == "bool" and isinstance(got, bool)):
        return ""
    wanted = Counter[str]()
    if shape == "str" and isinstance(got, str):
        wanted[got] += 1
    elif shape == "int" and isinstance(got, int) and not isinstance(got, bool):
        wanted[str(got)] += 1
    elif shape == "[str]" and isinstance(got, list) and got and all(isinstance(element, str) for element in got):
        wanted.update(got)
    else:
        return f"{path}: {_type_name(got)} instead of {shape}"
    absent = next((value for value, count in wanted.items() if _occurrences(value, source) < count), None)
    return "" if absent is None else f"{path}: {ascii(absent)[:64]} {_ABSENT}"
