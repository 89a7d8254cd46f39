"""Models as programs and papers print them are read like mappings; no line is lost silently."""

# ruff: noqa: E501 (tables as they are printed)

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


MODELS = {
    "estout": """\
    ----------------------------------------------------
                          (1)             (2)
                         CARS            CARS
    ----------------------------------------------------
    Age                -0.042***       -0.043***
                      (0.005)         (0.005)
    Barnsley                           -0.318
                                      (0.204)
    Doncaster                           0.150
                                      (0.213)
    Rotherham                          -0.063
                                      (0.210)
    Female                             -0.489**
                                      (0.153)
    Constant            2.337***        2.668***
                      (0.247)         (0.285)
    ----------------------------------------------------
    Observations          800             800
    Log Likelihood    -503.131        -496.007
    AIC               1,010.261       1,004.013
    ----------------------------------------------------
    Standard errors in parentheses
    """,
    "side by side": """\
                        Model 1              Model 2
                    Coef.      SE        Coef.      SE
    Age            -0.042***  0.005     -0.043***  0.005
    Barnsley          ..        ..      -0.318     0.204
    Doncaster         ..        ..       0.150     0.213
    Rotherham                           -0.063     0.210
    Female                              -0.489**   0.153
    Constant        2.337***  0.247      2.668***  0.285
    N               800                  800
    Log likelihood  -503.131             -496.007
    AIC             1010.261             1004.013
    """,
    "Markdown": """\
    |              | Model 1           | Model 2           |
    |--------------|-------------------|-------------------|
    | Age          | -0.042*** (0.005) | -0.043*** (0.005) |
    | Area         |                   |                   |
    | Barnsley     |                   | -0.318 (0.204)    |
    | Doncaster    |                   | 0.150 (0.213)     |
    | Rotherham    |                   | -0.063 (0.210)    |
    | Sex          |                   |                   |
    | Female       |                   | -0.489** (0.153)  |
    | Constant     | 2.337*** (0.247)  | 2.668*** (0.285)  |
    | Observations | 800               | 800               |
    | Log likelihood | -503.131        | -496.007          |
    | AIC          | 1010.261          | 1004.013          |
    """,
    "tabs": """\
    \tModel 1\t\tModel 2\t
    \tB\tSE\tB\tSE
    Age\t-0.042***\t0.005\t-0.043***\t0.005
    Barnsley\t\t\t-0.318\t0.204
    Doncaster\t\t\t0.150\t0.213
    Rotherham\t\t\t-0.063\t0.210
    Sheffield (ref.)\t\t\t\t
    Female\t\t\t-0.489**\t0.153
    Constant\t2.337***\t0.247\t2.668***\t0.285
    N\t800\t\t800\t
    Log likelihood\t-503.131\t\t-496.007\t
    AIC\t1010.261\t\t1004.013\t
    """,
}
SMALL = """\
coefficients: {Intercept: 2.337, AGE: -0.042}
standard_errors: {Intercept: 0.247, AGE: 0.005}
p_values: {Intercept: "***", AGE: "***"}
observations: 800
log_likelihood: -503.131
aic: 1010.261
"""
LARGE = (
    COEFFICIENTS
    + ERRORS
    + STARS
    + """\
observations: 800
log_likelihood: -496.007
aic: 1004.013
"""
)


@pytest.mark.parametrize("layout", MODELS)
def test_one_of_several_models_is_read(tmp_path: Path, layout: str) -> None:
    table = MODELS[layout].replace("\n    ", "\n")[4:]
    first = "kind: logit\nformula: CARS ~ AGE\n"
    assert read(tmp_path, f"{first}column: 1\n", table) == read(tmp_path, first + SMALL)
    second = read(tmp_path, LOGIT + LARGE)
    assert read(tmp_path, f"{LOGIT}column: 2\n", table) == second
    name = "(2)" if layout == "estout" else "model 2"
    assert read(tmp_path, f"{LOGIT}column: {name}\n", table) == second
    names = "(1) CARS, (2) CARS" if layout == "estout" else "Model 1, Model 2"
    message = f"the table has several models ({names}); name one under column"
    assert [fault.partition(" ")[2] for fault in wrong(tmp_path, LOGIT, table)] == [message]
    (fault,) = wrong(tmp_path, f"{LOGIT}column: Model 7\n", table)
    assert "no model is called 'Model 7'" in fault


