"""Experiments on a cluster: histories, stories, workloads."""
