"""Models as programs and papers print them are read like mappings; no line is lost silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from evosynth.spec import load
from tests.outputs import faults, figures, indent, write

VARIABLES = """\
CARS: {label: Access to a car, categories: {0: No, 1: "Yes"}}
AGE: {label: Age, integer: [20, 79]}
AREAP: {label: Area, categories: {48: Barnsley, 49: Doncaster, 50: Rotherham, 51: Sheffield}}
SEX: {label: Sex, categories: {1: Male, 2: Female}}
ILL: {label: Long-term illness, categories: {1: "Yes", 2: "No"}}
PAY: {label: Weekly pay, number: {min: 1, max: 60, decimals: 1}}
CHOICE: {label: Party, categories: {a: Labour, b: Conservative, c: Other}}
"""

LOGIT = """\
kind: logit
formula: CARS ~ AGE + AREAP + SEX
reference: {AREAP: 51}
"""

OLS = """\
kind: ols
formula: PAY ~ AGE + SEX
"""

CHOICE = """\
kind: multinomial
formula: CHOICE ~ AGE + SEX
"""


def spec(folder: Path, output: str, table: str | None = None) -> Path:
    """Write a spec of 800 records; the table begins in the line after ``table:``."""
    if table is not None:
        output += f"table: |2\n{indent(table, 2)}"
    return write(folder, VARIABLES, output, 800)


def read(folder: Path, output: str, table: str | None = None) -> dict[str, str]:
    return figures(load(spec(folder, output, table)))


def wrong(folder: Path, output: str, table: str) -> list[str]:
    """Every fault, with the line of the table, from 1, in front."""
    path = spec(folder, output, table)
    first = path.read_text(encoding="utf-8").split("\n").index("    table: |2") + 1
    found = []
    for fault in faults(path):
        line, _, rest = fault.partition(" ")
        found.append(f"{int(line) - first} {rest.partition(': ')[2]}")
    return found


COEFFICIENTS = """\
coefficients: {Intercept: 2.668, AGE: -0.043, "AREAP[48]": -0.318, "AREAP[49]": 0.150, "AREAP[50]": -0.063,
  "SEX[2]": -0.489}
"""
ERRORS = """\
standard_errors: {Intercept: 0.285, AGE: 0.005, "AREAP[48]": 0.204, "AREAP[49]": 0.213, "AREAP[50]": 0.210,
  "SEX[2]": 0.153}
"""
STARS = """\
p_values: {Intercept: "***", AGE: "***", "SEX[2]": "**"}
"""
RATIOS = """\
odds_ratios: {AGE: 0.96, "AREAP[48]": 0.73, "AREAP[49]": 1.16, "AREAP[50]": 0.94, "SEX[2]": 0.61}
confidence_intervals: {AGE: [0.95, 0.97], "AREAP[48]": [0.49, 1.08], "AREAP[49]": [0.77, 1.76],
  "AREAP[50]": [0.62, 1.42], "SEX[2]": [0.45, 0.83]}
"""

STATA = """\
Iteration 0:  Log likelihood =  -549.8863
Iteration 1:  Log likelihood = -496.09714

Logistic regression                                     Number of obs =    800
                                                        LR chi2(5)    = 107.76
                                                        Prob > chi2   = 0.0000
Log likelihood = -496.00662                             Pseudo R2     = 0.0980

------------------------------------------------------------------------------
        CARS | Coefficient  Std. err.      z    P>|z|     [95% conf. interval]
-------------+----------------------------------------------------------------
         AGE |  -.0432224   .0047251    -9.15   0.000    -.0524835   -.0339614
             |
       AREAP |
   Barnsley  |  -.3179967   .2036268    -1.56   0.118    -.7170979    .0811046
  Doncaster  |   .1496785   .2128332     0.70   0.482    -.2674669    .5668239
  Rotherham  |  -.0633505   .2096344    -0.30   0.763    -.4742264    .3475253
  Sheffield  |          0  (base)
             |
         SEX |
     Female  |  -.4888914   .1534878    -3.19   0.001     -.789722   -.1880607
       _cons |   2.667923   .2853164     9.35   0.000     2.108714    3.227133
------------------------------------------------------------------------------
"""

STATA_MAPPING = """\
coefficients: {Intercept: 2.667923, AGE: -.0432224, "AREAP[48]": -.3179967, "AREAP[49]": .1496785,
  "AREAP[50]": -.0633505, "SEX[2]": -.4888914}