OLS_TABLES = {
    "Stata": (
        """\
      Source |       SS           df       MS      Number of obs   =       800
-------------+----------------------------------   F(2, 797)       =     90.80
       Model |  3195.61242         2  1597.80621   Prob > F        =    0.0000
    Residual |  14024.9732       797  17.5967945   R-squared       =    0.1856
-------------+----------------------------------   Adj R-squared   =    0.1835
       Total |  17220.5856       799  21.5526729   Root MSE        =    4.1949

------------------------------------------------------------------------------
         PAY | Coefficient  Std. err.      t    P>|t|     [95% conf. interval]
-------------+----------------------------------------------------------------
         AGE |     .09780     .00866    11.30   0.000        .081        .115
       2.SEX |   -2.11019     .29684    -7.11   0.000      -2.693      -1.528
       _cons |   20.07677     .47680    42.11   0.000      19.141      21.013
------------------------------------------------------------------------------
""",
        """\
coefficients: {Intercept: 20.07677, AGE: .09780, "SEX[2]": -2.11019}
standard_errors: {Intercept: .47680, AGE: .00866, "SEX[2]": .29684}
statistics: {Intercept: 42.11, AGE: 11.30, "SEX[2]": -7.11}
p_values: {Intercept: 0.000, AGE: 0.000, "SEX[2]": 0.000}
confidence_intervals: {Intercept: [19.141, 21.013], AGE: [.081, .115], "SEX[2]": [-2.693, -1.528]}
observations: 800
f: 90.80
f_p_value: 0.0000
r_squared: 0.1856
adjusted_r_squared: 0.1835
rmse: 4.1949
""",
    ),
    "R": (
        """\
Coefficients:
             Estimate Std. Error t value Pr(>|t|)
(Intercept) 20.076774   0.476802  42.107  < 2e-16 ***
AGE          0.097805   0.008657  11.298  < 2e-16 ***
SEXFemale   -2.110190   0.296842  -7.109  2.6e-12 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

Residual standard error: 4.195 on 797 degrees of freedom
Multiple R-squared:  0.1856,\tAdjusted R-squared:  0.1835
F-statistic:  90.8 on 2 and 797 DF,  p-value: < 2.2e-16
""",
        """\
coefficients: {Intercept: 20.076774, AGE: 0.097805, "SEX[2]": -2.110190}
standard_errors: {Intercept: 0.476802, AGE: 0.008657, "SEX[2]": 0.296842}
statistics: {Intercept: 42.107, AGE: 11.298, "SEX[2]": -7.109}
p_values: {Intercept: <0.0000000000000002, AGE: <0.0000000000000002, "SEX[2]": 0.0000000000026}
rmse: 4.195
r_squared: 0.1856
adjusted_r_squared: 0.1835
f: 90.8
f_p_value: <0.00000000000000022
""",
    ),
    "SPSS": (
        """\
\t\tUnstandardized Coefficients\t\tStandardized Coefficients\tt\tSig.
Model\t\tB\tStd. Error\tBeta\t\t
1\t(Constant)\t20.077\t.477\t\t42.107\t.000
\tAge\t.098\t.009\t.361\t11.298\t.000
\tFemale\t-2.110\t.297\t-.227\t-7.109\t.000
""",
        """\
coefficients: {Intercept: 20.077, AGE: .098, "SEX[2]": -2.110}
standard_errors: {Intercept: .477, AGE: .009, "SEX[2]": .297}
betas: {AGE: .361, "SEX[2]": -.227}
statistics: {Intercept: 42.107, AGE: 11.298, "SEX[2]": -7.109}
p_values: {Intercept: .000, AGE: .000, "SEX[2]": .000}
""",
    ),
    "statsmodels": (
        """\
                            OLS Regression Results
==============================================================================
Dep. Variable:                    PAY   R-squared:                       0.186
Model:                            OLS   Adj. R-squared:                  0.184
Method:                 Least Squares   F-statistic:                     90.80
Date:                Mon, 16 Nov 2026   Prob (F-statistic):           2.99e-36
Time:                        19:34:11   Log-Likelihood:                -2280.7
No. Observations:                 800   AIC:                             4567.
Df Residuals:                     797   BIC:                             4582.
Df Model:                           2
Covariance Type:            nonrobust
===============================================================================
                  coef    std err          t      P>|t|      [0.025      0.975]
-------------------------------------------------------------------------------
Intercept      20.0768      0.477     42.107      0.000      19.141      21.013
C(SEX)[T.2]    -2.1102      0.297     -7.109      0.000      -2.693      -1.528
AGE             0.0978      0.009     11.298      0.000       0.081       0.115
==============================================================================
Omnibus:                        1.584   Durbin-Watson:                   2.003
Prob(Omnibus):                  0.453   Jarque-Bera (JB):                1.506
Skew:                           0.014   Prob(JB):                        0.471
Kurtosis:                       2.789   Cond. No.                         173.
==============================================================================

Notes:
[1] Standard Errors assume that the covariance matrix of the errors is correctly specified.
""",
        """\
coefficients: {Intercept: 20.0768, AGE: 0.0978, "SEX[2]": -2.1102}
standard_errors: {Intercept: 0.477, AGE: 0.009, "SEX[2]": 0.297}
statistics: {Intercept: 42.107, AGE: 11.298, "SEX[2]": -7.109}
p_values: {Intercept: 0.000, AGE: 0.000, "SEX[2]": 0.000}
confidence_intervals: {Intercept: [19.141, 21.013], AGE: [0.081, 0.115], "SEX[2]": [-2.693, -1.528]}
observations: 800
r_squared: 0.186
adjusted_r_squared: 0.184
f: 90.80
f_p_value: 0.00000000000000000000000000000000000299
log_likelihood: -2280.7
aic: 4567
bic: 4582
""",
    ),
    "stargazer": (
        """\
===============================================
                        Dependent variable:
                    ---------------------------
                                PAY
-----------------------------------------------
AGE                          0.098***
                              (0.009)

SEX2                         -2.110***
                              (0.297)

Constant                     20.077***
                              (0.477)

-----------------------------------------------
Observations                    800
R2                             0.186
Adjusted R2                    0.184
Residual Std. Error      4.195 (df = 797)
F Statistic          90.800*** (df = 2; 797)
===============================================
Note:               *p<0.1; **p<0.05; ***p<0.01
""",
        """\
coefficients: {Intercept: 20.077, AGE: 0.098, "SEX[2]": -2.110}
standard_errors: {Intercept: 0.477, AGE: 0.009, "SEX[2]": 0.297}
p_values: {Intercept: "***", AGE: "***", "SEX[2]": "***"}
observations: 800
r_squared: 0.186
adjusted_r_squared: 0.184
rmse: 4.195
f: 90.800
f_p_value: "***"
""",
    ),
}


