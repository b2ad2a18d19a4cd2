"""The documented consistency stories."""
