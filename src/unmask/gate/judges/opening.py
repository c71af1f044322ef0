"""From settings to judges that can be asked."""

from collections.abc import Mapping

from unmask.clock import WallClock
from unmask.errors import ConfigError
from unmask.gate.judges.bedrock import BedrockJudge, bedrock_runtime
from unmask.gate.judges.client import JudgeClient
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.over_http import HttpJudge
from unmask.gate.judges.settings import Api, JudgeSettings
from unmask.remote.key import Key, read_key
from unmask.remote.settings import KeySource


def open_judge(settings: JudgeSettings, environ: Mapping[str, str], clock: WallClock) -> JudgeClient:
    """Return a judge.

    Raises:
        JudgeError: its key is not in the environment, or what it needs is not installed.
    """
    if settings.api is Api.BEDROCK:
        return BedrockJudge(settings, bedrock_runtime(settings))
    return HttpJudge(settings, _key(settings, environ), clock)


def check_judge(settings: JudgeSettings, environ: Mapping[str, str]) -> None:
    """Make sure that a judge could be opened as far as that is known here, before there is anything to ask it.

    Raises:
        JudgeError: its key is not in the environment.
    """
    if settings.api is not Api.BEDROCK:
        _key(settings, environ)


def _key(settings: JudgeSettings, environ: Mapping[str, str]) -> Key:
    try:
        return read_key(KeySource(env=settings.key_env), f"judge {settings.name}", environ)
    except ConfigError as error:
        raise JudgeError(error.message.removeprefix("upstream "), param=error.param) from error
