"""DynamoDB JSON over HTTP."""
