"""Behaviour of `unmask.remote.file`."""

from pathlib import Path

import pytest

from unmask.errors import ConfigError
from unmask.remote.engines import PoolSettings, SglangSettings, VllmSettings
from unmask.remote.file import LARGEST_FILE, parse_remote, read_remote
from unmask.remote.settings import Bounds, Breaking, Kind, RemoteModel, Retries, Timeouts
from unmask.types import Bucket

LEAST = """
models:
  - name: 먼-모델
    upstream_model: org/model-7b
    upstreams:
      - {name: a, url: "http://127.0.0.1:8000/v1/"}
"""
WHOLE = """
models:
  - name: far
    upstream_model: m
    kind: unmask
    answers_as: [m, m-2]
    digest: "0123456789abcdef"
    revision: "2"
    context_length: 4096
    default_max_tokens: 100
    include_usage: false
    asks_models: false
    has_logprobs: true
    timeouts: {connect: 1.0, first_byte: 2.0, idle: 3.0, total: 4.0}
    class_timeouts:
      interactive: {total: 9.0}
    retries: {limit: 0, base: 0.5, longest: 2.0}
    breaking: {failures: 1, open: 2.5}
    bounds: {bytes_per_token: 10, base_bytes: 20, event_bytes: 30}
    upstreams:
      - {name: a, url: "http://a/v1", key_env: A_KEY, concurrency: 2, queue: 0, allow_link_local: true}
      - {name: b, url: "https://b/v1", key_file: keys/b, proxy: "http://proxy:3128"}
"""


def parsed(text: str, folder: Path = Path("/etc/unmask")) -> RemoteModel:
    """Return the one model of a file."""
    (model,) = parse_remote(text.encode(), folder).models
    return model


def test_least_file() -> None:
    """Names and an address are enough; names may be in any script."""
    model = parsed(LEAST)

    assert (model.name, model.upstream_model, model.kind) == ("먼-모델", "org/model-7b", Kind.OPENAI)
    assert [(one.name, one.url) for one in model.upstreams] == [("a", "http://127.0.0.1:8000/v1")]
    assert (model.timeouts, model.retries, model.breaking, model.bounds) == (
        Timeouts(),
        Retries(),
        Breaking(),
        Bounds(),
    )


def test_every_field(tmp_path: Path) -> None:
    """What the file says is what holds; paths of keys count from its folder."""
    (tmp_path / "remote.yaml").write_text(WHOLE, encoding="utf-8")
    (model,) = read_remote(tmp_path / "remote.yaml").models
    first, second = model.upstreams

    assert (model.kind, model.answers_as, model.digest, model.revision) == (
        Kind.UNMASK, ("m", "m-2"), "0123456789abcdef", "2",
    )  # fmt: skip
    assert (model.context_length, model.default_max_tokens) == (4096, 100)
    assert (model.include_usage, model.asks_models, model.has_logprobs) == (False, False, True)
    assert model.timeouts == Timeouts(connect=1, first_byte=2, idle=3, total=4)
    assert model.timeouts_of("interactive") == Timeouts(total=9)
    assert model.timeouts_of("batch") == model.timeouts
    assert model.retries == Retries(limit=0, base=0.5, longest=2)
    assert model.breaking == Breaking(failures=1, open=2.5)
    assert model.bounds == Bounds(bytes_per_token=10, base_bytes=20, event_bytes=30)
    assert (first.key.env, first.concurrency, first.queue, first.allow_link_local) == ("A_KEY", 2, 0, True)
    assert (second.key.file, second.proxy) == (tmp_path / "keys" / "b", "http://proxy:3128")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: unmask", "kind: vlm", "models.0.kind"),
        ("revision:", "revison:", "models.0.revison is no field"),
        ("key_env: A_KEY", "key: sk-secret", "never stands here"),
        ("key_env: A_KEY", "key_env: sk-secret", "key_env does not fit"),
        ("key_env: A_KEY", "key_env: A, key_file: b", "both set"),
        ("http://a/v1", "http://u:sk-secret@a/v1", "models.0.upstreams.0.url carries credentials"),
        ("http://a/v1", "gopher://a/v1", "models.0.upstreams.0.url"),
        ("http://proxy:3128", "socks5://proxy", "models.0.upstreams.1.proxy"),
        ("name: b", "name: a", "twice"),
        ("concurrency: 2", "concurrency: 0", "concurrency does not fit"),
        ("concurrency: 2", 'concurrency: "2"', "concurrency does not fit"),
        ("total: 4.0", "total: .inf", "total does not fit"),
        ("0123456789abcdef", "xyz", "digest does not fit"),
        ("interactive:", "'a b':", "class_timeouts"),
        ("limit: 0", "limit: 1000", "limit does not fit"),
    ],
)
def test_what_does_not_fit(old: str, new: str, message: str) -> None:
    """A field that does not fit is named by its path; no value is shown, for it may be a key."""
    assert old in WHOLE
    with pytest.raises(ConfigError, match=message) as caught:
        parsed(WHOLE.replace(old, new, 1))

    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"models: []", b"models: [1]", b"[", b"a: b: sk-secret", b"\xff", b"x" * (LARGEST_FILE + 1), b"a: !!binary x",
     LEAST.replace("upstreams:", "name: again\n    upstreams:").encode(),
     (LEAST + LEAST.split("models:\n")[1]).encode()],
)  # fmt: skip
def test_what_is_no_such_file(content: bytes) -> None:
    """Malformed files are refused, without a line of theirs."""
    with pytest.raises(ConfigError) as caught:
        parse_remote(content, Path())

    assert "sk-secret" not in str(caught.value)


