"""Compiled kernels: verbs on arrays, with numpy and numba alone."""
