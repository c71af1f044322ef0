"""A gate run as the request that begins a training job of Amazon SageMaker.

Documented at https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html.
"""

from collections.abc import Mapping
from dataclasses import dataclass

ENTRYPOINT = ("unmask", "gate", "generate")
HOUR_S = 3600
CACHE = "/tmp"  # noqa: S108 - one of the folders that lie on the job's own volume, where weights fit

JobRequest = Mapping[str, object]
"""A request in the service's own words, so that whatever the service knows can be added by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTerms:
    """What a job runs on, and for how long.

    Attributes:
        name: no other job of the account and region has had it.
        role: ARN of what the container may do.
        hours: after so many it is stopped.
        spot_hours: how long it may wait for spot capacity, interruptions included; ``None`` takes it off spot.
        environment: of the container; anyone who may describe the job reads it.
    """

    name: str
    image: str
    role: str
    instance: str
    volume_gb: int
    hours: float
    spot_hours: float | None
    environment: Mapping[str, str]


def job_request(terms: JobTerms, asking: tuple[str, ...], out: str) -> JobRequest:
    """Return the request of a job that gives ``asking`` to ``unmask gate generate``, whose answers go to ``out``.

    An interrupted job is begun anew by the service. It asks what has no answer in ``out`` yet, so nothing else is a
    checkpoint. What the service itself leaves of a job goes there too, into a folder of its own.
    """
    run_s = round(terms.hours * HOUR_S)
    stopping = {"MaxRuntimeInSeconds": run_s}
    if terms.spot_hours is not None:
        stopping["MaxWaitTimeInSeconds"] = run_s + round(terms.spot_hours * HOUR_S)
    return {
        "TrainingJobName": terms.name,
        "RoleArn": terms.role,
        "AlgorithmSpecification": {
            "TrainingImage": terms.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": list(ENTRYPOINT),
            "ContainerArguments": list(asking),
        },
        "OutputDataConfig": {"S3OutputPath": f"{out.rstrip('/')}/job"},
        "ResourceConfig": {
            "InstanceType": terms.instance,
            "InstanceCount": 1,
            "VolumeSizeInGB": terms.volume_gb,
        },
        "StoppingCondition": stopping,
        "EnableManagedSpotTraining": terms.spot_hours is not None,
        "Environment": {"XDG_CACHE_HOME": CACHE, **terms.environment},
    }
