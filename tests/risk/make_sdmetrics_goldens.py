"""Write sdmetrics_cap.json: scores of another package. Run it where `sdmetrics` is installed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sdmetrics.single_table import CategoricalCAP, CategoricalZeroCAP

CASES = [(1, 100, 3), (2, 200, 5), (3, 150, 8)]


def main():
    found = []
    for seed, records, levels in CASES:
        rng = np.random.default_rng(seed)
        original, synthetic = (
            pd.DataFrame(rng.integers(0, levels, (records, 4)), columns=list("abct"))
            for _ in range(2)
        )
        case = {"seed": seed, "records": records, "levels": levels}
        for metric in (CategoricalCAP, CategoricalZeroCAP):
            fields = {"key_fields": ["a", "b", "c"], "sensitive_fields": ["t"]}
            case[metric.__name__] = float(metric.compute(original, synthetic, **fields))
        found.append(case)
    text = json.dumps(found, indent=2) + "\n"
    (Path(__file__).parent / "sdmetrics_cap.json").write_text(text)


if __name__ == "__main__":
    main()
