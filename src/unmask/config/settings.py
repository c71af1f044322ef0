"""The one schema of settings; the file, the environment, the flags and the manual are read off it."""

from dataclasses import dataclass
from typing import Annotated

from unmask.config.approximate_settings import ApproximateCacheChoice, ApproximateCacheRefresh
from unmask.config.cache_settings import (
    CacheAuditShare,
    CacheBytes,
    CacheChoice,
    CacheEmbeddings,
    CacheEntries,
    CacheSimilarity,
    CacheTtl,
)
from unmask.config.choices import CacheMode, KeyMode, Switch
from unmask.config.cluster_settings import (
    ClusterDrainSeconds,
    ClusterGatewayCpus,
    ClusterGateways,
    ClusterMostPrefillReplicas,
    ClusterMostReplicas,
    ClusterPrefillReplicas,
    ClusterPrefillTokens,
    ClusterReplicaCpus,
    ClusterReplicaGpus,
    ClusterStartSeconds,
)
from unmask.config.connection_settings import (
    BodyTimeoutS,
    HeaderTimeoutS,
    KeepAliveS,
    MaxConnections,
    MaxHeaderBytes,
    MaxHeaders,
    MaxTargetBytes,
    MinBodyRate,
    WriteTimeoutS,
)
from unmask.config.durability import Durability
from unmask.config.reward_settings import RewardKeyEnv, RewardKeyFile, RewardTimeout, RewardUrl
from unmask.config.rules import Address, Folder, Group, Names, OneOf, Range, Setting, Url
from unmask.service import Batching
from unmask.types import ApproximateCache, Device, Precision

