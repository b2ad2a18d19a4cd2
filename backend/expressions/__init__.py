"""The expression language: one grammar, parsed once, compiled to evaluators."""