@pytest.mark.parametrize("layout", OLS_TABLES)
def test_linear_models_are_read_with_their_fit(tmp_path: Path, layout: str) -> None:
    table, mapping = OLS_TABLES[layout]
    assert read(tmp_path, OLS, table) == read(tmp_path, OLS + mapping)


CHOICES = {
    "Stata": """\
    Multinomial logistic regression                         Number of obs =    800
    Log likelihood = -871.67

    ------------------------------------
          CHOICE | Coefficient  Std. err.
    -------------+----------------------
    Labour       |  (base outcome)
    -------------+----------------------
    Conservative |
             AGE |     0.0152     0.005
             SEX |
         Female  |     0.2983     0.173
           _cons |    -0.8504     0.283
    -------------+----------------------
    Other        |
             AGE |     0.0021     0.005
             SEX |
         Female  |     0.1281     0.176
           _cons |    -0.1938     0.276
    ------------------------------------
    """,
    "statsmodels": """\
                              MNLogit Regression Results
    ==============================================================================
    Dep. Variable:                 CHOICE   No. Observations:                  800
    Model:                        MNLogit   Log-Likelihood:                -871.67
    ==============================================================================
      CHOICE=b       coef    std err
    ------------------------------------------------------------------------------
    const         -0.8504      0.283
    AGE            0.0152      0.005
    SEX2           0.2983      0.173
    ------------------------------------------------------------------------------
      CHOICE=c       coef    std err
    ------------------------------------------------------------------------------
    const         -0.1938      0.276
    AGE            0.0021      0.005
    SEX2           0.1281      0.176
    ==============================================================================
    """,
    "columns": """\
                 Conservative        Other
    Constant     -0.8504 (0.283)    -0.1938 (0.276)
    Age           0.0152 (0.005)     0.0021 (0.005)
    Female        0.2983 (0.173)     0.1281 (0.176)
    Observations  800
    Log likelihood = -871.67
    """,
    "headings": """\
                        B         SE
    Conservative vs. Labour
      Constant         -0.8504    0.283
      Age               0.0152    0.005
      Female            0.2983    0.173
    Other vs. Labour
      Constant         -0.1938    0.276
      Age               0.0021    0.005
      Female            0.1281    0.176
    N                   800
    Log likelihood     -871.67
    """,
}


