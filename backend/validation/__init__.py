"""Request-level validation: what can be said of a request before any table, item or expression is read."""