standard_errors: {Intercept: .2853164, AGE: .0047251, "AREAP[48]": .2036268, "AREAP[49]": .2128332,
  "AREAP[50]": .2096344, "SEX[2]": .1534878}
statistics: {Intercept: 9.35, AGE: -9.15, "AREAP[48]": -1.56, "AREAP[49]": 0.70, "AREAP[50]": -0.30,
  "SEX[2]": -3.19}
p_values: {Intercept: 0.000, AGE: 0.000, "AREAP[48]": 0.118, "AREAP[49]": 0.482, "AREAP[50]": 0.763,
  "SEX[2]": 0.001}
confidence_intervals: {Intercept: [2.108714, 3.227133], AGE: [-.0524835, -.0339614],
  "AREAP[48]": [-.7170979, .0811046], "AREAP[49]": [-.2674669, .5668239],
  "AREAP[50]": [-.4742264, .3475253], "SEX[2]": [-.789722, -.1880607]}
observations: 800
lr_chi_square: 107.76
lr_p_value: 0.0000
log_likelihood: -496.00662
pseudo_r_squared: 0.0980
"""

R = """\
Call:
glm(formula = CARS ~ AGE + factor(AREAP) + factor(SEX), family = binomial,
    data = d)

Deviance Residuals:
    Min       1Q   Median       3Q      Max
-2.0412  -1.1021   0.6391   0.9127   1.7120

Coefficients:
                 Estimate Std. Error z value Pr(>|z|)
(Intercept)      2.667923   0.285316   9.351  < 2e-16 ***
AGE             -0.043222   0.004725  -9.147  < 2e-16 ***
factor(AREAP)48 -0.317997   0.203627  -1.562  0.11837
factor(AREAP)49  0.149679   0.212833   0.703  0.48189
factor(AREAP)50 -0.063351   0.209634  -0.302  0.76250
factor(SEX)2    -0.488891   0.153488  -3.185  0.00145 **
---
Signif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1

(Dispersion parameter for binomial family taken to be 1)

    Null deviance: 1099.77  on 799  degrees of freedom
Residual deviance:  992.01  on 794  degrees of freedom
AIC: 1004

Number of Fisher Scoring iterations: 4
"""

R_MAPPING = """\
coefficients: {Intercept: 2.667923, AGE: -0.043222, "AREAP[48]": -0.317997, "AREAP[49]": 0.149679,
  "AREAP[50]": -0.063351, "SEX[2]": -0.488891}
standard_errors: {Intercept: 0.285316, AGE: 0.004725, "AREAP[48]": 0.203627, "AREAP[49]": 0.212833,
  "AREAP[50]": 0.209634, "SEX[2]": 0.153488}
statistics: {Intercept: 9.351, AGE: -9.147, "AREAP[48]": -1.562, "AREAP[49]": 0.703,
  "AREAP[50]": -0.302, "SEX[2]": -3.185}
p_values: {Intercept: <0.0000000000000002, AGE: <0.0000000000000002, "AREAP[48]": 0.11837,
  "AREAP[49]": 0.48189, "AREAP[50]": 0.76250, "SEX[2]": 0.00145}
null_deviance: 1099.77
deviance: 992.01
aic: 1004
"""

STATSMODELS = """\
                           Logit Regression Results
==============================================================================
Dep. Variable:                   CARS   No. Observations:                  800
Model:                          Logit   Df Residuals:                      794
Method:                           MLE   Df Model:                            5
Date:                Mon, 16 Nov 2026   Pseudo R-squ.:                 0.09798
Time:                        19:34:11   Log-Likelihood:                -496.01
converged:                       True   LL-Null:                       -549.89
Covariance Type:            nonrobust   LLR p-value:                 1.219e-21
=================================================================================================
                                    coef    std err          z      P>|z|      [0.025      0.975]
