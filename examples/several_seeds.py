"""Give each of three students a different dataset with the same published results."""

from pathlib import Path

import pandas as pd
import statsmodels.formula.api as smf

import evosynth

SPEC = Path(__file__).parent.parent / "specs" / "south-yorkshire-cars-1.yaml"
MODEL = "CARS ~ AGE + C(SEX) + C(LTILL, Treatment(2)) + C(TENURE)"
FULL = f"{MODEL} + C(AREAP, Treatment(51)) + C(ETHGROUP)"

spec = evosynth.load(SPEC)
columns = {}
for seed in (1, 2, 3):
    data = evosynth.synthesize(spec, seed=seed).data
    columns["published model", seed] = smf.logit(FULL, data).fit(disp=0).params.round(4)
    columns["another model", seed] = smf.logit(MODEL, data).fit(disp=0).params.round(4)
print("The published model gives everyone the same answer; another model does not:")
print(pd.DataFrame(columns).to_string())
