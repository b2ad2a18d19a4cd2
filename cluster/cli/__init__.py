"""The `daxsim` command."""
