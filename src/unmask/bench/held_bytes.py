"""Bytes of every tensor that something holds, as they lie in memory: counted, not reckoned from shapes."""

import gc
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import torch
from torch import Tensor

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def held_bytes(*roots: object) -> int:
    """Return the bytes of all tensors that can be reached, each storage once, however many tensors share it."""
    seen: set[int] = set()
    storages: dict[int, int] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _SHARED):
            continue
        seen.add(id(one))
        if isinstance(one, Tensor):
            place, size = _storage(one)
            storages[place] = size
        else:
            waiting += gc.get_referents(one)
    return sum(storages.values())


def _storage(tensor: Tensor) -> tuple[int, int]:
    if tensor.is_mkldnn:
        # A layout of oneDNN's own has no storage that torch knows of, and is shared with no other tensor.
        return id(tensor), int(torch.ops.mkldnn._nbytes(tensor))  # noqa: SLF001
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()
