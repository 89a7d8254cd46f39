from __future__ import annotations

from pathlib import Path

from evosynth import load
from evosynth.notice import called

SPEC = """\
records: 10
variables:
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
  AREA: {label: Area, categories: {n: North, s: South}}
  AGE: {label: Age in years, integer: [16, 99]}
  PAY: {integer: [0, 9]}
  LONG: {label: LABEL, integer: [0, 9]}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 4, 2: 6}}
  - {kind: crosstab, rows: AREA, columns: SEX, counts: {n: [2, 3], s: [2, 3]}}
  - {kind: summary, of: AGE, by: SEX, n: {1: 4, 2: 6}}
  - {kind: summary, of: [AGE, PAY, LONG], n: {AGE: 10}}
  - {kind: correlation, of: [AGE, PAY, LONG, SEX], pearson: {AGE: {PAY: 0.1}}}
  - {kind: t_test, of: AGE, by: SEX, p: ns}
  - {kind: logit, formula: SEX ~ AGE, observations: 10}
  - {kind: logit, formula: SEX ~ AGE + PAY, observations: 10}
  - {kind: logit, formula: SEX ~ PAY, observations: 10, title: Model 3}
"""


def test_outputs_without_a_title_are_called_by_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("LABEL", "word " * 20))
    spec = load(path)
    assert [called(spec, position) for position in range(len(spec.outputs))] == [
        "Frequencies: Sex",
        "Cross-tabulation: Area by Sex",
        "Descriptives: Age in years by Sex",
        f"Descriptives: Age in years, PAY and {('word ' * 12).rstrip()}…",
        "Correlations: Age in years, PAY and 2 more",
        "t test: Age in years by Sex",
        "Logistic regression: Sex (outputs[6])",
        "Logistic regression: Sex (outputs[7])",
        "Model 3",
    ]
