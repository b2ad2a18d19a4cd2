"""One file an operation: what it validates and what it does."""
