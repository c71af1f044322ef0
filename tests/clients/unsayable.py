"""Rules of bodies that JSON Schema has no words for, so that a generator of requests cannot know of them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from unmask.api.completion_schema import MOST_ANSWERS
from unmask.policy.policy import DEFAULT_TASK
from unmask.tasks.formats import JsonSchema
from unmask.tasks.schema_limits import InvalidSchemaError
from unmask.testing.builders import make_model

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


STEPS = differing("diffusion.max_steps", "num_denoising_steps", "vllm_xargs.diffusion_max_steps")
BROKEN: Mapping[str, Callable[[Body], bool]] = MappingProxyType(
    {
        "messages": ends_otherwise,
        "n": asks_for_too_much,
        "best_of": lambda body: body["best_of"] != (body.get("n") or 1),
        "max_tokens": differing("max_tokens", "max_completion_tokens"),
        "num_denoising_steps": STEPS,
        "vllm_xargs.diffusion_max_steps": STEPS,
        "vllm_xargs.diffusion_canvas_length": differing(
            "diffusion.canvas_length", "vllm_xargs.diffusion_canvas_length"
        ),
        "response_format.json_schema.schema": has_no_schema,
        "diffusion.task": names_unknown("diffusion.task", *make_model().tasks, DEFAULT_TASK),
        "diffusion.service_class": names_unknown("diffusion.service_class"),
    }
)
"""What tells whether a body breaks such a rule, by the field that its error names."""
