"""What the bodies of the generating endpoints mean."""

from collections.abc import Callable

from unmask.api.call import Call
from unmask.api.translate import to_call
from unmask.api.validate import validate_chat, validate_completion
from unmask.backend import Backend, ModelInfo
from unmask.errors import UnknownModelError


def read_chat(parsed: dict[str, object], backend: Backend, draw_seed: Callable[[], int]) -> Call:
    """Make a call of a chat completion body.

    Args:
        parsed: the body.
        backend: whose models may be asked for.
        draw_seed: called where tokens are drawn and the client sent no seed.

    Raises:
        InvalidRequestError: the first thing wrong with it.
    """
    body = validate_chat(parsed)
    return to_call(body, find_model(backend, body.model), draw_seed)


def read_completion(parsed: dict[str, object], backend: Backend, draw_seed: Callable[[], int]) -> Call:
    """Make a call of a completion body; the same as `read_chat` otherwise."""
    body = validate_completion(parsed)
    return to_call(body, find_model(backend, body.model), draw_seed)


def find_model(backend: Backend, name: str) -> ModelInfo:
    """Return the model of a name, or raise `UnknownModelError`."""
    served = backend.models()
    model = next((model for model in served if model.name == name), None)
    if model is None:
        raise UnknownModelError(name, (model.name for model in served))
    return model
