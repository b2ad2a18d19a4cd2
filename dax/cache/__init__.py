"""The item cache and the query cache."""
