"""Reads the parts of the file of upstreams that say how engines were launched."""

from collections.abc import Hashable, Iterable

from unmask.errors import ConfigError, shown
from unmask.remote.engines import PoolSettings, SglangSettings, VllmSettings
from unmask.remote.schema import ModelDocument
from unmask.remote.settings import Kind


def vllm_of(given: ModelDocument, place: str) -> VllmSettings | None:
    """Return what is said of vLLM.

    Raises:
        ConfigError: it is missing where the kind asks for it, stands where it does not, or contradicts itself.
    """
    section = given.vllm
    _check_kind(given, Kind.VLLM, place, has_section=section is not None)
    if section is None:
        return None
    place = f"{place}.vllm"
    if section.default_steps is not None and section.default_steps > section.max_steps:
        raise _misfit(f"{place}.default_steps", section.default_steps, f"1 to {section.max_steps}, as max_steps says")
    longest = max(section.canvas_lengths, default=0)
    if longest > section.canvas_length:
        raise _misfit(f"{place}.canvas_lengths", longest, f"up to {section.canvas_length}, as canvas_length says")
    if section.vocabulary is not None and section.mask_token is not None:
        raise ConfigError(f"{place}: vocabulary and mask_token are both set, allowed: one of them.", param=place)
    return VllmSettings(
        canvas_length=section.canvas_length,
        max_steps=section.max_steps,
        default_steps=section.default_steps,
        canvas_lengths=tuple(section.canvas_lengths),
        vocabulary=section.vocabulary,
        mask_token=section.mask_token,
        metrics_path=section.metrics_path,
    )


def sglang_of(given: ModelDocument, place: str) -> SglangSettings | None:
    """Return what is said of SGLang.

    Raises:
        ConfigError: as `vllm_of`; or an upstream belongs to no pool, or a pool has no upstream.
    """
    section = given.sglang
    _check_kind(given, Kind.SGLANG, place, has_section=section is not None)
    names = [] if section is None else [pool.name for pool in section.pools]
    check_different(names, f"{place}.sglang.pools")
    for index, upstream in enumerate(given.upstreams):
        if (section is None and upstream.pool is not None) or (section is not None and upstream.pool not in names):
            allowed = ", ".join(names) if section is not None else "none, as only kind sglang has pools"
            raise _misfit(f"{place}.upstreams.{index}.pool", upstream.pool, allowed)
    if section is None:
        return None
    place = f"{place}.sglang.pools"
    check_different((bucket for pool in section.pools for bucket in pool.buckets), place)
    empty = [name for name in names if all(one.pool != name for one in given.upstreams)]
    if empty:
        raise ConfigError(f"{place} holds {shown(empty[0])}, which no upstream belongs to. Remove it.", param=place)
    return SglangSettings(
        canvas_length=section.canvas_length,
        pools=tuple(
            PoolSettings(name=pool.name, steps=pool.steps, threshold=pool.threshold, buckets=tuple(pool.buckets))
            for pool in section.pools
        ),
    )


def check_different(values: Iterable[Hashable], place: str) -> None:
    """Refuse values that stand twice.

    Raises:
        ConfigError: two are the same.
    """
    seen = set[Hashable]()
    for value in values:
        if value in seen:
            raise ConfigError(f"{place} holds {shown(value)} twice, allowed: different ones.", param=place)
        seen.add(value)


def _check_kind(given: ModelDocument, kind: Kind, place: str, *, has_section: bool) -> None:
    if has_section is not (given.kind is kind):
        wanted = f"{kind} says how its servers were launched" if given.kind is kind else f"{kind} is of kind {kind}"
        raise ConfigError(f"{place}: kind is {given.kind}, and {wanted}. Add or remove it.", param=f"{place}.{kind}")


def _misfit(place: str, value: object, allowed: str) -> ConfigError:
    return ConfigError(f"{place} is {shown(value)}, allowed: {allowed}. Change it.", param=place)
