"""The DAX binary protocol."""