VLLM = LEAST.replace(
    "    upstreams:",
    """    kind: vllm
    vllm: {canvas_length: 256, max_steps: 48, default_steps: 16, canvas_lengths: [64], vocabulary: 262144}
    upstreams:""",
)
SGLANG = """
models:
  - name: far
    upstream_model: m
    kind: sglang
    sglang:
      canvas_length: 32
      pools:
        - {name: quick, steps: 8, threshold: 0.8, buckets: [XS, S]}
        - {name: careful, steps: 32}
    upstreams:
      - {name: a, url: "http://a/v1", pool: quick}
      - {name: b, url: "http://b/v1", pool: careful}
"""


def test_how_engines_were_launched() -> None:
    """What they do not say themselves stands in the file."""
    assert parsed(VLLM).vllm == VllmSettings(
        canvas_length=256, max_steps=48, default_steps=16, canvas_lengths=(64,), vocabulary=262_144
    )
    model = parsed(SGLANG)
    assert [one.pool for one in model.upstreams] == ["quick", "careful"]
    assert model.sglang == SglangSettings(
        canvas_length=32,
        pools=(
            PoolSettings(name="quick", steps=8, threshold=0.8, buckets=(Bucket.XS, Bucket.S)),
            PoolSettings(name="careful", steps=32),
        ),
    )


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (VLLM, "kind: vllm", "kind: openai", "kind is openai, and vllm is of kind vllm"),
        (VLLM, "kind: vllm", "kind: sglang", "vllm is of kind vllm"),
        (VLLM, "    vllm: {", "    digest: {", "digest does not fit"),
        (VLLM, "max_steps: 48, ", "", r"vllm.max_steps does not fit"),
        (VLLM, "default_steps: 16", "default_steps: 49", "vllm.default_steps is 49, allowed: 1 to 48"),
        (VLLM, "[64]", "[512]", "vllm.canvas_lengths is 512, allowed: up to 256"),
        (VLLM, "vocabulary", "mask_token: 1, vocabulary", "vocabulary and mask_token are both set"),
        (VLLM, "max_steps: 48", "max_steps: 48, metrics_path: http://elsewhere/", "metrics_path does not fit"),
        (VLLM, "{name: a,", "{name: a, pool: quick,", "pool is 'quick', allowed: none"),
        (SGLANG, "kind: sglang", "kind: openai", "sglang is of kind sglang"),
        (SGLANG, ", pool: quick", "", "upstreams.0.pool is None, allowed: quick, careful"),
        (SGLANG, "pool: quick", "pool: slow", "upstreams.0.pool is 'slow', allowed: quick, careful"),
        (SGLANG, "pool: quick", "pool: careful", "pools holds 'quick', which no upstream belongs to"),
        (SGLANG, "name: careful", "name: quick", "pools holds 'quick' twice"),
        (SGLANG, "steps: 32", "steps: 32, buckets: [S]", "twice"),
        (SGLANG, "steps: 32", "steps: 0", "steps does not fit"),
        (SGLANG, "[XS, S]", "[XXL]", "buckets.0 does not fit"),
    ],
)
def test_how_engines_cannot_have_been_launched(text: str, old: str, new: str, message: str) -> None:
    """The place is named, and what is allowed there."""
    assert old in text
    with pytest.raises(ConfigError, match=message):
        parsed(text.replace(old, new, 1))


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The message names the file."""
    with pytest.raises(ConfigError, match=r"nope\.yaml"):
        read_remote(tmp_path / "nope.yaml")
