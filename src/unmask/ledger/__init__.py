"""The ledger: what every request was promised, what it used, and who pays; nothing is ever changed or removed."""
