"""What a request may ask of a model: checks values and fills in defaults."""

from unmask.backend import HIGHEST_TEMPERATURE, MOST_ALTERNATIVES, MOST_STOPS, Lever, ModelInfo, Request
from unmask.errors import ContextLengthError, InvalidRequestError
from unmask.policy.exit_rule import rule_faults
from unmask.policy.finality import finality_fault
from unmask.sequence import Begun, Submission
from unmask.strategy import StrategyChoice, StrategyName
from unmask.text.chat import ChatTokenizer
from unmask.types import ApproximateKv, Draft, ExitPlan, Mode, StepBudget


def make_submission(request: Request, model: ModelInfo, prompt: tuple[int, ...], begun: Begun = Begun()) -> Submission:
    """Return the request in tokens, every default filled in; ``begun`` is what its answer says already.

    Raises:
        InvalidRequestError: a value is outside what the model allows.
        ContextLengthError: prompt and output do not fit into the context.
    """
    canvas_length = model.default_canvas_of(request.mode) if request.canvas_length is None else request.canvas_length
    if canvas_length not in model.canvas_lengths:
        allowed = ", ".join(map(str, model.canvas_lengths))
        raise InvalidRequestError("diffusion.canvas_length", canvas_length, allowed, "Leave it out for the default.")
    _check_sampling(request)
    _check_mode(request, model)
    if Lever.STRATEGY not in model.levers and request.strategy != StrategyChoice():
        raise InvalidRequestError(
            "diffusion.strategy", str(request.strategy.name), "null", f"{model.name} has one of its own: leave it out."
        )
    _check_threshold(request.strategy)
    _check_window(request.strategy)
    _check_finality(request.strategy)
    if request.exit is not None:
        _check_exit(request.exit, request.mode)
    if request.draft is not None:
        if Lever.DRAFT not in model.levers:
            raise InvalidRequestError(
                "draft", "given", "none", f"Canvases of {model.name} start with nothing in them: leave it out."
            )
        _check_draft(request.draft, request.mode, canvas_length)
    max_tokens = _max_tokens(request, model, len(prompt)) - len(begun.tokens)
    if max_tokens < 1:
        raise InvalidRequestError(
            "draft.before",
            f"{len(begun.tokens)} tokens",
            f"fewer than the {max_tokens + len(begun.tokens)} of the answer",
            "Leave room for the canvas of the draft.",
        )
    return Submission(
        prompt=prompt + begun.tokens,
        max_tokens=max_tokens,
        canvas_length=canvas_length,
        context_length=model.context_length,
        budget=_budget(request, model, max_tokens, canvas_length),
        strategy=request.strategy,
        sampling=request.sampling,
        stop=request.stop,
        mode=request.mode,
        tenant=request.tenant,
        draft=request.draft,
        begun=begun,
        snapshots=request.snapshots,
        trace=request.trace,
        top_logprobs=request.top_logprobs,
        exit=request.exit,
        check=request.check,
        complete=request.complete,
        terms=request.terms,
        bucket=request.bucket,
        smaller=request.smaller,
        arrived=request.arrived,
        on_grid=model.on_grid,
        reads_whole=model.reads_whole,
        approximate=model.approximate or ApproximateKv(),
    )


