"""Behaviour of `unmask.cluster.checks`."""

from dataclasses import replace
from typing import Any

import pytest

from unmask.cluster.checks import check_room, check_settings
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.errors import ConfigError, NoCapacityError


@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({"remote": "remote.yaml"}, "remote", "allowed: none in a deployment"),
        ({"port": 0}, "port", "allowed: 1 to 65535"),
        ({"replicas": 3, "cluster_most_replicas": 2}, "cluster_most_replicas", "allowed: 0, or 3 and more"),
        (
            {"cluster_prefill_replicas": 2, "cluster_most_prefill_replicas": 1},
            "cluster_most_prefill_replicas",
            "allowed: 0, or 2 and more",
        ),
        ({"cluster_most_prefill_replicas": 1}, "cluster_most_prefill_replicas", "as there are no prefill replicas"),
        ({"database": "장부.db"}, "database", "allowed: a URL of PostgreSQL"),
        ({"keys": KeyMode.REQUIRED}, "database", "allowed: a URL of PostgreSQL"),
    ],
)
def test_what_machines_cannot_share_is_refused(changes: dict[str, Any], param: str, message: str) -> None:
    """Each names the setting, what is allowed and why."""
    with pytest.raises(ConfigError, match=message) as caught:
        check_settings(Settings(**changes))

    assert caught.value.param == param


def test_a_shared_ledger_is_fine() -> None:
    """PostgreSQL, with keys or without; and no ledger at all."""
    check_settings(Settings())
    check_settings(Settings(database="postgresql://me@db/unmask", keys=KeyMode.REQUIRED))


def test_a_cluster_that_is_too_small_is_refused_with_the_numbers() -> None:
    """However long one waited, it would not fit."""
    settings = Settings(replicas=2, cluster_replica_cpus=4, cluster_gateways=2)
    with pytest.raises(NoCapacityError, match="has 4 CPUs and 10 are needed for 2 engine replicas and 2 gateways"):
        check_room(settings, {"CPU": 4.0})
    with pytest.raises(NoCapacityError, match="has 0 GPUs and 2 are needed"):
        check_room(Settings(replicas=2, cluster_replica_gpus=1), {"CPU": 8.0})

    with pytest.raises(NoCapacityError, match="14 are needed for 2 engine replicas, 1 prefill replicas and 2 gateways"):
        check_room(replace(settings, cluster_prefill_replicas=1), {"CPU": 10.0})

    check_room(settings, {"CPU": 10.0})
