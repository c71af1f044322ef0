"""What a deployment may not be made of."""

from collections.abc import Mapping

from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.database.place import database_url
from unmask.errors import ConfigError, NoCapacityError

SHARED = "postgresql"


def check_settings(settings: Settings) -> None:
    """Refuse settings that processes on several machines cannot share.

    Raises:
        ConfigError: naming the setting, what is allowed and the fix.
    """
    if settings.remote is not None:
        raise ConfigError(
            f"remote is {settings.remote}, allowed: none in a deployment, whose engines are its own. Give the file to "
            "`unmask serve`.",
            param="remote",
        )
    if settings.port == 0:
        raise ConfigError("port is 0, allowed: 1 to 65535 in a deployment, whose gateways share it", param="port")
    most = settings.cluster_most_replicas
    if 0 < most < settings.replicas:
        raise ConfigError(
            f"cluster_most_replicas is {most}, allowed: 0, or {settings.replicas} and more, as there always are as "
            "many as replicas says",
            param="cluster_most_replicas",
        )
    _check_pools(settings)
    needs_books = settings.database is not None or settings.keys is KeyMode.REQUIRED
    if needs_books and database_url(settings.database, {}).get_backend_name() != SHARED:
        raise ConfigError(
            "database is a file, allowed: a URL of PostgreSQL (postgresql://...) in a deployment: every machine would "
            "keep books of its own, and limits would hold nobody",
            param="database",
        )


def check_room(settings: Settings, resources: Mapping[str, float]) -> None:
    """Refuse a cluster that has no room for the replicas that there always are, however long one waits.

    Args:
        settings: of the deployment.
        resources: all that the cluster has, used or not.

    Raises:
        NoCapacityError: with what is needed and what there is.
    """
    engines = settings.replicas + settings.cluster_prefill_replicas
    cpus = engines * settings.cluster_replica_cpus + settings.cluster_gateways * settings.cluster_gateway_cpus
    gpus = engines * settings.cluster_replica_gpus
    pools = f", {settings.cluster_prefill_replicas} prefill replicas" if settings.cluster_prefill_replicas else ""
    for kind, needed in (("CPU", cpus), ("GPU", gpus)):
        there = resources.get(kind, 0.0)
        if needed > there:
            raise NoCapacityError(
                f"the cluster has {there:g} {kind}s and {needed:g} are needed for {settings.replicas} engine replicas"
                f"{pools} and {settings.cluster_gateways} gateways; add nodes, or lower replicas, cluster_gateways or "
                "what each of them takes"
            )


def _check_pools(settings: Settings) -> None:
    least, most = settings.cluster_prefill_replicas, settings.cluster_most_prefill_replicas
    if 0 < most < least or (most and not least):
        allowed = f"0, or {least} and more" if least else "0, as there are no prefill replicas"
        raise ConfigError(
            f"cluster_most_prefill_replicas is {most}, allowed: {allowed}: there always are as many as "
            "cluster_prefill_replicas says",
            param="cluster_most_prefill_replicas",
        )
