"""One cache node: what it keeps, what it answers, how it tells its peers."""