@pytest.mark.parametrize("layout", CHOICES)
def test_outcomes_of_a_multinomial_model_are_told_apart(tmp_path: Path, layout: str) -> None:
    mapping = """\
coefficients:
  b: {Intercept: -0.8504, AGE: 0.0152, "SEX[2]": 0.2983}
  c: {Intercept: -0.1938, AGE: 0.0021, "SEX[2]": 0.1281}
standard_errors:
  b: {Intercept: 0.283, AGE: 0.005, "SEX[2]": 0.173}
  c: {Intercept: 0.276, AGE: 0.005, "SEX[2]": 0.176}
observations: 800
log_likelihood: -871.67
"""
    table = CHOICES[layout].replace("\n    ", "\n")[4:]
    assert read(tmp_path, CHOICE, table) == read(tmp_path, CHOICE + mapping)


SQUARES = """\
kind: ols
formula: PAY ~ AGE + I(AGE^2) + log(HOURS) + AREAP + SEX + AGE:SEX + AREAP:SEX
reference: {AREAP: 51}
"""
MORE = VARIABLES + "HOURS: {label: Hours a week, integer: [1, 80]}\n"


@pytest.mark.parametrize(
    ("term", "labels"),
    {
        "Intercept": "Intercept|(Intercept)|_cons|Constant|(Constant)|const|intercept",
        "AGE": "AGE|age|Age|c.AGE|Age*",
        "I(AGE^2)": "I(AGE^2)|AGE squared|Age²|c.AGE#c.AGE|AGE^2|I(AGE ** 2)|age x age",
        "log(HOURS)": "log(HOURS)|ln(HOURS)|ln Hours a week|np.log(HOURS)|log HOURS",
        "AREAP[48]": "AREAP 48|AREAP=48|AREAP[48]|48.AREAP|factor(AREAP)48|C(AREAP)[T.48]|AREAP48"
        "|Area: Barnsley|Area - Barnsley|area = BARNSLEY|Barnsley|AREAP[T.48]|AREAP(1)|48. Barnsley"
        "|C(AREAP, Treatment(reference=51))[T.48]|Barnsley (vs Sheffield)|AREAP_48|as.factor(AREAP)48",
        "SEX[2]": "SEX 2|Female|Sex (Female)|2.SEX|SEXFemale|Sex|SEX",
        "AGE:SEX[2]": "AGE x SEX 2|AGE:SEX[2]|SEX[2]:AGE|2.SEX#c.AGE|Age × Female|AGE*SEX=2"
        "|AGE:factor(SEX)2|Female x Age|C(SEX)[T.2]:AGE|Age by female",
        "AREAP[48]:SEX[2]": "48.AREAP#2.SEX|Barnsley × Female|AREAP48:SEX2|Area: Barnsley x Sex: Female"
        "|C(AREAP)[T.48]:C(SEX)[T.2]",
    }.items(),
)
def test_terms_are_found_however_they_are_written(tmp_path: Path, term: str, labels: str) -> None:
    for label in labels.split("|"):
        path = write(tmp_path, MORE, f"{SQUARES}table: |\n  coef  se\n  {label}  1.20  0.13\n", 800)
        assert figures(load(path)) == {term: "1.20", f"SE of {term}": "0.13"}, label


