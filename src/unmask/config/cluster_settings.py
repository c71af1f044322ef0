"""Settings of a deployment on a cluster: their types, what they allow and what they mean."""

from typing import Annotated

from unmask.config.rules import Group, Range, Setting

ClusterGateways = Annotated[
    int, Setting(Group.CLUSTER, Range(1, 64), "Gateways: processes that answer HTTP, all alike.")
]

ClusterGatewayCpus = Annotated[
    float, Setting(Group.CLUSTER, Range(0, 1_024), "Processors that the cluster keeps for a gateway.")
]

ClusterMostReplicas = Annotated[
    int,
    Setting(
        Group.CLUSTER,
        Range(0, 64),
        "Most engine replicas; there are at least as many as `replicas` says, and between the two as many as the "
        "predicted work needs. 0 for as many as `replicas` says, always.",
    ),
]

ClusterReplicaCpus = Annotated[
    float, Setting(Group.CLUSTER, Range(0, 1_024), "Processors that the cluster keeps for an engine replica.")
]

ClusterReplicaGpus = Annotated[
    float, Setting(Group.CLUSTER, Range(0, 64), "GPUs that the cluster keeps for an engine replica.")
]

ClusterPrefillReplicas = Annotated[
    int,
    Setting(
        Group.CLUSTER,
        Range(0, 64),
        "Prefill replicas: engines that run long prompts for the others and make no answers. 0 for none: every engine "
        "does both.",
    ),
]

ClusterMostPrefillReplicas = Annotated[
    int,
    Setting(
        Group.CLUSTER,
        Range(0, 64),
        "Most prefill replicas; between `cluster_prefill_replicas` and these there are as many as the predicted work "
        "needs. 0 for as many as `cluster_prefill_replicas` says, always.",
    ),
]

ClusterPrefillTokens = Annotated[
    int,
    Setting(
        Group.CLUSTER,
        Range(1, 1_000_000),
        "Prompt tokens that are not cached, from which on a prompt is run on a prefill replica.",
    ),
]

ClusterDrainSeconds = Annotated[
    float,
    Setting(
        Group.CLUSTER,
        Range(0.1, 3_600),
        "Seconds that the work of a replica may be expected to take; beyond it another one is started, up to the most.",
    ),
]

ClusterStartSeconds = Annotated[
    float,
    Setting(Group.CLUSTER, Range(1, 3_600), "Longest that replicas and gateways may take to start."),
]
