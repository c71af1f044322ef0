"""What is said here of a model that another server runs: from the configuration, and from what that server says."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Annotated, ClassVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.backend import Lever, ModelInfo
from unmask.errors import shown
from unmask.policy.policy import DEFAULT_TASK
from unmask.remote.address import BlockingTransport
from unmask.remote.engines import SglangSettings, VllmSettings
from unmask.remote.errors import UnreachableError, UpstreamError, UpstreamProtocolError
from unmask.remote.key import Key
from unmask.remote.settings import Kind, RemoteModel, UpstreamSettings
from unmask.types import ApproximateCache, ApproximateKv, Precision

MODELS_PATH = "/models"
LARGEST_LIST = 4 << 20
LONGEST_S = 10.0
OURS = (Lever.BUDGET, Lever.STRATEGY, Lever.LOGPROBS)
"""Levers of our own servers that requests over HTTP can pull."""
_Whole = Annotated[int, Field(ge=1, le=1 << 40)]


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="ignore", frozen=True)


class ModelEntry(_Part):
    """An entry of ``/v1/models``. Beside the id all is optional: few servers say more.

    ``max_model_len`` is what vLLM calls the context length; the rest is what our own servers say.
    """

    id: str
    max_model_len: _Whole | None = None
    digest: Annotated[str, Field(pattern="^[0-9a-f]{16,64}$")] | None = None
    parameters: _Whole | None = None
    precision: str | None = None
    approximate_cache: str | None = None
    approximate_cache_refresh: _Whole | None = None
    context_length: _Whole | None = None
    canvas_lengths: list[_Whole] = []
    canvas_length: _Whole | None = None
    max_steps: _Whole | None = None
    default_steps: _Whole | None = None
    default_max_tokens: _Whole | None = None
    tasks: list[str] = []
    levers: list[str] | None = None


class _ModelList(_Part):
    data: list[ModelEntry]


def described(model: RemoteModel, upstreams: Sequence[tuple[UpstreamSettings, Key]]) -> ModelInfo:
    """Describe a model.

    Raises:
        UpstreamError: it is of one of our own servers, and none of them says what it serves.
    """
    entry: ModelEntry | None = None
    failed: UpstreamError | None = None
    for settings, key in upstreams if model.asks_models or model.kind is Kind.UNMASK else ():
        try:
            entry = entry or asked(model.upstream_model, settings, key)
        except UpstreamError as error:
            failed = error
    if model.kind is Kind.UNMASK:
        if entry is None:
            raise failed or UnreachableError(model.name, "it has no upstream")
        return _ours(model, entry)
    foreign = _foreign(model, entry)
    if model.vllm is not None:
        return _vllm(foreign, model.vllm)
    return foreign if model.sglang is None else _sglang(foreign, model.sglang)


def asked(name: str, settings: UpstreamSettings, key: Key) -> ModelEntry:
    """Ask a server what it says of a model; this blocks.

    Raises:
        UpstreamError: it does not answer, or does not serve such a model.
    """
    transport = httpx.HTTPTransport(trust_env=False, proxy=settings.proxy)
    checked = (
        transport
        if settings.proxy
        else BlockingTransport(settings.name, transport, allow_link_local=settings.allow_link_local)
    )
    headers = {"user-agent": "unmask", "accept-encoding": "identity", **key.headers()}
    with httpx.Client(transport=checked, headers=headers, timeout=LONGEST_S, trust_env=False) as client:
        try:
            content = _content(client, settings)
        except httpx.HTTPError as error:
            raise UnreachableError(settings.name, f"it cannot be reached ({type(error).__name__})") from error
    try:
        entries = _ModelList.model_validate_json(content).data
    except ValidationError as error:
        raise UpstreamProtocolError(settings.name, f"{MODELS_PATH} answers with no list of models") from error
    found = next((entry for entry in entries if entry.id == name), None)
    if found is None:
        names = ", ".join(entry.id for entry in entries)
        raise UpstreamProtocolError(settings.name, f"it serves no model {shown(name)}, allowed: {shown(names)}")
    return found


def _content(client: httpx.Client, settings: UpstreamSettings) -> bytes:
    content = b""
    with client.stream("GET", settings.url + MODELS_PATH) as response:
        if response.status_code != httpx.codes.OK:
            raise UpstreamProtocolError(settings.name, f"{MODELS_PATH} answers {response.status_code}")
        for piece in response.iter_raw():
            content += piece
            if len(content) > LARGEST_LIST:
                raise UpstreamProtocolError(settings.name, f"{MODELS_PATH} answers more than {LARGEST_LIST} bytes")
    return content


def _ours(model: RemoteModel, entry: ModelEntry) -> ModelInfo:
    """Describe a model of one of our own servers: it says all of it itself.

    What it does not take over HTTP is no lever here: exit rules, drafts, snapshots and traces.
    """
    given = (entry.digest, entry.context_length, entry.canvas_length, entry.max_steps, entry.default_steps)
    if None in given:
        raise UpstreamProtocolError(model.name, f"{MODELS_PATH} does not say of {entry.id} what our own servers say")
    digest, context, canvas, steps, default = given
    assert digest is not None, "looked at just now"
    assert context is not None, "same"
    assert canvas is not None, "same"
    assert steps is not None, "same"
    assert default is not None, "same"
    return ModelInfo(
        name=model.name,
        digest=model.digest or digest,
        parameters=entry.parameters,
        precision=Precision(entry.precision) if entry.precision in set(Precision) else None,
        context_length=context,
        canvas_lengths=tuple(entry.canvas_lengths),
        default_canvas_length=canvas,
        max_steps=steps,
        default_steps=default,
        default_max_tokens=entry.default_max_tokens or model.default_max_tokens,
        tasks=tuple(task for task in entry.tasks if task != DEFAULT_TASK),
        levers=tuple(lever for lever in OURS if entry.levers is None or lever.value in entry.levers),
        approximate=_approximate(entry),
    )


def _approximate(entry: ModelEntry) -> ApproximateKv | None:
    if entry.approximate_cache not in set(ApproximateCache):
        return None
    return ApproximateKv(cache=ApproximateCache(entry.approximate_cache), refresh=entry.approximate_cache_refresh)


def _foreign(model: RemoteModel, entry: ModelEntry | None) -> ModelInfo:
    """Describe a model of any other server.

    Its digest is not one of weights, which nobody tells: it is made of the names it is asked for under, and of the
    operator's ``revision``, so that policies and gate runs bound to it hold until the operator says otherwise. An
    answer that says it is of another model is refused (`UpstreamChangedError`).

    It counts as writing token by token, each token a canvas of one step. So the most that a request may cost, which is
    reserved for it, is a step for each token; no server takes more.
    """
    said = entry.max_model_len or entry.context_length if entry else None
    context = min(model.context_length, said or model.context_length)
    return ModelInfo(
        name=model.name,
        digest=model.digest or digest_of(model),
        parameters=None,
        precision=None,
        context_length=context,
        canvas_lengths=(),
        default_canvas_length=1,
        max_steps=1,
        default_steps=1,
        default_max_tokens=min(model.default_max_tokens, context),
        tasks=(),
        levers=(Lever.LOGPROBS,) if model.has_logprobs else (),
    )


def _vllm(foreign: ModelInfo, settings: VllmSettings) -> ModelInfo:
    """Add the budget that a vLLM takes with each request, and drafts where it is known what they start from."""
    drafts = (Lever.DRAFT,) if settings.takes_drafts else ()
    return replace(
        foreign,
        canvas_lengths=tuple(sorted({*settings.canvas_lengths, settings.canvas_length})),
        default_canvas_length=settings.canvas_length,
        max_steps=settings.max_steps,
        default_steps=settings.default_steps or settings.max_steps,
        levers=(Lever.BUDGET, *drafts, *foreign.levers),
    )


def _sglang(foreign: ModelInfo, settings: SglangSettings) -> ModelInfo:
    """Add the budgets that there are pools for."""
    steps = settings.default_pool.steps
    return replace(
        foreign,
        default_canvas_length=settings.canvas_length,
        max_steps=steps,
        default_steps=steps,
        levers=(Lever.BUDGET, *foreign.levers),
    )


def digest_of(model: RemoteModel) -> str:
    """Return 32 hexadecimal digits that stand for what is asked for: model, revision, names of answers.

    How an engine was launched counts too, since budgets mean something else with another canvas or threshold.
    """
    launched = [repr(settings) for settings in (model.vllm, model.sglang) if settings is not None]
    names = sorted(model.answers_as)
    parts = "\0".join((model.kind.value, model.upstream_model, model.revision, *names, *launched))
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16, person=b"unmask-remote").hexdigest()
