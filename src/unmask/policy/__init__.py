"""Budget policies: what may be spent on a request, and who approved it."""
