"""What can keep a server from starting, beside its settings."""

from unmask.errors import UnmaskError


class EngineMissingError(UnmaskError):
    """A model is to run here and what runs it is not installed."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module} is not installed, and local models need it: pip install '.[engine]' in a checkout")
        self.args = (module,)
