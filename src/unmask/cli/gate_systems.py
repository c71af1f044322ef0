"""Which systems a gate run asks, out of what was typed."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask.backend import Backend, ModelInfo
from unmask.cli.exits import UsageError
from unmask.cli.gate_generate_parser import MODES
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.errors import UnknownModelError
from unmask.gate.response import System, SystemLabel
from unmask.gate.run_plan import Endpoint, Way
from unmask.types import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A system as it was typed."""

    label: SystemLabel
    model: str
    url: str | None
    mode: Mode
    key_env: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Systems:
    """Systems that can be asked, and the backends to be drained afterwards."""

    endpoints: tuple[Endpoint, ...]
    backends: tuple[Backend, ...]

    async def drain(self) -> None:
        """Let all backends go."""
        for backend in self.backends:
            await backend.drain()


def named_systems(args: argparse.Namespace) -> tuple[Named, ...]:
    """Return what ``--model`` and ``--against`` name.

    Raises:
        UsageError: they name the same.
    """
    judged = _named(SystemLabel.MODEL, args.model, MODES[args.mode], args.key_env)
    if args.against is None:
        return (judged,)
    against = _named(SystemLabel.AGAINST, args.against, MODES[args.against_mode], args.against_key_env)
    if (judged.model, judged.url, judged.mode) == (against.model, against.url, against.mode):
        raise UsageError("--against names what --model does; name another model, or another mode by --against-mode")
    return judged, against


def open_systems(named: Sequence[Named], way: Way, kind: str, weights: Path | None, tools: Tools) -> Systems:
    """Open what answers for systems; embedded models share one engine.

    The judged model has ``weights``, which hold its name, where they are given.

    Raises:
        ConfigError: a URL may not be asked, or there is no such key.
        UnknownModelError: a model is not embedded, or its weights hold another name.
        UpstreamError: a server does not say what it serves.
    """
    embedded = tuple(dict.fromkeys(_source(one.model, named[0], weights) for one in named if one.url is None))
    own = tools.make_backend(Settings(models=embedded)) if embedded else None
    backends = [] if own is None else [own]
    endpoints: list[Endpoint] = []
    for one in named:
        if own is None or one.url is not None:
            backend = _remote(one, kind)
            backends.append(backend)
        else:
            backend = own
        endpoints.append(Endpoint(system=_system(one, _model(backend, one.model), way), backend=backend))
    return Systems(endpoints=tuple(endpoints), backends=tuple(backends))


def _source(model: str, judged: Named, weights: Path | None) -> str:
    """Return what an engine of ours loads for a model: its name in the package, or a path."""
    return model if weights is None or model != judged.model else str(weights.absolute())


def _named(label: SystemLabel, text: str, mode: Mode, key_env: str | None) -> Named:
    model, at, url = text.partition("@")
    if not model or (at and not url):
        raise UsageError(f"{text!r} names no model; write MODEL, or MODEL@URL such as qwen@http://host:8000/v1")
    return Named(label=label, model=model, url=url or None, mode=mode, key_env=key_env)


def _remote(one: Named, kind: str) -> Backend:
    from unmask.remote.opening import open_remote
    from unmask.remote.settings import Kind

    assert one.url is not None, "what is embedded is not remote"
    return open_remote(one.url, one.model, one.key_env, kind=Kind(kind))


def _model(backend: Backend, name: str) -> ModelInfo:
    models = {model.name: model for model in backend.models()}
    if name not in models:
        raise UnknownModelError(name, models)
    return models[name]


def _system(one: Named, model: ModelInfo, way: Way) -> System:
    return System(
        label=one.label,
        model=one.model,
        digest=model.digest,
        mode=one.mode,
        url=one.url,
        policy=None,
        settings=way.settings(one.mode),
    )
