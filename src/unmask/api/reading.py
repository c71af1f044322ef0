"""What the bodies of the generating endpoints mean."""

from collections.abc import Callable

from unmask.api.call import Call
from unmask.api.translate import to_call
from unmask.api.validate import validate_chat, validate_completion
from unmask.backend import Backend, ModelInfo
from unmask.control.routing import Routes
from unmask.errors import UnknownModelError


def read_chat(parsed: dict[str, object], backend: Backend, routes: Routes, draw_seed: Callable[[], int]) -> Call:
    """Make a call of a chat completion body.

    Args:
        parsed: the body.
        backend: whose models may be asked for.
        routes: names that may be asked for beside them.
        draw_seed: called where tokens are drawn and the client sent no seed.

    Raises:
        InvalidRequestError: the first thing wrong with it.
    """
    body = validate_chat(parsed)
    return to_call(body, find_model(backend, routes, body.model), draw_seed)


def read_completion(parsed: dict[str, object], backend: Backend, routes: Routes, draw_seed: Callable[[], int]) -> Call:
    """Make a call of a completion body; the same as `read_chat` otherwise."""
    body = validate_completion(parsed)
    return to_call(body, find_model(backend, routes, body.model), draw_seed)


def find_model(backend: Backend, routes: Routes, name: str) -> ModelInfo:
    """Return the model of a name, a route's being one too, or raise `UnknownModelError`."""
    served = (*backend.models(), *routes.models)
    model = next((model for model in served if model.name == name), None)
    if model is None:
        raise UnknownModelError(name, (model.name for model in served))
    return model
