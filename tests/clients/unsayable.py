"""Rules of bodies that JSON Schema has no words for, so that a generator of requests cannot know of them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from unmask.api.completion_schema import MOST_ANSWERS
from unmask.policy.policy import DEFAULT_TASK
from unmask.tasks.formats import JsonSchema
from unmask.tasks.patterns import InvalidPatternError, Pattern
from unmask.tasks.schema_limits import InvalidSchemaError
from unmask.testing.builders import make_model
from unmask.types import Mode

Body = Mapping[str, Any]


def ends_otherwise(body: Body) -> bool:
    """Tell whether a chat ends with somebody else than its user."""
    return bool(body["messages"][-1]["role"] != "user")


def asks_for_too_much(body: Body) -> bool:
    """Tell whether prompts times answers of each are too many."""
    return len(body["prompt"]) * int(body["n"]) > MOST_ANSWERS


def has_no_schema(body: Body) -> bool:
    """Tell whether an answer is to be verified against what is no JSON Schema."""
    try:
        JsonSchema(body["response_format"]["json_schema"]["schema"])
    except InvalidSchemaError:
        return True
    return False


def differing(*fields: str) -> Callable[[Body], bool]:
    """Return what tells whether fields that mean the same say different things."""
    return lambda body: len({value for field in fields if (value := value_of(body, field)) is not None}) > 1


def value_of(body: Body, field: str) -> Any:  # noqa: ANN401 - as it is in the body
    """Return a field by its path, ``None`` where it is not there."""
    value: Any = body
    for name in field.split("."):
        value = (value or {}).get(name)
    return value


def names_unknown(field: str, *known: str) -> Callable[[Body], bool]:
    """Return what tells whether a field names something that the server has not."""
    return lambda body: value_of(body, field) not in {None, *known}


def entries(body: Body) -> list[Body]:
    """Return the verifiers that a body asks for."""
    return list(value_of(body, "diffusion.verify") or ())


def some_entry(broken: Callable[[Body], bool]) -> Callable[[Body], bool]:
    """Return what tells whether a verifier of a body breaks a rule."""
    return lambda body: any(map(broken, entries(body)))


def backwards(lower: str, upper: str) -> Callable[[Body], bool]:
    """Return what tells whether a range has no value in it."""

    def broken(entry: Body) -> bool:
        least, most = entry.get(lower), entry.get(upper)
        return least is not None and most is not None and bool(least > most)

    return some_entry(broken)


def has_no_pattern(entry: Body) -> bool:
    """Tell whether a verifier's pattern cannot be matched in linear time."""
    if "pattern" not in entry:
        return False
    try:
        Pattern(entry["pattern"])
    except InvalidPatternError:
        return True
    return False


def has_no_such_items(entry: Body) -> bool:
    """Tell whether items would not be found as they are."""
    separator = entry.get("separator") or ","
    return any(separator in item or item != item.strip() for item in entry.get("same_items") or ())


def asks_for_nothing(body: Body) -> bool:
    """Tell whether a verifier passes everything, or samples are to be compared twice."""
    kinds = [entry["kind"] for entry in entries(body)]
    bounds = [entry.get("minimum") is None and entry.get("maximum") is None for entry in entries(body)]
    texts = [not entry.get("required") and not entry.get("forbidden") for entry in entries(body)]
    return (
        kinds.count("self_consistency") > 1
        or any(kind == "length" and empty for kind, empty in zip(kinds, bounds, strict=True))
        or any(kind == "facts" and empty for kind, empty in zip(kinds, texts, strict=True))
    )


def searches_in_vain(body: Body) -> bool:
    """Tell whether a search has nothing to judge by, or its text would be sent before it is taken."""
    is_judged = value_of(body, "diffusion.search") in {"depth", "rollover"}
    return is_judged or value_of(body, "diffusion.stream") in {"committed", "snapshots"} or writes_causally(body)


def writes_causally(body: Body) -> bool:
    """Tell whether no canvas becomes the answer, so that what is about canvases means nothing."""
    return value_of(body, "diffusion.mode") in {Mode.AUTOREGRESSIVE, Mode.SPECULATIVE}


def writes_in(mode: Mode) -> Callable[[Body], bool]:
    """Return what tells whether the answer is written in a mode."""
    return lambda body: bool(value_of(body, "diffusion.mode") == mode)


CANVAS = differing("diffusion.canvas_length", "vllm_xargs.diffusion_canvas_length")
STEPS = differing("diffusion.max_steps", "num_denoising_steps", "vllm_xargs.diffusion_max_steps")
BROKEN: Mapping[str, Callable[[Body], bool]] = MappingProxyType(
    {
        "messages": ends_otherwise,
        "n": asks_for_too_much,
        "best_of": lambda body: body["best_of"] != (body.get("n") or 1),
        "max_tokens": differing("max_tokens", "max_completion_tokens"),
        "num_denoising_steps": STEPS,
        "vllm_xargs.diffusion_max_steps": STEPS,
        "temperature": writes_in(Mode.SPECULATIVE),
        "diffusion.canvas_length": writes_in(Mode.AUTOREGRESSIVE),
        "vllm_xargs.diffusion_canvas_length": lambda body: CANVAS(body) or writes_in(Mode.AUTOREGRESSIVE)(body),
        "diffusion.strategy": writes_causally,
        "diffusion.threshold": writes_causally,
        "diffusion.window": writes_causally,
        "diffusion.stream": writes_causally,
        "response_format.json_schema.schema": has_no_schema,
        "diffusion.search": searches_in_vain,
        "diffusion.width": lambda body: value_of(body, "diffusion.search") in {None, "none"},
        # Only a rollover shares steps out, and only among the canvases that its answer may have.
        "diffusion.segment_weights": lambda body: bool(value_of(body, "diffusion.segment_weights")),
        "diffusion.max_reexpansions": lambda body: bool(value_of(body, "diffusion.max_reexpansions")),
        "diffusion.verify[]": asks_for_nothing,
        "diffusion.verify[].agree": some_entry(lambda entry: (entry.get("agree") or 0) > (entry.get("samples") or 2)),
        "diffusion.verify[].max_items": backwards("min_items", "max_items"),
        "diffusion.verify[].maximum": backwards("minimum", "maximum"),
        "diffusion.verify[].order": some_entry(
            lambda entry: entry.get("order") == "as_given" and entry.get("same_items") is None
        ),
        "diffusion.verify[].pattern": some_entry(has_no_pattern),
        "diffusion.verify[].same_items": some_entry(has_no_such_items),
        "diffusion.task": names_unknown("diffusion.task", *make_model().tasks, DEFAULT_TASK),
        "diffusion.service_class": names_unknown("diffusion.service_class"),
    }
)
"""What tells whether a body breaks such a rule, by the field that its error names, numbers of entries aside."""
