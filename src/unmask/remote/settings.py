"""What an operator decides about upstreams; `unmask.remote.file` reads it from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from unmask.remote.engines import SglangSettings, VllmSettings


class Kind(StrEnum):
    """What an upstream is, which decides what may be asked of it.

    ``openai``: any server of the OpenAI API; it has no step budget. ``unmask``: one of ours, which has. ``vllm``: a
    diffusion model in vLLM, which takes a cap on steps with each request. ``sglang``: one in SGLang, whose steps are
    a setting of the server, so that there are pools of servers with different ones.
    """

    OPENAI = "openai"
    UNMASK = "unmask"
    VLLM = "vllm"
    SGLANG = "sglang"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds that an upstream may take.

    Attributes:
        connect: to accept a connection, TLS included.
        first_byte: from then to the first byte of its answer's body.
        idle: between two pieces of it.
        total: for all of it, further tries included.
    """

    connect: float = 5.0
    first_byte: float = 60.0
    idle: float = 30.0
    total: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Further tries of a request of whose answer nothing was passed on.

    Attributes:
        limit: how many.
        base: seconds of the longest pause before the first of them; it doubles with each.
        longest: seconds of the longest pause of all. An upstream that asks for more is not waited for.
    """

    limit: int = 2
    base: float = 0.25
    longest: float = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaking:
    """When an upstream is left alone: after so many failures in a row, for so many seconds."""

    failures: int = 5
    open: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """Where the key of an upstream is: in an environment variable or in a file, never in the configuration."""

    env: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much an upstream may answer.

    Attributes:
        bytes_per_token: most bytes of a stream for each token of ``max_tokens``, its JSON around them included.
        base_bytes: and so many beside these.
        event_bytes: most bytes of one event.
    """

    bytes_per_token: int = 4_096
    base_bytes: int = 65_536
    event_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """One server.

    Attributes:
        name: what messages call it.
        url: base address, such as ``https://host/v1``.
        concurrency: most requests at it at once.
        queue: most requests that wait for one of these places.
        allow_link_local: whether link-local and metadata addresses may be connected to.
        proxy: address of a proxy; those of the environment are never used.
        pool: which of the model's pools it belongs to; of kind ``sglang``, and of no other.
    """

    name: str
    url: str
    key: KeySource = KeySource()
    concurrency: int = 64
    queue: int = 256
    allow_link_local: bool = False
    proxy: str | None = None
    pool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteModel:
    """A model that one or several servers serve.

    Attributes:
        name: what clients call it here.
        upstream_model: what the servers call it.
        answers_as: names that answers may carry. Without any, the first answer's name is the one for all others.
        digest: of its weights, 16 to 64 hexadecimal digits, where the operator knows them.
        revision: anything that an operator changes when the model behind the name changes.
        context_length: most tokens of prompt and answer together.
        default_max_tokens: tokens of an answer whose request names none; some number is always sent.
        include_usage: whether the servers take ``stream_options.include_usage``.
        asks_models: whether servers are asked at the start what they say of the model; ours always have to be.
        has_logprobs: whether the servers give log-probabilities; where not, requests for them are refused.
        vllm: of kind ``vllm``, and of no other.
        sglang: of kind ``sglang``, and of no other.
        class_timeouts: by service class, in place of ``timeouts``.
    """

    name: str
    upstream_model: str
    upstreams: tuple[UpstreamSettings, ...]
    kind: Kind = Kind.OPENAI
    answers_as: tuple[str, ...] = ()
    digest: str | None = None
    revision: str = ""
    context_length: int = 131_072
    default_max_tokens: int = 1_024
    include_usage: bool = True
    asks_models: bool = True
    has_logprobs: bool = False
    vllm: VllmSettings | None = None
    sglang: SglangSettings | None = None
    timeouts: Timeouts = Timeouts()
    class_timeouts: Mapping[str, Timeouts] = field(default_factory=lambda: MappingProxyType({}))
    retries: Retries = Retries()
    breaking: Breaking = Breaking()
    bounds: Bounds = Bounds()

    def timeouts_of(self, service_class: str) -> Timeouts:
        """Return those of a service class."""
        return self.class_timeouts.get(service_class, self.timeouts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    """All models that other servers serve."""

    models: tuple[RemoteModel, ...]
