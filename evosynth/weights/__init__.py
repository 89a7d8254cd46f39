"""Calibration weights: weights near given ones under which totals are as published."""
