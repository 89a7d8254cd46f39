"""Teaching data made from published results alone."""
