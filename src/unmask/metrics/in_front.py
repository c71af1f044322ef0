"""What a backend in front of another one passes on as it is."""

from unmask.backend import Backend, ModelInfo
from unmask.load import ModelLoad


class BackendInFront:
    """What a backend in front of another one passes on as it is; a subclass answers requests."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return self._backend.models()

    def problems(self) -> tuple[str, ...]:
        """Say what keeps requests from being served."""
        return self._backend.problems()

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what each model has to do."""
        return self._backend.load()

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop."""
        await self._backend.drain()
