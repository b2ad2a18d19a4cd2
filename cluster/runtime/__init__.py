"""Where the world is: wall clock, sockets and randomness, or their seeded, virtual twins."""