def test_headings_of_interactions_hold_for_the_lines_below(tmp_path: Path) -> None:
    table = """\
         PAY | Coefficient  Std. err.
-------------+----------------------
         SEX |
     Female  |      1.20       0.13
   SEX#c.AGE |
     Female  |      2.20       0.14
   AREAP#SEX |
Doncaster#Female  |  3.20   0.15
"""
    path = write(tmp_path, MORE, f"{SQUARES}table: |2\n{indent(table, 2)}", 800)
    found = figures(load(path))
    assert [(k, v) for k, v in found.items() if not k.startswith("SE ")] == [
        ("SEX[2]", "1.20"),
        ("AGE:SEX[2]", "2.20"),
        ("AREAP[49]:SEX[2]", "3.20"),
    ]


def test_cut_points_and_alpha_are_read(tmp_path: Path) -> None:
    ordered = "kind: ordered\nformula: CHOICE ~ AGE\n"
    table = """\
      CHOICE | Odds ratio   P>|z|     [90% conf. interval]
-------------+--------------------------------------------
         AGE |     1.020   0.012        1.007    1.033
-------------+--------------------------------------------
       /cut1 |    -.512
       /cut2 |     1.204
"""
    mapping = """\
odds_ratios: {AGE: 1.020}
p_values: {AGE: 0.012}
confidence_intervals: {AGE: [1.007, 1.033]}
level: 90
cut_points: {a|b: -.512, b|c: 1.204}
"""
    polr = """\
Coefficients:
      Value Std. Error t value
AGE 0.0198    0.00789   2.51

Intercepts:
    Value   Std. Error t value
a|b -0.5120  0.2104    -2.43
b|c  1.2040  0.2202     5.47
"""
    whole = """\
coefficients: {AGE: 0.0198}
cut_points: {a|b: -0.5120, b|c: 1.2040}
standard_errors: {AGE: 0.00789, a|b: 0.2104, b|c: 0.2202}
statistics: {AGE: 2.51, a|b: -2.43, b|c: 5.47}
"""
    assert read(tmp_path, ordered, polr) == read(tmp_path, ordered + whole)
    assert read(tmp_path, ordered, table) == read(tmp_path, ordered + mapping)
    counts = "kind: negative_binomial\nformula: AGE ~ SEX\n"
    table = """\
         AGE |      IRR   P>|z|
-------------+------------------
       2.SEX |     1.12   0.212
-------------+------------------
    /lnalpha |   -1.609
-------------+------------------
       alpha |    0.200
"""
    mapping = 'rate_ratios: {"SEX[2]": 1.12}\np_values: {"SEX[2]": 0.212}\nalpha: 0.200\n'
    assert read(tmp_path, counts, table) == read(tmp_path, counts + mapping)


YES = "kind: ols\nformula: PAY ~ CARS + ILL\nreference: {ILL: 2}\n"


KNOWN = "(known: Intercept, AGE, AREAP[48], Barnsley, AREAP[49], Doncaster, AREAP[50], Rotherham, SEX[2], Female)"
NEITHER = "is neither a term of the formula nor a measure of fit"
COLUMNS = "separate the columns with tabs or |, or write .. where there is none"


