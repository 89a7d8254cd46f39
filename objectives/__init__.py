"""Output kinds: one module each, named after the ``kind:`` key of a spec."""
