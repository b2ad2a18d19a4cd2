"""The two wires of a node: DynamoDB JSON over HTTP, and the DAX binary protocol."""