@pytest.mark.parametrize(
    ("output", "table", "expected"),
    [
        (
            LOGIT,
            "coef se\nAgge 1.2 0.1\nBarnsly 1.3 0.1\n",
            [
                f"2 'Agge' {NEITHER} (did you mean 'AGE'?)",
                f"3 'Barnsly' {NEITHER} (did you mean 'Barnsley'?)",
            ],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nDemographics\nFemale  1.3  0.1\n",
            [f"3 'Demographics' {NEITHER} {KNOWN}"],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nSheffield  1.3  0.1\n",
            [
                "3 'Sheffield' is the reference category, which has no coefficient; remove the line, or name another value under reference"
            ],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nRotherham (ref.)\n",
            ["3 the table has AREAP[50] as reference; name it under reference"],
        ),
        (LOGIT, "coef  se\nAge  1.2  0.1\nage  1.2  0.1\n", ["3 AGE stands in the table twice"]),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nNagelkerke R2  0.31\n",
            [f"3 'Nagelkerke R2' {NEITHER} {KNOWN}"],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nR2  0.31\n",
            ["3 kind logit has no r squared; remove the line"],
        ),
        (LOGIT, "coef  se\nAge  1.2  0.1\n48  0.31  0.2\n", [f"3 '48' {NEITHER} {KNOWN}"]),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1  0.3\n",
            [f"2 3 figures, but the header names 2; {COLUMNS}"],
        ),
        (LOGIT, "coef  se\nAge  1.2\n", [f"2 1 figure, but the header names 2; {COLUMNS}"]),
        (
            LOGIT,
            "coef  se\nAge  1,2  0,1\n",
            [
                "2 '1,2' seems to have a decimal comma; write a decimal point, or a space after the comma of an interval"
            ],
        ),
        (
            LOGIT,
            "OR  Std. err.\nAge  1.2  0.1\n",
            [
                "2 are these standard errors of the ratios, as Stata prints them? Say standard_errors_of: ratios or coefficients"
            ],
        ),
        (
            LOGIT,
            "IRR  95% CI\nAge  1.2  1.1-1.3\n",
            ["2 kind logit has no rate ratios; remove the column"],
        ),
        (
            OLS,
            "Beta  SE\nAge  1.2  0.1\n",
            ["2 beta may be the coefficient or a standardised one; say which under shows"],
        ),
        (
            LOGIT,
            "coef  Robust std. err.\nAge  1.2  0.1\n",
            ["1 these standard errors are robust; say how under robust, such as HC1"],
        ),
        (
            LOGIT + "level: 99\n",
            "coef  95% CI\nAge  1.2  1.1-1.3\n",
            ["1 intervals of 95% here, but level is 99"],
        ),
        (
            LOGIT + "observations: 799\n",
            "coef  se\nAge  1.2  0.1\nN  800\n",
            ["3 observations is 800 here, but 799 before"],
        ),
        (
            LOGIT + "coefficients: {AGE: 1.3}\n",
            "coef  se\nAge  1.2  0.1\n",
            ["2 the same term as 'AGE'"],
        ),
        (
            LOGIT,
            "Age is nice\n",
            ["1 no figures were found; paste the table with its terms and figures"],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2*****  0.1\n",
            ["2 ***** has more stars than levels are listed under stars"],
        ),
        (
            LOGIT,
            "coef  se\nSEX(1)  1.2  0.1\n",
            ["2 'SEX(1)' may be SEX[1] (reference) or SEX[2]; write which of them"],
        ),
        (
            YES,
            "coef  se\nYes  1.2  0.1\n",
            ["2 'Yes' may be CARS[1] or ILL[1]; write which of them"],
        ),
        (
            CHOICE,
            "coef  se\nAge  1.2  0.1\n",
            ["2 for which outcome? Write a line with its value above the terms"],
        ),
        (
            LOGIT,
            "Prob > chi2 = 0.0000\nWald chi2(5) = 92.10\n  coef  se\nAge  1.2  0.1\n",
            [
                "1 the p-value of a Wald test is not read; remove it",
                f"2 'Wald chi2(5) =' {NEITHER} {KNOWN}",
            ],
        ),
        (
            LOGIT,
            "coef  se  z\nAge  -0.043  0.005  7.1\n",
            [
                "2 z of AGE is 7.1, but it must lie from -9.66667 to -7.72727 by the coefficient and its standard error"
            ],
        ),
        (
            LOGIT,
            "coef  weird\nAge  -0.043  0.005\n",
            [
                "1 'weird' is not known above a column; write what it holds, such as coef, SE, z, p or 95% CI, or remove it"
            ],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1\nFemale  n/k  0.2\n",
            [f"3 'Female n/k' {NEITHER} (did you mean 'Female'?)"],
        ),
        (
            LOGIT,
            "coef  95% CI\nAge  1.2  1.1\n",
            ["2 Age: one end of the confidence interval is missing"],
        ),
        (
            LOGIT,
            "coef  lower  upper\nAge  1.2  1.1  ..\n",
            ["2 Age: one end of the confidence interval is missing"],
        ),
        (
            LOGIT,
            "coef  se\nAge  1.2  0.1  per year\n",
            [f"2 'Age 1.2 0.1 per year' {NEITHER} {KNOWN}"],
        ),
        (
            LOGIT,
            "coef  p\nAge  1.2  1.4\n",
            ["2 1.4 is not a p-value; it must lie between 0 and 1"],
        ),
        (
            LOGIT,
            "coef  p\nAge  1.2  1.4e-77\n",
            ["2 so small a p-value is not read; write <0.001 in its place"],
        ),
    ],
)
def test_every_line_that_is_not_read_is_reported(
    tmp_path: Path, output: str, table: str, expected: list[str]
) -> None:
    assert wrong(tmp_path, output, table) == expected


