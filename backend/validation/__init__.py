"""Request-level checks in the service's order: types, constraints, then parameters together."""
