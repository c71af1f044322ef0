"""Weights out of an object store."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from tests.gate.s3_server import s3_server
from unmask.errors import WeightsError
from unmask.gate.stored_weights import SUMS, fetched_weights, weights_cache

FILES = {"model.safetensors": b"weights " * 100, "config.json": b"{}", "말/tokenizer.json": "가".encode()}


def silent(_: str) -> None:
    """Say nothing."""


def sums(files: Mapping[str, bytes]) -> bytes:
    """Write what ``sha256sum`` would."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()


def uploaded(files: Mapping[str, bytes]) -> str:
    """Put files into a folder in memory."""
    folder = f"memory://{uuid4().hex}/gemma-ko"
    for name, data in files.items():
        fsspec.filesystem("memory").pipe_file(f"{folder.removeprefix('memory:/')}/{name}", data)
    return folder


@pytest.fixture(scope="module", name="bucket")
def _bucket() -> Iterator[str]:
    with s3_server() as url:
        yield url


def test_a_folder_comes_out_of_s3_once(bucket: str, tmp_path: Path) -> None:
    """Each file is as it was uploaded, and is not fetched a second time."""
    store = fsspec.filesystem("s3")
    for name, data in ({**FILES, SUMS: sums(FILES)}).items():
        store.pipe_file(f"{bucket.removeprefix('s3://')}/모델/{name}", data)
    told: list[str] = []
    folder = fetched_weights(f"{bucket}/모델", tmp_path, told.append)

    assert folder.name == "모델"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert len(told) == len(FILES)
    assert fetched_weights(f"{bucket}/모델/", tmp_path, told.append) == folder
    assert len(told) == len(FILES)
    assert not list(tmp_path.rglob("*.partial"))


def test_one_file_alone_is_the_weights(tmp_path: Path) -> None:
    """A model of ours is one file."""
    files = {"tiny.safetensors": b"w"}
    url = uploaded({**files, SUMS: sums(files)})

    assert fetched_weights(url, tmp_path, silent).read_bytes() == b"w"


def test_what_may_hold_code_is_left_where_it_is(tmp_path: Path) -> None:
    """Pickles and Python files are never fetched, though they are listed."""
    files = {**FILES, "pytorch_model.bin": b"pickle", "modeling_x.py": b"import os"}
    folder = fetched_weights(uploaded({**files, SUMS: sums(files)}), tmp_path, silent)

    assert {path.name for path in folder.rglob("*") if path.is_file()} == {Path(name).name for name in FILES}


def test_half_an_upload_is_refused_and_nothing_of_it_kept(tmp_path: Path) -> None:
    """A digest that differs names the file, and a further try finds what was uploaded meanwhile."""
    half = {**FILES, "model.safetensors": FILES["model.safetensors"][:50]}
    url = uploaded({**half, SUMS: sums(FILES)})

    with pytest.raises(WeightsError, match=r"model\.safetensors has the SHA-256 .* upload has not finished"):
        fetched_weights(url, tmp_path, silent)
    assert not list(tmp_path.rglob("model*"))
    fsspec.filesystem("memory").pipe_file(
        f"{url.removeprefix('memory:/')}/model.safetensors", FILES["model.safetensors"]
    )
    assert (fetched_weights(url, tmp_path, silent) / "model.safetensors").read_bytes() == FILES["model.safetensors"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (FILES, "holds no SHA256SUMS"),
        ({SUMS: sums(FILES)}, r"cannot fetch .*model\.safetensors"),
        ({SUMS: sums({"a.bin": b""})}, r"names no \.safetensors"),
        ({SUMS: b"nonsense"}, r"line 1 of .* is 'nonsense'"),
        ({SUMS: sums({"../model.safetensors": b"w"})}, "line 1 of"),
        ({SUMS: sums({"/etc/model.safetensors": b"w"})}, "line 1 of"),
        ({SUMS: b"0" * ((1 << 20) + 1)}, "is larger than"),
    ],
)
def test_what_is_no_upload_is_refused(files: Mapping[str, bytes], reason: str, tmp_path: Path) -> None:
    """Nothing is written outside of the cache, and the message says what to put right."""
    with pytest.raises(WeightsError, match=reason):
        fetched_weights(uploaded({"README.md": b"", **files}), tmp_path / "cache", silent)


@pytest.mark.parametrize("url", ["nowhere://x/y", "s3://"])
def test_a_bad_address_is_refused(url: str, tmp_path: Path) -> None:
    """As an error of weights, like all else."""
    with pytest.raises(WeightsError, match=r"allowed"):
        fetched_weights(url, tmp_path, silent)


def test_a_full_or_closed_disk_is_told(tmp_path: Path) -> None:
    """The message has the place and the system's reason."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(WeightsError, match="cannot fetch"):
        fetched_weights(uploaded({**FILES, SUMS: sums(FILES)}), tmp_path / "file", silent)


def test_the_cache_is_where_the_specification_has_it(tmp_path: Path) -> None:
    """A relative path is ignored."""
    assert weights_cache({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "unmask" / "weights"
    assert weights_cache({"XDG_CACHE_HOME": "x"}) == Path.home() / ".cache" / "unmask" / "weights"