@pytest.mark.parametrize(
    ("shows", "table", "expected"),
    [
        (
            "",
            "Age  -0.043*** (0.005)\n",
            {"AGE": "-0.043", "SE of AGE": "0.005", "p of AGE": "***"},
        ),
        (
            "",
            "Age  -0.043\n  (-9.15)\nt statistics in parentheses\n",
            {"AGE": "-0.043", "z of AGE": "-9.15"},
        ),
        (
            "",
            "Age  -0.043 (0.118)\np-values in parentheses\n",
            {"AGE": "-0.043", "p of AGE": "0.118"},
        ),
        ("", "Age  0.96\nExponentiated coefficients\n", {"odds ratio of AGE": "0.96"}),
        (
            "[odds_ratios, p_values]",
            "Age  0.96 (<0.001)\n",
            {"odds ratio of AGE": "0.96", "p of AGE": "<0.001"},
        ),
        ("odds_ratios", "Model A\nAge  0.96\n", {"odds ratio of AGE": "0.96"}),
        (
            "",
            "adjusted OR  99% CI  p-value\nAge  0.96  0.95 - 0.97  p<0.001\n",
            {
                "odds ratio of AGE": "0.96",
                "p of AGE": "<0.001",
                "lower 99% limit of AGE": "0.95",
                "upper 99% limit of AGE": "0.97",
            },
        ),
        (
            "",
            "B  95% CI\nAge  −0.043  (−0.052, −0.034)\n",
            {
                "AGE": "-0.043",
                "lower 95% limit of AGE": "-0.052",
                "upper 95% limit of AGE": "-0.034",
            },
        ),
        (
            "",
            "B  95% CI\nAge  −0.043  −0.052 −0.034\n",
            {
                "AGE": "-0.043",
                "lower 95% limit of AGE": "-0.052",
                "upper 95% limit of AGE": "-0.034",
            },
        ),
        (
            "",
            "B  95% CI\nAge  -0.043  -0.052 to -0.034\n",
            {
                "AGE": "-0.043",
                "lower 95% limit of AGE": "-0.052",
                "upper 95% limit of AGE": "-0.034",
            },
        ),
    ],
)
def test_what_figures_are_is_told_by_header_notes_or_spec(
    tmp_path: Path, shows: str, table: str, expected: dict[str, str]
) -> None:
    output = LOGIT + (f"shows: {shows}\n" if shows else "")
    assert read(tmp_path, output, table) == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "term coef se\nAGE -0.043 0.005\nSEX 2 0.153\n",
            [f"3 1 figure, but the header names 2; {COLUMNS}"],
        ),
        ("B (SE)\nAge  -0.043 (0.005)\nFemale  (0.153)\n", {"SE of SEX[2]": "0.153"}),
        ("  coef   se\nAge  -0.043  0.005\nFemale       0.153\n", {"SE of SEX[2]": "0.153"}),
    ],
)
def test_figures_keep_their_columns_where_others_are_missing(
    tmp_path: Path, table: str, expected: dict[str, str] | list[str]
) -> None:
    if isinstance(expected, list):
        assert wrong(tmp_path, LOGIT, table) == expected
    else:
        age = {"AGE": "-0.043", "SE of AGE": "0.005"}
        assert read(tmp_path, LOGIT, table) == age | expected


