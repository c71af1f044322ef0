"""The routes of a server: what they are called, and where each of their requests goes."""

from collections.abc import Callable, Iterable

from unmask.backend import Backend, ModelInfo, Request
from unmask.control.features import features_of
from unmask.control.route import Decision, Route, RouteReason
from unmask.control.sources import Classified
from unmask.control.stored import CountTokens
from unmask.load import EngineState
from unmask.tasks.formats import AnswerFormat, schema_of


class Routes:
    """All routes, none of which has the name of a model.

    Args:
        routes: each of its own name.
        count_tokens: how long a prompt is, as routes were fitted to count.
        is_running: whether a loaded model makes progress; asked once a request, so it answers from memory.
    """

    def __init__(
        self,
        routes: Iterable[Route] = (),
        *,
        count_tokens: CountTokens = lambda _: 0,
        is_running: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._routes = {route.name: route for route in routes}
        self._models = {name: route.model for name, route in self._routes.items()}
        self._count_tokens = count_tokens
        self._is_running = is_running

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Each route as what a client may ask of it."""
        return tuple(self._models.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever runs the server should know."""
        return tuple(note for route in self._routes.values() if (note := route.note) is not None)

    def named(self, name: str) -> Route | None:
        """Return the route of a name, if there is one."""
        return self._routes.get(name)

    def decide(
        self,
        route: Route,
        request: Request,
        classified: Classified,
        answer_format: AnswerFormat | None,
        *,
        can_escalate: bool,
    ) -> Decision:
        """Return where a request goes first, in some tens of microseconds.

        Args:
            route: what it asks for.
            request: in the client's words.
            classified: its task type.
            answer_format: the form that its answer is to have.
            can_escalate: whether a failed answer of the small model is attempted again by the large one.
        """
        if route.small is None or not self._is_running(route.small.name):
            return Decision(route=route.name, reason=RouteReason.UNAVAILABLE)
        features = features_of(
            request.messages,
            classified.task,
            prompt_tokens=self._count_tokens(request.messages),
            max_tokens=request.max_tokens or self._models[route.name].default_max_tokens,
            schema=schema_of(answer_format),
        )
        return route.decide(features, task_confidence=classified.confidence, can_escalate=can_escalate)


def is_running(backend: Backend, model: str) -> bool:
    """Tell whether a model makes progress, as far as its backend says; circuits of servers say so when asked."""
    states = [load.state for load in backend.load() if load.model == model]
    return all(state is EngineState.RUNNING for state in states)
