"""Weights on disk: safetensors in half precision, checked before anything is served from them."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from unmask.engine.network import Network, Shape
from unmask.errors import UnknownModelError, WeightsError

DIGEST_LENGTH = 16
MAX_SIZE = 1 << 20
SUFFIX = ".safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A network in single precision, its name and the digest of the file it came from."""

    name: str
    digest: str
    network: Network


def save_weights(path: Path, network: Network, *, name: str) -> str:
    """Write weights as float16 with their shape, whole or not at all; returns the file's digest.

    Raises:
        WeightsError: the file cannot be written.
    """
    tensors = {key: value.detach().cpu().to(torch.float16).contiguous() for key, value in network.state_dict().items()}
    content = save(tensors, {"name": name, "shape": json.dumps(asdict(network.shape))})
    partial = path.with_suffix(".partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        message = (
            f"cannot write the weights {str(path)!r}: {error}; "
            "see that the folder exists, may be written to and has room, and try again"
        )
        raise WeightsError(message) from error
    return _digest(content)


def load_weights(path: Path) -> LoadedModel:
    """Load weights written by `save_weights`.

    Raises:
        WeightsError: the file is missing, cut short, damaged, or not of the shape it says.
    """
    try:
        content = path.read_bytes()
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 - not a dict
        shape = _parse_shape(metadata["shape"])
        _check_tensors(tensors, shape)
        network = Network(shape)
        network.load_state_dict(tensors)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        message = f"cannot load the weights {str(path)!r}: {error}; install the package again or train the model anew"
        raise WeightsError(message) from error
    return LoadedModel(name=metadata.get("name", path.stem), digest=_digest(content), network=network)


def _parse_shape(text: str) -> Shape:
    raw = json.loads(text)
    shape = Shape(**{**raw, "canvas_lengths": tuple(raw["canvas_lengths"])})
    sizes = (
        *(shape.vocabulary, shape.width, shape.layers, shape.heads, shape.hidden, shape.context_length),
        *shape.canvas_lengths,
    )
    if not all(type(size) is int and 0 < size <= MAX_SIZE for size in sizes) or shape.width % (2 * shape.heads):
        raise ValueError(f"no network has the shape {text}")
    return shape


def _check_tensors(tensors: dict[str, Tensor], shape: Shape) -> None:
    """Compare sizes before there is a network, as a damaged shape may name an enormous one."""
    if shape.layers > len(tensors):
        raise ValueError(f"{shape.layers} layers cannot be in {len(tensors)} tensors")
    expected = shape.weights()
    found = {key: tuple(value.shape) for key, value in tensors.items()}
    wrong = sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
    if wrong:
        raise ValueError(f"{wrong[0]!r} is {found.get(wrong[0])}, expected {expected.get(wrong[0])}")
    broken = sorted(key for key, value in tensors.items() if not bool(value.isfinite().all()))
    if broken:
        raise ValueError(f"{broken[0]!r} holds values that are not finite")


def packaged_models() -> tuple[str, ...]:
    """Return the names of the models in the package."""
    names = [Path(entry.name).stem for entry in _folder().iterdir() if entry.name.endswith(SUFFIX)]
    return tuple(sorted(names, reverse=True))


def packaged_weights(name: str) -> Path:
    """Return the file of a packaged model.

    Raises:
        UnknownModelError: the package holds no model of that name.
    """
    known = packaged_models()
    if name not in known:
        raise UnknownModelError(name, known)
    return _folder() / f"{name}{SUFFIX}"


def _folder() -> Path:
    return Path(str(files("unmask.engine"))) / "weights"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]
