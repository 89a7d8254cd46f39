"""Disclosure risk and utility of synthetic data, beside the original and people outside it."""
