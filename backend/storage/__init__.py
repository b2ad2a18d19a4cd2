"""Ordered key-value storage below the tables."""
