"""The table store behind the cache: a DynamoDB engine that knows nothing of DAX."""
