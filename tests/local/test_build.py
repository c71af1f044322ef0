"""Backends from weights on disk."""

import gc
from dataclasses import replace
from pathlib import Path
from weakref import ref

import pytest
import torch

from tests.local.test_model import SHAPE
from unmask.clock import SystemClock
from unmask.engine import weights
from unmask.engine.engine import Engine
from unmask.engine.runner import Runner
from unmask.engine.weights import LoadedModel, save_weights
from unmask.errors import ConfigError, UnknownModelError, WeightsError
from unmask.local import build
from unmask.local.build import LocalPlan, build_local_backend, build_local_backends
from unmask.local.model import ServedModel, serve_model
from unmask.sched.settings import SchedSettings
from unmask.testing.networks import make_network
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import ApproximateCache, ApproximateKv, Precision

SETTINGS = SchedSettings(pages=16, page_size=16)


def test_a_served_model_does_not_keep_its_network() -> None:
    """Its layers' weights are laid out anew, and what they were laid out from is let go of."""
    loaded = LoadedModel(name="m", digest="d", network=make_network(SHAPE))
    up = ref(loaded.network.get_parameter("blocks.0.up.weight"))
    served = serve_model(loaded, packaged_tokenizer(), SETTINGS, SystemClock(), precision=Precision.BFLOAT16)
    del loaded
    gc.collect()

    assert up() is None
    assert served.info.name == "m"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that counts as the package's."""
    monkeypatch.setattr(weights, "_folder", lambda: tmp_path)
    return tmp_path


async def test_every_packaged_model_is_served(folder: Path) -> None:
    """Without names all are served; with names those."""
    for name in ("nano", "tiny"):
        save_weights(folder / f"{name}.safetensors", make_network(SHAPE), name=name)
    everything = build_local_backend(sizes=SETTINGS)
    (one,) = build_local_backends(LocalPlan(names=("nano",), sizes=SETTINGS, threads=1))

    assert [info.name for info in everything.models()] == ["tiny", "nano"]
    assert [info.name for info in one.models()] == ["nano"]
    await everything.drain()
    await one.drain()


async def test_all_that_may_be_in_flight_may_wait_for_one_model(folder: Path) -> None:
    """The limit reaches the scheduler; what may run is added, since all of it may arrive before a tick."""
    for name in ("nano", "tiny"):
        save_weights(folder / f"{name}.safetensors", make_network(SHAPE), name=name)
    (backend,) = build_local_backends(LocalPlan(sizes=replace(SETTINGS, max_rows=4), queue_limit=20_000))

    assert {model.core.batcher.waiting.limit for model in backend._models.values()} == {20_008}
    await backend.drain()


def test_an_empty_package_is_said_so(folder: Path) -> None:
    """A package without weights serves nothing and says what to do."""
    with pytest.raises(WeightsError, match="holds no model"):
        build_local_backend()


def test_an_unknown_name_is_refused(folder: Path) -> None:
    """A name that is not in the package is an error, not a download."""
    with pytest.raises(UnknownModelError):
        build_local_backend(("gigantic",), SETTINGS)


def test_trained_weights_are_served_from_their_file(tmp_path: Path) -> None:
    """A path takes the place of the package."""
    path = tmp_path / "mine.safetensors"
    save_weights(path, make_network(SHAPE), name="mine")
    backend = build_local_backend((str(path),), SETTINGS)
    (served,) = backend._models.values()

    assert served.info.name == "mine"
    assert served.tokenizer is packaged_tokenizer()


async def test_precision_reaches_the_engine(folder: Path) -> None:
    """Pages are kept in the precision asked for, single unless another is, and the description says which."""
    save_weights(folder / "nano.safetensors", make_network(SHAPE), name="nano")
    bfloat16 = LocalPlan(sizes=SETTINGS, precision=Precision.BFLOAT16)
    backends = [build_local_backend((), SETTINGS), *build_local_backends(bfloat16)]
    plain, half = (served for backend in backends for served in backend._models.values())

    assert [served.info.precision for served in (plain, half)] == [Precision.FLOAT32, Precision.BFLOAT16]
    assert [_runner(served)._pool.dtype for served in (plain, half)] == [torch.float32, torch.bfloat16]
    for backend in backends:
        await backend.drain()


def _runner(served: ServedModel) -> Runner:
    engine = served.core.engine
    assert isinstance(engine, Engine)
    assert isinstance(engine.runner, Runner)
    return engine.runner


async def test_pages_are_measured_where_nobody_says_how_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three full batches where memory allows; else each model's part of half of what is free, told as bytes a page."""
    for name in ("nano", "tiny"):
        save_weights(folder / f"{name}.safetensors", make_network(SHAPE), name=name)
    page = 16 * SHAPE.layers * 2 * SHAPE.width * 4
    context = -(-SHAPE.context_length // 16)
    found = []
    for free in (None, 4 * (context + 3) * page):
        monkeypatch.setattr(build, "free_memory", lambda free=free: free)
        plan = LocalPlan(sizes=replace(SETTINGS, max_rows=4), measures_pages=True)
        (backend,) = build_local_backends(plan)
        found.append([(load.kv_pages, load.page_bytes) for load in backend.load()])
        await backend.drain()

    assert found == [[(3 * 4 * context, page)] * 2, [(context + 3, page)] * 2]


def test_more_pages_than_are_free_are_refused_before_they_are_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the system would grant them."""
    save_weights(folder / "tiny.safetensors", make_network(SHAPE), name="tiny")
    monkeypatch.setattr(build, "free_memory", lambda: 1_000)
    with pytest.raises(ConfigError, match=r"page_pool_tokens is 256, .* are free, allowed: up to"):
        build_local_backend((), SETTINGS)


@pytest.mark.parametrize("names", [(), ("tiny",), ("./weights.safetensors",)])
def test_packaged_models_have_no_approximate_cache(
    folder: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Theirs is exact, wherever their weights are."""
    for name in ("tiny", "weights"):
        save_weights(folder / f"{name}.safetensors", make_network(SHAPE), name=name)
    monkeypatch.chdir(folder)
    approximate = ApproximateKv(cache=ApproximateCache.PREFIX)
    with pytest.raises(ConfigError, match=r"approximate_cache is prefix, allowed with .*: off"):
        build_local_backends(LocalPlan(names=names, sizes=SETTINGS, approximate=approximate))


def test_a_refresh_needs_a_cache(folder: Path) -> None:
    """Of none there is nothing to compute anew."""
    save_weights(folder / "tiny.safetensors", make_network(SHAPE), name="tiny")
    with pytest.raises(ConfigError, match="approximate_cache_refresh is 4 and approximate_cache off"):
        build_local_backends(LocalPlan(sizes=SETTINGS, approximate=ApproximateKv(refresh=4)))