-------------------------------------------------------------------------------------------------
Intercept                         2.6679      0.285      9.351      0.000       2.109       3.227
C(AREAP, Treatment(51))[T.48]    -0.3180      0.204     -1.562      0.118      -0.717       0.081
C(AREAP, Treatment(51))[T.49]     0.1497      0.213      0.703      0.482      -0.267       0.567
C(AREAP, Treatment(51))[T.50]    -0.0634      0.210     -0.302      0.763      -0.474       0.348
C(SEX)[T.2]                      -0.4889      0.153     -3.185      0.001      -0.790      -0.188
AGE                              -0.0432      0.005     -9.147      0.000      -0.052      -0.034
=================================================================================================
"""

STATSMODELS_MAPPING = """\
coefficients: {Intercept: 2.6679, AGE: -0.0432, "AREAP[48]": -0.3180, "AREAP[49]": 0.1497,
  "AREAP[50]": -0.0634, "SEX[2]": -0.4889}
standard_errors: {Intercept: 0.285, AGE: 0.005, "AREAP[48]": 0.204, "AREAP[49]": 0.213,
  "AREAP[50]": 0.210, "SEX[2]": 0.153}
statistics: {Intercept: 9.351, AGE: -9.147, "AREAP[48]": -1.562, "AREAP[49]": 0.703,
  "AREAP[50]": -0.302, "SEX[2]": -3.185}
p_values: {Intercept: 0.000, AGE: 0.000, "AREAP[48]": 0.118, "AREAP[49]": 0.482, "AREAP[50]": 0.763,
  "SEX[2]": 0.001}
confidence_intervals: {Intercept: [2.109, 3.227], AGE: [-0.052, -0.034], "AREAP[48]": [-0.717, 0.081],
  "AREAP[49]": [-0.267, 0.567], "AREAP[50]": [-0.474, 0.348], "SEX[2]": [-0.790, -0.188]}
observations: 800
pseudo_r_squared: 0.09798
log_likelihood: -496.01
null_log_likelihood: -549.89
lr_p_value: 0.000000000000000000001219
"""

SPSS = """\
Variables in the Equation
\t\tB\tS.E.\tWald\tdf\tSig.\tExp(B)\t95% C.I.for EXP(B)\t
\t\t\t\t\t\t\t\tLower\tUpper
Step 1a\tAGE\t-.043\t.005\t83.674\t1\t.000\t.958\t.949\t.967
\tAREAP(1)\t-.318\t.204\t2.439\t1\t.118\t.728\t.488\t1.084
\tAREAP(2)\t.150\t.213\t.495\t1\t.482\t1.161\t.765\t1.763
\tAREAP(3)\t-.063\t.210\t.091\t1\t.763\t.939\t.622\t1.416
\tFemale\t-.489\t.153\t10.146\t1\t.001\t.613\t.454\t.829
\tConstant\t2.668\t.285\t87.437\t1\t.000\t14.410\t\t
"""

SPSS_MAPPING = (
    COEFFICIENTS
    + ERRORS
    + """\
p_values: {Intercept: .000, AGE: .000, "AREAP[48]": .118, "AREAP[49]": .482, "AREAP[50]": .763, "SEX[2]": .001}
odds_ratios: {Intercept: 14.410, AGE: .958, "AREAP[48]": .728, "AREAP[49]": 1.161, "AREAP[50]": .939, "SEX[2]": .613}
confidence_intervals: {AGE: [.949, .967], "AREAP[48]": [.488, 1.084], "AREAP[49]": [.765, 1.763],
  "AREAP[50]": [.622, 1.416], "SEX[2]": [.454, .829]}
"""
)

PAPER = """\
Table 2. Access to a car (logistic regression)
                     coef        se
Intercept            2.668***    0.285
Age                 −0.043***    0.005
Area
  Barnsley          −0.318       0.204
  Doncaster          0.150       0.213
  Rotherham         −0.063       0.210
  Sheffield (ref.)   —           —
Female              −0.489**     0.153
Observations         800
Note: * p<0.05, ** p<0.01, *** p<0.001
"""

ESTOUT = """\
------------------------------------
                      (1)
                     CARS
------------------------------------
Age                -0.043***
                  (0.005)

48.AREAP           -0.318
                  (0.204)

49.AREAP            0.150
                  (0.213)

50.AREAP           -0.063
                  (0.210)

2.SEX              -0.489**
                  (0.153)

_cons               2.668***
                  (0.285)
