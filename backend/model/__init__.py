"""Attribute values, numbers, keys and sizes: DynamoDB's data model as pure functions."""