SPACED = {
    "step of SPSS": (
        LOGIT,
        """\
                     B      S.E.    Wald     df   Sig.   Exp(B)
Step 1a   AGE        -.043  .005    83.674   1    .000   .958
          AREAP                     3.100    3    .377
          Barnsley   -.318  .204    2.439    1    .118   .728
          Female     -.489  .153    10.146   1    .001   .613
          Constant   2.668  .285    87.437   1    .000   14.410
""",
        'coefficients: {AGE: -.043, "AREAP[48]": -.318, "SEX[2]": -.489, Intercept: 2.668}\n'
        'standard_errors: {AGE: .005, "AREAP[48]": .204, "SEX[2]": .153, Intercept: .285}\n'
        'p_values: {AGE: .000, "AREAP[48]": .118, "SEX[2]": .001, Intercept: .000}\n'
        'odds_ratios: {AGE: .958, "AREAP[48]": .728, "SEX[2]": .613, Intercept: 14.410}\n',
    ),
    "model of SPSS": (
        OLS,
        """\
                  B         Std. Error   Beta    t        Sig.
1   (Constant)    12.450    1.200                10.375   .000
    Age           .123      .012         .298    10.250   .000
    Sex=Female    -1.120    .400         -.091   -2.800   .005
""",
        'coefficients: {Intercept: 12.450, AGE: .123, "SEX[2]": -1.120}\n'
        'standard_errors: {Intercept: 1.200, AGE: .012, "SEX[2]": .400}\n'
        'betas: {AGE: .298, "SEX[2]": -.091}\n'
        'statistics: {Intercept: 10.375, AGE: 10.250, "SEX[2]": -2.800}\n'
        'p_values: {Intercept: .000, AGE: .000, "SEX[2]": .005}\n',
    ),
    "p of all categories together": (
        LOGIT,
        """\
                 OR      95% CI          p
Age (years)      0.96    0.95-0.97     <0.001
Area                                   0.377
  Barnsley       0.73    0.49-1.08     0.118
  Sheffield      1.00
""",
        'odds_ratios: {AGE: 0.96, "AREAP[48]": 0.73}\n'
        'confidence_intervals: {AGE: [0.95, 0.97], "AREAP[48]": [0.49, 1.08]}\n'
        'p_values: {AGE: <0.001, "AREAP[48]": 0.118}\n'.replace("<0.001", "'<0.001'"),
    ),
    "estout with base levels": (
        OLS,
        """\
                      (1)
                      PAY
AGE                 0.123***
                  (0.012)
1.SEX                   0
                      (.)
2.SEX              -1.120**
                  (0.400)
N                     800
r2                  0.120
r2_a                0.118
F                   54.30
p                  0.0000
""",
        'coefficients: {AGE: 0.123, "SEX[2]": -1.120}\n'
        'standard_errors: {AGE: 0.012, "SEX[2]": 0.400}\n'
        'p_values: {AGE: "***", "SEX[2]": "**"}\n'
        "observations: 800\nr_squared: 0.120\nadjusted_r_squared: 0.118\nf: 54.30\n"
        "f_p_value: 0.0000\n",
    ),
    "F and its p in a line": (
        OLS,
        "       b      SE\nAge    0.123  0.012\nF(2, 797) = 54.30, p < 0.001\n",
        "coefficients: {AGE: 0.123}\nstandard_errors: {AGE: 0.012}\nf: 54.30\nf_p_value: '<0.001'\n",
    ),
    **{
        label: (
            OLS,
            f"                   b      SE\nAge                0.123  0.012\n{label:<18} 0.0312\n",
            "coefficients: {AGE: 0.123}\nstandard_errors: {AGE: 0.012}\nf_p_value: 0.0312\n",
        )
        for label in ("F-test p value", "F-test (p value)", "p-value of F", "p (F)", "Prob > F")
    },
    "likelihood ratio and its p in a line": (
        LOGIT,
        "       b       SE\nAge    -0.043  0.005\nLR chi2(5) = 99.43, p < 0.001\n",
        "coefficients: {AGE: -0.043}\nstandard_errors: {AGE: 0.005}\nlr_chi_square: 99.43\n"
        "lr_p_value: '<0.001'\n",
    ),
}


@pytest.mark.parametrize(("kind", "table", "mapping"), SPACED.values(), ids=SPACED)
def test_what_programs_print_with_spaces(
    tmp_path: Path, kind: str, table: str, mapping: str
) -> None:
    assert read(tmp_path, kind, table) == read(tmp_path, kind + mapping)


def test_a_unit_is_no_category(tmp_path: Path) -> None:
    table = "             coef    se\nAge (years)  -0.043  0.005\nSex (both)   0.2     0.1\n"
    (told,) = wrong(tmp_path, LOGIT, table)
    assert told.startswith("3 'Sex (both)' is neither a term of the formula")
