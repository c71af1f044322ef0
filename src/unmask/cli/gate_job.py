"""``unmask gate job``."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import orjson

from unmask.cli.arguments import Parser
from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_generate_parser import add_asking
from unmask.cli.tools import Tools
from unmask.errors import shown
from unmask.gate.jobs.errors import JobFileError
from unmask.gate.jobs.request import ENTRYPOINT, JobRequest, JobTerms, job_request
from unmask.gate.jobs.service_model import model_faults
from unmask.gate.jobs.submit import sagemaker_client, submit_job

RESUME = "--resume"
LARGEST_FILE = 1 << 20


class _AskingParser(Parser):
    """Raises what argparse would end the process with."""

    def error(self, message: str) -> NoReturn:
        """Refuse."""
        raise JobFileError(f"unmask gate generate would refuse the job's arguments: {message}")


def run_job(args: argparse.Namespace, tools: Tools) -> int:
    """Write a job file, or check one and, where told so, submit it."""
    return _write(args, tools) if args.act == "write" else _check(args, tools)


def _write(args: argparse.Namespace, tools: Tools) -> int:
    asking = tuple(args.asking) if RESUME in args.asking else (*args.asking, RESUME)
    terms = JobTerms(
        name=args.name,
        image=args.image,
        role=args.role,
        instance=args.instance,
        volume_gb=args.volume,
        hours=args.hours,
        spot_hours=args.spot,
        environment=_environment(args.env),
    )
    request = job_request(terms, asking, _out_of(asking))
    _refuse_misfits(request)
    text = orjson.dumps(request, option=orjson.OPT_INDENT_2).decode()
    if args.to is None:
        tools.write(text)
        return GateExit.PASS
    try:
        args.to.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {args.to}: {error.strerror}; name another file with --to") from error
    tools.say(f"written: {args.to}; submit it by unmask gate job check {args.to} --submit")
    return GateExit.PASS


def _check(args: argparse.Namespace, tools: Tools) -> int:
    request = _read(args.file)
    _refuse_misfits(request)
    out = _out_of(_asking_of(request))
    arn = submit_job(request, sagemaker_client(args.region)) if args.submit else None
    if args.json:
        tools.write_json({"job": request["TrainingJobName"], "out": out, "arn": arn})
    else:
        tools.write(f"{request['TrainingJobName']} fits; nothing was sent" if arn is None else f"begun: {arn}")
        tools.say(f"answers go to {out}; score them by unmask gate score {out}")
    return GateExit.PASS


def _environment(given: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark or not name:
            raise UsageError(f"--env is {shown(text)}, allowed: NAME=VALUE. Write the variable so.")
        found[name] = value
    return found


def _read(path: Path) -> JobRequest:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        request = orjson.loads(content)
    except OSError as error:
        raise JobFileError(f"the job cannot be read from {path}: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise JobFileError(f"{path} is no JSON of at most {LARGEST_FILE} bytes: {error}") from error
    if not isinstance(request, dict):
        raise JobFileError(f"{path} is {shown(request)}, allowed: an object, as unmask gate job write makes it")
    return request


def _refuse_misfits(request: JobRequest) -> None:
    faults = model_faults(request)
    if faults:
        raise JobFileError("\n".join(("the request does not fit the service's model:", *faults)))
    _check_stop(request)


def _check_stop(request: JobRequest) -> None:
    """Refuse what the model has no words for: how long a job may run, and how long it may wait."""
    stopping = request.get("StoppingCondition")
    assert stopping is None or isinstance(stopping, dict), "the model has it so"
    run, wait = ((stopping or {}).get(name) for name in ("MaxRuntimeInSeconds", "MaxWaitTimeInSeconds"))
    if run is None:
        raise JobFileError("StoppingCondition.MaxRuntimeInSeconds is missing; name the longest that you will pay for")
    is_spot = request.get("EnableManagedSpotTraining", False)
    if is_spot != (wait is not None) or (wait is not None and wait < run):
        raise JobFileError(
            f"MaxWaitTimeInSeconds is {wait} and MaxRuntimeInSeconds is {run}, allowed: at least as long with "
            "EnableManagedSpotTraining, and none without. Change one of them."
        )


def _asking_of(request: JobRequest) -> tuple[str, ...]:
    """Return what the container gives to ``unmask gate generate``."""
    algorithm = request.get("AlgorithmSpecification", {})
    assert isinstance(algorithm, dict), "the model has it so"
    entry, asking = algorithm.get("ContainerEntrypoint"), tuple(algorithm.get("ContainerArguments", ()))
    if entry != list(ENTRYPOINT):
        raise JobFileError(f"ContainerEntrypoint is {shown(entry)}, allowed: {list(ENTRYPOINT)}. Put it back.")
    if RESUME not in asking:
        raise JobFileError(f"ContainerArguments have no {RESUME}, without which an interrupted job fails; add it")
    return asking


def _out_of(asking: Sequence[str]) -> str:
    """Return where answers go, once ``unmask gate generate`` would take its arguments."""
    parser = _AskingParser(prog="unmask gate generate", add_help=False)
    add_asking(parser)
    out = parser.parse_args(list(asking)).out
    if out is None or not out.startswith("s3://"):
        raise JobFileError(
            f"--out is {out or 'left out'}, allowed: a URL such as s3://bucket/run, since the container's disk goes "
            "with the job. Name one."
        )
    return str(out)
