"""Whether a model or a policy may go to production: scenarios, answers, scores and verdicts with intervals."""
