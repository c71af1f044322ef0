"""Weights on disk: safetensors in half precision, checked before anything is served from them."""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from unmask.engine.network import Network, Shape
from unmask.errors import UnknownModelError, WeightsError

DIGEST_LENGTH = 16
SUFFIX = ".safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A network in single precision, its name and the digest of the file it came from."""

    name: str
    digest: str
    network: Network


def save_weights(path: Path, network: Network, *, name: str) -> str:
    """Write weights as float16 with their shape, whole or not at all; returns the file's digest."""
    tensors = {key: value.detach().cpu().to(torch.float16).contiguous() for key, value in network.state_dict().items()}
    content = save(tensors, {"name": name, "shape": json.dumps(asdict(network.shape))})
    partial = path.with_suffix(".partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        message = f"cannot write the weights {str(path)!r}: {error}; free some space and try again"
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
        raw = json.loads(metadata["shape"])
        shape = Shape(**{**raw, "canvas_lengths": tuple(raw["canvas_lengths"])})
        network = Network(shape)
        network.load_state_dict(tensors)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        message = f"cannot load the weights {str(path)!r}: {error}; install the package again or train the model anew"
        raise WeightsError(message) from error
    broken = [key for key, value in tensors.items() if not bool(value.isfinite().all())]
    if broken:
        raise WeightsError(f"the weights {str(path)!r} hold values that are not finite in {broken[0]!r}; train anew")
    return LoadedModel(name=metadata.get("name", path.stem), digest=_digest(content), network=network)


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