_SECONDS = Range(0.01, 3_600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that an operator decides about a server; `unmask.config.load` checks what comes from outside."""

    host: Annotated[
        str,
        Setting(
            Group.SERVER,
            Address(),
            "Address to listen on. Without keys loopback only, since whoever reaches the port may use it.",
        ),
    ] = "127.0.0.1"
    port: Annotated[int, Setting(Group.SERVER, Range(0, 65_535), "Port to listen on; 0 takes a free one.")] = 8_000
    allowed_hosts: Annotated[
        tuple[str, ...],
        Setting(
            Group.SERVER,
            Names("host names, without port", r"[A-Za-z0-9._-]+"),
            "Names that `Host` and `Origin` headers may carry beside this machine's own, such as a proxy's public one. "
            "With keys any name may call.",
            empty="this machine's own only",
        ),
    ] = ()
    drain_s: Annotated[
        float,
        Setting(Group.SERVER, Range(0, 3_600), "Seconds that running requests have to finish after a stop signal."),
    ] = 30.0

    keys: Annotated[
        KeyMode,
        Setting(Group.KEYS, OneOf(KeyMode), "Whether every request needs an API key; health probes never do."),
    ] = KeyMode.OFF
    pepper_file: Annotated[
        str | None,
        Setting(
            Group.KEYS,
            Folder(),
            "File of the secret that keys are hashed with, made when first needed. Without it no key opens anything.",
            empty="unmask/pepper in $XDG_STATE_HOME, else in ~/.local/state",
        ),
    ] = None
    wrong_key_limit: Annotated[
        int,
        Setting(
            Group.KEYS,
            Range(0, 1_000_000),
            "Wrong keys of one address in a minute, after which only keys that are known are let in from it; 0 for no "
            "limit. This machine's own addresses have none.",
        ),
    ] = 60
    tiers: Annotated[
        tuple[str, ...],
        Setting(
            Group.KEYS,
            Names(
                "pairs such as flex=batch, one a tier",
                r"(?:fast|flex|priority|scale)=[A-Za-z0-9][A-Za-z0-9_.-]{0,63}",
                until="=",
            ),
            "Service classes that the tiers of the OpenAI API stand for.",
            empty="none: tiers are refused",
        ),
    ] = ("fast=interactive", "flex=batch", "priority=interactive")

    models: Annotated[
        tuple[str, ...],
        Setting(Group.ENGINE, Names("names, folders or Hub ids"), "Models to load.", empty="every one in the package"),
    ] = ()
    remote: Annotated[
        str | None,
        Setting(
            Group.ENGINE,
            Folder(is_read=True),
            "File of models that other servers run. With it no model runs here, so models has to be empty.",
            empty="models run here",
        ),
    ] = None
    routes: Annotated[
        str | None,
        Setting(
            Group.ENGINE,
            Folder(is_read=True),
            "File of routes: names that the smaller of two models serves where it is likely enough to be right, and "
            "the larger one otherwise.",
            empty="none",
        ),
    ] = None
    replicas: Annotated[
        int,
        Setting(
            Group.ENGINE,
            Range(1, 64),
            "Engines of each model that run here, each with rows and pages of its own; requests go where their prompt "
            "is cached, unless that engine is too busy.",
        ),
    ] = 1
    max_rows: Annotated[
        int,
        Setting(
            Group.ENGINE,
            Range(1, 1_024),
            "Most rows in one forward: requests of one model that run at once, those aside that pause.",
        ),
    ] = 16
    page_pool_tokens: Annotated[
        int | None,
        Setting(
            Group.ENGINE,
            Range(256, 1 << 30),
            "Tokens that the KV pages of one model hold; a request waits until its worst case is free.",
            empty="measured: three full batches, within half of the free memory",
        ),
    ] = None
    device: Annotated[
        Device, Setting(Group.ENGINE, OneOf(Device), "Where checkpoints run; auto takes a CUDA device if there is one.")
    ] = Device.AUTO
    precision: Annotated[
        Precision | None,
        Setting(
            Group.ENGINE,
            OneOf(Precision),
            "Precision of weights and products; all but float32 keep KV pages in bfloat16, which halves them.",
            empty="float32; of a checkpoint its own",
        ),
    ] = None
    extra_precisions: Annotated[
        tuple[str, ...],
        Setting(
            Group.ENGINE,
            Names("precisions: float32, bfloat16, int8 or int4", "|".join(Precision)),
            "Further precisions that models are served in, for a policy to choose among; "
            "each takes weights and KV pages of its own.",
            empty="none",
        ),
    ] = ()
    threads: Annotated[
        int | None,
        Setting(Group.ENGINE, Range(1, 1_024), "Processor threads of a forward.", empty="torch decides"),
    ] = None

    batching: Annotated[
        Batching,
        Setting(
            Group.ENGINE,
            OneOf(Batching),
            "Whether requests join and leave a batch at every step, or a batch of one bucket runs as a whole.",
        ),
    ] = Batching.STEP
    tick_tokens: Annotated[
        int,
        Setting(
            Group.ENGINE,
            Range(1, 1 << 20),
            "Most tokens in one forward, of canvases and prompts together; rows beyond it pause.",
        ),
    ] = 65_536
    fast_tick_tokens: Annotated[
        int,
        Setting(
            Group.ENGINE,
            Range(1, 1 << 20),
            "Tokens of a fast tick: rows of other classes join interactive work up to so many; "
            "the fewer, the quicker are its steps.",
        ),
    ] = 64
    page_reserves: Annotated[
        tuple[str, ...],
        Setting(
            Group.ENGINE,
            Names("reserves such as interactive=0.25", r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}=0\.\d{1,6}"),
            "Shares of the KV pages that are kept for service classes, below 1 together.",
            empty="none",
        ),
    ] = ()

    queue_limit: Annotated[
        int,
        Setting(
            Group.REQUESTS,
            Range(1, 1_000_000),
            "Requests of one service class that may wait beside those that run; one more is refused with 429.",
        ),
    ] = 256
    queue_patience_s: Annotated[
        float,
        Setting(
            Group.REQUESTS,
            _SECONDS,
            "Seconds of waiting after which a queue is said to be behind, where its class has no deadline.",
        ),
    ] = 60.0
    quality_floor: Annotated[
        int,
        Setting(
            Group.REQUESTS,
            Range(0, 3),
            "Lowest quality level that load brings requests to whose service class says nothing of it: searches as "
            "wide as asked for with 0, of at most 4, 2 and 1 answers with 1, 2 and 3.",
        ),
    ] = 3
    fill_wait_s: Annotated[
        float,
        Setting(
            Group.REQUESTS,
            Range(0, 3_600),
            "Seconds for which a request may be passed over while its bucket does not fill an aligned batch, or be "
            "held on an idle engine for others to join it.",
        ),
    ] = 0.1
    max_body_bytes: Annotated[
        int,
        Setting(Group.REQUESTS, Range(1_024, 1 << 30), "Longest request body; a longer one is refused with 413."),
    ] = 1 << 20

    policy_dir: Annotated[
        str | None,
        Setting(
            Group.POLICY,
            Folder(),
            "Folder of budget policies and of the log of who approved them.",
            empty="unmask/policy in $XDG_STATE_HOME, else in ~/.local/state",
        ),
    ] = None
    promotion_gate: Annotated[
        str | None,
        Setting(
            Group.POLICY,
            Folder("a path, or example"),
            "Gate file that a policy has to have passed before it is promoted: `unmask policy promote --gate RUN`.",
            empty="an approval is enough",
        ),
    ] = None

    prompt_refinement: Annotated[
        Switch,
        Setting(
            Group.SAVINGS,
            OneOf(Switch),
            "Whether prompts are relieved of what says nothing new, where a verifier can tell what that does.",
        ),
    ] = Switch.OFF
    refinement_control: Annotated[
        float,
        Setting(
            Group.SAVINGS,
            Range(0.001, 1),
            "Share of refined requests that are answered unrefined as well, so that both can be compared.",
        ),
    ] = 0.05
    confidence_stop: Annotated[
        Switch,
        Setting(
            Group.SAVINGS,
            OneOf(Switch),
            "Whether an answer ends once its task type's verifier finds it complete.",
        ),
    ] = Switch.OFF
    approximate_cache: ApproximateCacheChoice = ApproximateCache.OFF
    approximate_cache_refresh: ApproximateCacheRefresh = None

    database: Annotated[
        str | None,
        Setting(
            Group.LEDGER,
            Folder("the path of a file, or a URL of PostgreSQL (postgresql://...)"),
            "Database of the ledger and of keys.",
            empty="with keys unmask/unmask.db in $XDG_STATE_HOME, else in ~/.local/state; else nothing is booked",
        ),
    ] = None
    durability: Annotated[
        Durability,
        Setting(
            Group.LEDGER,
            OneOf(Durability),
            "What a booking survives: the end of the process, or with a wait on the disk for each a loss of power too.",
        ),
    ] = Durability.PROCESS
    prices: Annotated[
        str | None,
        Setting(Group.LEDGER, Folder(is_read=True), "File of the price book.", empty="nothing costs anything"),
    ] = None

    cache: CacheChoice = CacheMode.OFF
    cache_entries: CacheEntries = 10_000
    cache_bytes: CacheBytes = 64 << 20
    cache_ttl_s: CacheTtl = 3_600.0
    cache_audit_share: CacheAuditShare = 0.02
    cache_embeddings: CacheEmbeddings = None
    cache_similarity: CacheSimilarity = 0.0
    reward_url: RewardUrl = None
    reward_key_env: RewardKeyEnv = None
    reward_key_file: RewardKeyFile = None
    reward_timeout_s: RewardTimeout = 2.0

    otlp_endpoint: Annotated[
        str | None,
        Setting(
            Group.TRACING,
            Url(),
            "Where traces go, by OTLP over HTTP. Prompts and answers never do. Needs the extra `otel`.",
            empty="nowhere",
        ),
    ] = None
    trace_share: Annotated[
        float,
        Setting(
            Group.TRACING,
            Range(0, 1),
            "Share of requests that are traced; a caller who traces its request decides for that one.",
        ),
    ] = 1.0

    max_connections: MaxConnections = 1_024
    max_target_bytes: MaxTargetBytes = 8_192
    max_headers: MaxHeaders = 100
    max_header_bytes: MaxHeaderBytes = 32_768
    header_timeout_s: HeaderTimeoutS = 10.0
    body_timeout_s: BodyTimeoutS = 60.0
    min_body_rate: MinBodyRate = 256
    write_timeout_s: WriteTimeoutS = 30.0
    # Longer than clients keep idle connections, so that it is they who close them and no request is lost in between.
    keep_alive_s: KeepAliveS = 75.0
    cluster_gateways: ClusterGateways = 1
    cluster_gateway_cpus: ClusterGatewayCpus = 1.0
    cluster_most_replicas: ClusterMostReplicas = 0
    cluster_replica_cpus: ClusterReplicaCpus = 1.0
    cluster_replica_gpus: ClusterReplicaGpus = 0.0
    cluster_prefill_replicas: ClusterPrefillReplicas = 0
    cluster_most_prefill_replicas: ClusterMostPrefillReplicas = 0
    cluster_prefill_tokens: ClusterPrefillTokens = 512
    cluster_drain_s: ClusterDrainSeconds = 5.0
    cluster_start_s: ClusterStartSeconds = 120.0