------------------------------------
N                     800
------------------------------------
Standard errors in parentheses
* p<0.05, ** p<0.01, *** p<0.001
"""

MARKDOWN = """\
| Term         | B (SE)             |
|--------------|--------------------|
| Constant     | 2.668 (0.285)\\*\\*\\*  |
| Age          | -0.043 (0.005)\\*\\*\\* |
| Area: Barnsley | -0.318 (0.204)   |
| Area: Doncaster | 0.150 (0.213)   |
| Area: Rotherham | -0.063 (0.210)  |
| Sex: Female  | -0.489 (0.153)\\*\\*  |
| N            | 800                |
"""

LATEX = r"""
\begin{tabular}{lcc}
\toprule
 & Coef. & Std. err. \\
\midrule
(Intercept) & 2.668$^{***}$ & (0.285) \\
AGE & $-$0.043$^{***}$ & (0.005) \\
AREAP=48 & $-$0.318 & (0.204) \\
AREAP=49 & 0.150 & (0.213) \\
AREAP=50 & $-$0.063 & (0.210) \\
SEX=2 & $-$0.489$^{**}$ & (0.153) \\
\midrule
Observations & 800 & \\
\bottomrule
\end{tabular}
"""

COMMAS = """\
term,estimate,std.error
(Intercept),2.668***,0.285
AGE,-0.043***,0.005
AREAP48,-0.318,0.204
AREAP49,0.150,0.213
AREAP50,-0.063,0.210
SEX2,-0.489**,0.153
N,800,
"""

WORDS = """\
term coef se
Intercept 2.668*** 0.285
AGE -0.043*** 0.005
AREAP 48 -0.318 0.204
AREAP 49 0.150 0.213
AREAP 50 -0.063 0.210
SEX 2 -0.489** 0.153
N 800
"""

RATIO_TABLES = {
    "dashes": """\
                    OR     95% CI
    Age             0.96   (0.95–0.97)
    Area (ref. Sheffield)
      Barnsley      0.73   (0.49–1.08)
      Doncaster     1.16   (0.77–1.76)
      Rotherham     0.94   (0.62–1.42)
    Sex
      Male          1.00   (ref)
      Female        0.61   (0.45–0.83)
    """,
    "one column": """\
    Variable           Odds ratio (95% CI)
    Age                0.96 [0.95, 0.97]
    Barnsley           0.73 [0.49, 1.08]
    Doncaster          1.16 [0.77, 1.76]
    Rotherham          0.94 [0.62, 1.42]
    Sheffield          1
    Female (vs male)   0.61 [0.45, 0.83]
    """,
    "to": """\
    Variable    OR     95% CI
    Age         0.96   0.95 to 0.97
    Barnsley    0.73   0.49 to 1.08
    Doncaster   1.16   0.77 to 1.76
    Rotherham   0.94   0.62 to 1.42
    Sheffield   Reference
    Female      0.61   0.45 to 0.83
    """,
    "two columns": """\
    Variable    OR     Lower  Upper
    Age         0.96   0.95   0.97
    Barnsley    0.73   0.49   1.08
    Doncaster   1.16   0.77   1.76
    Rotherham   0.94   0.62   1.42
    Sheffield   1.00   -      -
    Female      0.61   0.45   0.83
    """,
    "commas": """\
    Variable,OR,95% CI
    Age,0.96,0.95-0.97
    Barnsley,0.73,"0.49, 1.08"
    Doncaster,1.16,0.77-1.76
    Rotherham,0.94,0.62-1.42
    Female,0.61,"[0.45, 0.83]"
    """,
}


@pytest.mark.parametrize(
    ("table", "mapping"),
    [
        pytest.param(STATA, STATA_MAPPING, id="Stata"),
        pytest.param(R, R_MAPPING, id="R"),
        pytest.param(STATSMODELS, STATSMODELS_MAPPING, id="statsmodels"),
        pytest.param(SPSS, SPSS_MAPPING, id="SPSS"),
        *(
            pytest.param(table, COEFFICIENTS + ERRORS + STARS + "observations: 800\n", id=name)
            for name, table in {
                "paper": PAPER,
                "estout": ESTOUT,
                "Markdown": MARKDOWN,
                "LaTeX": LATEX,
                "commas": COMMAS,
                "words": WORDS,
            }.items()
        ),
        *(
            pytest.param(table.replace("\n    ", "\n")[4:], RATIOS, id=f"ratios, {name}")
            for name, table in RATIO_TABLES.items()
        ),
    ],
)
def test_layouts_are_read_like_mappings(tmp_path: Path, table: str, mapping: str) -> None:
    expected = read(tmp_path, LOGIT + mapping)
    assert read(tmp_path, LOGIT, table) == expected
