"""Makes `sample.csv`, invented records that the goldens of R's survey package rest on."""

from pathlib import Path

import numpy as np
import pandas as pd

rng = np.random.default_rng(20)
n = 400
sex, region, educ = rng.integers(1, 3, n), rng.integers(1, 4, n), rng.integers(1, 4, n)
age = rng.integers(18, 80, n)
income = np.round(rng.gamma(4, 110, n) + 60 * (educ == 3) + 1.2 * age, 1)
smoke = (rng.random(n) < 1 / (1 + np.exp(0.02 * (age - 45) + 0.4 * (educ == 3)))).astype(int)
d = np.round(100 * np.exp(rng.normal(0, 0.3, n)), 1)
frame = pd.DataFrame(
    {"SEX": sex, "REGION": region, "EDUC": educ, "AGE": age, "INCOME": income, "SMOKE": smoke}
).assign(D=d)
frame.to_csv(Path(__file__).with_name("sample.csv"), index=False, lineterminator="\n")
