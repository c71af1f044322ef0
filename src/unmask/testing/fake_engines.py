"""Servers that speak as vLLM and SGLang are documented to, with a diffusion model behind that takes no time.

vLLM: the fields of ``vllm_xargs`` with their validation, and counters of passes over canvases, the one that commits
among them, summed up by engine. SGLang: no such fields; sampling of a request is refused or has no effect.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from unmask.testing.fake_upstream import DONE, Exchange, Json, Script, answering, chunk, streaming, usage_event

OWN_STEPS = 48
"""Steps of a canvas without a cap, where the model needs more than it has."""


@dataclass(slots=True, kw_only=True)
class FakeVllm:
    """A vLLM with a block-diffusion model. Its `script` answers whatever it is asked for, in any order.

    Attributes:
        text: of every answer, a chunk for each canvas.
        tokens: that the answer counts, its end token among them.
        needs: steps of a canvas that the model converges after.
        heeds_cap: whether it keeps to ``diffusion_max_steps``; versions before it had the field took it for nothing.
        pages: what it answers in place of its counters, one after another.
        passes, committed, positions: its counters.
        running: requests that it says are running.
    """

    text: str = "답은 42"
    tokens: int = 5
    needs: int = 16
    canvas: int = 32
    vocabulary: int = 1_000
    heeds_cap: bool = True
    pages: list[Script] = field(default_factory=list)
    passes: int = 0
    positions: int = 0
    committed: int = 0
    running: int = 0

    async def script(self, exchange: Exchange) -> None:
        """Answer a request."""
        if exchange.target == "/metrics":
            await (self.pages.pop(0) if self.pages else self.page())(exchange)
            return
        if exchange.target == "/v1/models":
            listed: Json = {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 4_096}]}
            await answering(200, json.dumps(listed).encode())(exchange)
            return
        arguments = exchange.json.get("vllm_xargs") or {}
        assert isinstance(arguments, dict)
        problem = self._problem(arguments)
        if problem is not None:
            await answering(400, _error(problem))(exchange)
            return
        self.run(arguments)
        await streaming(*self.events())(exchange)

    def run(self, arguments: Json) -> None:
        """Count an answer's canvases."""
        width = self._width(arguments)
        cap = arguments.get("diffusion_max_steps") if self.heeds_cap else None
        steps = min(self.needs, cap if isinstance(cap, int) else OWN_STEPS)
        canvases = -(-self.tokens // width)
        self.count(steps * canvases, canvases, width)

    def count(self, steps: int, canvases: int, width: int) -> None:
        """Count denoise steps, and the pass that commits each canvas."""
        self.passes += steps + canvases
        self.positions += (steps + canvases) * width
        self.committed += canvases * width

    def events(self) -> Sequence[bytes]:
        """Return the events of an answer."""
        return (
            chunk(None, delta={"role": "assistant", "content": ""}),
            chunk(self.text),
            chunk(None, finish_reason="stop", stop_reason=None),
            usage_event(7, self.tokens),
            DONE,
        )

    def _width(self, arguments: Json) -> int:
        width = arguments.get("diffusion_canvas_length")
        return width if isinstance(width, int) else self.canvas

    def _problem(self, arguments: Json) -> str | None:
        """Return the first of what the documented validation refuses."""
        width, cap = arguments.get("diffusion_canvas_length", self.canvas), arguments.get("diffusion_max_steps", 1)
        if not (isinstance(width, int) and 0 < width <= self.canvas):
            return "diffusion_canvas_length must be a positive integer no larger than the served canvas."
        if not (isinstance(cap, int) and cap > 0):
            return "diffusion_max_steps must be a positive integer."
        seed, pinned = arguments.get("diffusion_seed_canvas"), arguments.get("diffusion_pinned", [])
        if seed is None:
            return (
                "diffusion_pinned needs a diffusion_seed_canvas to hold." if "diffusion_pinned" in arguments else None
            )
        if not (isinstance(seed, list) and len(seed) == width and all(0 <= one < self.vocabulary for one in seed)):
            return f"diffusion_seed_canvas must hold exactly {width} ids in [0, {self.vocabulary})."
        if not (isinstance(pinned, list) and all(0 <= place < width for place in pinned)):
            return "diffusion_pinned positions must lie inside the canvas."
        return None

    def page(self) -> Script:
        """Return what answers with its counters as they are now."""
        half = self.passes // 2
        lines = [
            "# HELP python_gc_objects_collected_total Objects collected during gc",
            'python_gc_objects_collected_total{generation="0"} 1.0',
            "# HELP vllm:num_requests_running Number of requests in model execution batches.",
            "# TYPE vllm:num_requests_running gauge",
            _line("num_requests_running", 0, self.running),
            _line("num_requests_waiting", 0, 0),
            "# HELP vllm:diffusion_num_denoising_steps_total Number of denoising steps.",
            "# TYPE vllm:diffusion_num_denoising_steps_total counter",
            _line("diffusion_num_denoising_steps_total", 0, half),
            _line("diffusion_num_denoising_steps_total", 1, self.passes - half),
            _line("diffusion_num_denoising_steps_created", 0, 1.7e9),
            _line("diffusion_num_canvas_positions_total", 0, self.positions),
            _line("diffusion_num_canvas_positions_total", 1, 0),
            _line("diffusion_num_committed_tokens_total", 0, self.committed),
        ]
        return answering(200, "\n".join((*lines, "")).encode(), content_type="text/plain; version=0.0.4")


async def sglang(exchange: Exchange) -> None:
    """Answer as SGLang does with an algorithm that has its steps from the server's setting."""
    body = exchange.json
    refused = [name for name in ("seed", "logprobs", "logit_bias", "response_format") if name in body]
    if refused:
        await answering(400, _error(f"does not support request-level {', '.join(refused)}"))(exchange)
        return
    await streaming(*FakeVllm().events())(exchange)


def _line(name: str, engine: int, value: float) -> str:
    return f'vllm:{name}{{engine="{engine}",model_name="m"}} {float(value)}'


def _error(message: str) -> bytes:
    error: Json = {"message": message, "type": "BadRequestError", "param": None, "code": 400}
    return json.dumps({"error": error}).encode()
