"""The file of upstreams: one document, strict. There is no field for a key itself."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from unmask.remote.engines import METRICS_PATH
from unmask.remote.settings import Kind
from unmask.types import Bucket

Name = Annotated[str, StringConstraints(pattern=r"^[^\s,\x00-\x1f\x7f]{1,200}$")]
ClassName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Path = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$")]
Seconds = Annotated[float, Field(ge=0.001, le=86_400, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1 << 30)]


class Document(BaseModel):
    """A part of the file: no other names, nothing converted."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", frozen=True)


class TimeoutsDocument(Document):
    """Seconds that an upstream may take; see `unmask.remote.settings.Timeouts`."""

    connect: Seconds = 5.0
    first_byte: Seconds = 60.0
    idle: Seconds = 30.0
    total: Seconds = 600.0


class RetriesDocument(Document):
    """Further tries."""

    limit: Annotated[int, Field(ge=0, le=20)] = 2
    base: Seconds = 0.25
    longest: Seconds = 8.0


class BreakingDocument(Document):
    """When an upstream is left alone."""

    failures: Count = 5
    open: Seconds = 15.0


class BoundsDocument(Document):
    """How much an upstream may answer."""

    bytes_per_token: Count = 4_096
    base_bytes: Count = 65_536
    event_bytes: Count = 1 << 20


class UpstreamDocument(Document):
    """One server."""

    name: Name
    url: str
    key_env: Variable | None = None
    key_file: Path | None = None
    concurrency: Annotated[int, Field(ge=1, le=65_536)] = 64
    queue: Annotated[int, Field(ge=0, le=1_000_000)] = 256
    allow_link_local: bool = False
    proxy: str | None = None
    pool: Name | None = None


class VllmDocument(Document):
    """How a vLLM was launched; see `unmask.remote.engines.VllmSettings`."""

    canvas_length: Count
    max_steps: Count
    default_steps: Count | None = None
    canvas_lengths: list[Count] = []
    vocabulary: Count | None = None
    mask_token: Annotated[int, Field(ge=0, le=1 << 30)] | None = None
    metrics_path: Annotated[str, StringConstraints(pattern=r"^/[^\s?#]*$")] | None = METRICS_PATH


class PoolDocument(Document):
    """Servers of one setting; see `unmask.remote.engines.PoolSettings`."""

    name: Name
    steps: Count
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    buckets: list[Bucket] = []


class SglangDocument(Document):
    """How SGLang servers were launched; see `unmask.remote.engines.SglangSettings`."""

    canvas_length: Count
    pools: Annotated[list[PoolDocument], Field(min_length=1, max_length=64)]


class ModelDocument(Document):
    """A model that one or several servers serve."""

    name: Name
    upstream_model: Name
    upstreams: Annotated[list[UpstreamDocument], Field(min_length=1, max_length=256)]
    kind: Kind = Kind.OPENAI
    answers_as: list[Name] = []
    digest: Digest | None = None
    revision: str = ""
    context_length: Count = 131_072
    default_max_tokens: Count = 1_024
    include_usage: bool = True
    asks_models: bool = True
    has_logprobs: bool = False
    vllm: VllmDocument | None = None
    sglang: SglangDocument | None = None
    timeouts: TimeoutsDocument = TimeoutsDocument()
    class_timeouts: dict[ClassName, TimeoutsDocument] = {}
    retries: RetriesDocument = RetriesDocument()
    breaking: BreakingDocument = BreakingDocument()
    bounds: BoundsDocument = BoundsDocument()


class RemoteDocument(Document):
    """All models that other servers serve."""

    models: Annotated[list[ModelDocument], Field(min_length=1, max_length=1_024)]
