"""Real traces and the load made from them."""
