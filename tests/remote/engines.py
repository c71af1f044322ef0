"""Backends in front of SGLang servers, with a pool or two."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from tests.remote.remotes import Remote, remote
from unmask.remote.engines import PoolSettings, SglangSettings
from unmask.remote.settings import Kind
from unmask.testing.fake_upstream import Script
from unmask.types import Bucket

QUICK = PoolSettings(name="up1", steps=8, threshold=0.8, buckets=(Bucket.XS, Bucket.S))
CAREFUL = PoolSettings(name="up2", steps=32, threshold=0.95, buckets=(Bucket.L,))
POOLS = SglangSettings(canvas_length=32, pools=(QUICK, CAREFUL))


def sglang_behind(
    *scripts: Script,
    second: tuple[Script, ...] = (),
    **changes: Any,  # noqa: ANN401 - any field of the model
) -> AbstractAsyncContextManager[Remote]:
    """Open a backend in front of one pool of 32 steps, or of both with a server each."""
    settings = POOLS if second else SglangSettings(canvas_length=32, pools=(replace(QUICK, steps=32),))
    return remote(*scripts, second=second, kind=Kind.SGLANG, sglang=settings, **changes)
