"""Which program and which weights are measured."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import CollectorRegistry, Info

from unmask.backend import ModelInfo

NOT_INSTALLED = "unknown"


def register_identity(registry: CollectorRegistry, models: Iterable[ModelInfo]) -> None:
    """Register the version of this package and the digest of every model."""
    Info("unmask_build", "Version of unmask; always 1.", registry=registry).info({"version": installed_version()})
    digests = Info("unmask_model", "Digest of a model's weights; always 1.", ("model",), registry=registry)
    for model in models:
        digests.labels(model.name).info({"digest": model.digest})


def installed_version() -> str:
    """Return the version of the installed package; a source tree run as it is has none."""
    try:
        return version("unmask")
    except PackageNotFoundError:
        return NOT_INSTALLED
