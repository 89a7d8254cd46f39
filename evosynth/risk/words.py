"""What measures are called, and what they count."""

from __future__ import annotations

MEANING = {
    "UiO": "original records that are unique on the keys",
    "UiS": "synthetic records that are unique on the keys",
    "UiOiS": "unique in the original, and the keys occur in the synthetic data",
    "repU": "unique in the original and in the synthetic data (replicated uniques)",
    "perceived": "perceived risk: replicated uniques, of the synthetic records",
    "within p % in at least one": "replicated uniques with a confidential value within p %",
    "within p % in all": "replicated uniques with every confidential value within p %",
    "Dorig": "original records whose keys disclose the target in the original itself",
    "Dsyn": "synthetic records whose keys disclose the target in the synthetic data",
    "iS": "original records whose keys occur in the synthetic data",
    "DiS": "original records whose keys disclose some target value in the synthetic data",
    "DiSCO": "the same, and that value is correct",
    "DiSDiO": "the same, and the keys disclose it in the original as well",
    "TCAP over all": "DiSCO, of all original records",
    "TCAP over matched": "DiSCO, of records whose keys occur in the synthetic data (DiSCO/iS)",
    "TCAP over disclosive": "DiSCO, of records with disclosive keys (DiSCO/DiS; Taub & Elliot)",
    "baseCAPd": "correct guesses from the distribution of the target alone",
    "CAPd": "correct guesses from the original",
    "CAPs": "correct guesses of synthetic values from the synthetic data",
    "DCAP": "correct guesses of original values from the synthetic data",
    "DCAP over matched": "the same, of records whose keys occur in the synthetic data",
}

SHOWN = {
    "Dorig": "Dorig",
    "DiS": "DiS",
    "DiSCO": "DiSCO",
    "DiSDiO": "DiSDiO",
    "DCAP": "DCAP",
    "baseCAPd": "baseCAPd",
    "TCAP over all": "TCAP all",
    "TCAP over matched": "TCAP matched",
    "TCAP over disclosive": "TCAP disclosive",
}
"""Columns on the screen; files have every measure."""