def check_text_length(request: Request, model: ModelInfo, longest_token: int) -> None:
    """Refuse a text that cannot fit whatever its tokens are, without the time it takes to find them.

    Raises:
        ContextLengthError: so many bytes do not fit; the number of tokens it names is the least there could be.
    """
    size = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    if size > model.context_length * longest_token:
        raise ContextLengthError(-(-size // longest_token), request.max_tokens or 1, model.context_length)


def check_draft_tokens(draft: Draft, tokenizer: ChatTokenizer) -> None:
    """Refuse ids that no text has.

    Raises:
        InvalidRequestError: an id is outside the vocabulary, or marks something other than text.
    """
    for before in draft.before:
        if not tokenizer.is_text(before):
            raise InvalidRequestError(
                "draft.before",
                before,
                f"ids of text below {tokenizer.size}",
                "Take the tokens from an earlier generation.",
            )
    for token in draft.tokens:
        if token is not None and not tokenizer.is_end(token) and not tokenizer.is_text(token):
            raise InvalidRequestError(
                "draft.tokens",
                token,
                f"ids of text below {tokenizer.size}, an end token, or None where open",
                "Take the tokens from an earlier generation.",
            )


def _check_draft(draft: Draft, mode: Mode, canvas_length: int) -> None:
    length = len(draft.tokens)
    if mode.is_causal:
        raise InvalidRequestError(
            "draft", f"given with mode {mode}", f"a draft with mode {Mode.DIFFUSION}", "Leave out one of the two."
        )
    if length > canvas_length:
        raise InvalidRequestError(
            "draft.tokens", f"{length} tokens", f"at most {canvas_length} tokens", "A draft starts one canvas."
        )
    outside = sorted(place for place in draft.frozen if not 0 <= place < length)
    if outside:
        raise InvalidRequestError(
            "draft.frozen",
            outside[0],
            f"positions of the draft, 0 to {length - 1}",
            "Freeze what the draft holds.",
        )


def _max_tokens(request: Request, model: ModelInfo, prompt: int) -> int:
    room = model.context_length - prompt
    wanted = request.max_tokens
    if wanted is not None and wanted < 1:
        raise InvalidRequestError("max_tokens", wanted, "1 or more", "Leave it out for the default.")
    if room < (wanted or 1):
        raise ContextLengthError(prompt, wanted or 1, model.context_length)
    return wanted or min(model.default_max_tokens, room)


def _budget(request: Request, model: ModelInfo, max_tokens: int, canvas_length: int) -> StepBudget:
    asked = request.budget
    steps = asked.max_steps if asked is not None else model.default_steps_of(canvas_length)
    if not 1 <= steps <= model.max_steps:
        raise InvalidRequestError(
            "diffusion.max_steps", steps, f"1 to {model.max_steps}", "It caps the denoise steps of one canvas."
        )
    total = asked.max_total_steps if asked is not None else None
    if total is not None and total < 1:
        raise InvalidRequestError(
            "diffusion.max_total_steps", total, "1 or more", "It caps the denoise steps of the request."
        )
    if total is None:
        total = max_tokens if request.mode.is_causal else steps * model.canvases_of(max_tokens, canvas_length)
    return StepBudget(max_steps=steps, max_total_steps=total)


def _check_sampling(request: Request) -> None:
    sampling = request.sampling
    if not 0 <= sampling.temperature <= HIGHEST_TEMPERATURE:
        raise InvalidRequestError(
            "temperature", sampling.temperature, f"0 to {HIGHEST_TEMPERATURE:g}", "0 takes the likeliest token."
        )
    if not 0 < sampling.top_p <= 1:
        raise InvalidRequestError("top_p", sampling.top_p, "above 0, at most 1", "1 leaves every token in.")
    alternatives = request.top_logprobs
    if alternatives is not None and not 0 <= alternatives <= MOST_ALTERNATIVES:
        raise InvalidRequestError(
            "top_logprobs",
            alternatives,
            f"0 to {MOST_ALTERNATIVES}",
            "It counts the alternatives given for each token.",
        )
    if "" in request.stop or len(request.stop) > MOST_STOPS:
        raise InvalidRequestError("stop", request.stop, f"up to {MOST_STOPS} texts, none empty", "Drop the others.")


def _check_mode(request: Request, model: ModelInfo) -> None:
    """Refuse what the model has not, and what would make a speculative answer another than the autoregressive one."""
    if request.mode.is_causal and Lever.MODE not in model.levers:
        raise InvalidRequestError(
            "mode", str(request.mode), str(Mode.DIFFUSION), f"{model.name} writes canvases alone."
        )
    if request.mode is Mode.SPECULATIVE and request.sampling.temperature > 0:
        raise InvalidRequestError(
            "temperature",
            request.sampling.temperature,
            f"0 with mode {Mode.SPECULATIVE}",
            f"A draft is verified against the likeliest tokens: draw with mode {Mode.AUTOREGRESSIVE}.",
        )


def _check_threshold(strategy: StrategyChoice) -> None:
    name, threshold = strategy.name, strategy.threshold
    if threshold is None:
        return
    if not threshold >= 0:
        raise InvalidRequestError("diffusion.threshold", threshold, "0 or more", "Leave it out for the default.")
    if threshold > 1 and name.has_bounded_threshold:
        raise InvalidRequestError("diffusion.threshold", threshold, "0 to 1", f"With {name} it is a probability.")


def _check_window(strategy: StrategyChoice) -> None:
    if strategy.window is not None and strategy.window < 1:
        raise InvalidRequestError("diffusion.window", strategy.window, "1 or more", "Leave it out for the default.")


def _check_finality(strategy: StrategyChoice) -> None:
    name, model = strategy.name, strategy.finality
    if not name.needs_model:
        if model is not None:
            raise InvalidRequestError(
                "strategy.finality",
                f"given with strategy {name}",
                f"a finality model with strategy {StrategyName.FINALITY}",
                "Leave out one of the two.",
            )
        return
    fault = "there is none" if model is None else finality_fault(model)
    if fault is not None:
        raise InvalidRequestError(
            "strategy.finality",
            f"of no use to strategy {name}: {fault}",
            "a finality model of this version",
            "Learn one from traces, or choose another strategy.",
        )


def _check_exit(plan: ExitPlan, mode: Mode) -> None:
    if mode.is_causal:
        raise InvalidRequestError(
            "exit", f"given with mode {mode}", f"an exit rule with mode {Mode.DIFFUSION}", "Leave out one of the two."
        )
    for fault in rule_faults(plan.rule):
        raise InvalidRequestError(f"exit.{fault.field}", fault.value, fault.allowed, fault.fix)
