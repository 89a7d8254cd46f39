"""Models in the starter script for SPSS."""

from __future__ import annotations

from collections.abc import Iterator

from evosynth.analysis import Fitting
from evosynth.design import Column
from evosynth.schema import Schema
from evosynth.scripts.spss_text import comment, literal, quoted
from evosynth.scripts.text import line


def _column(column: Column, schema: Schema, names: dict[str, str]) -> str:
    parts = []
    for part in column.parts:
        name = part.factor.variable
        if part.level is not None:
            value = literal(schema[name], schema[name].texts[part.level])
            parts.append(f"({names[name]} = {value})")
        elif part.factor.log:
            parts.append(f"LN({names[name]})")
        else:
            power = part.factor.power
            parts.append(names[name] if power == 1 else f"{names[name]}**{power}")
    return " * ".join(parts)


def fitting(analysis: Fitting, schema: Schema, names: dict[str, str]) -> Iterator[str]:
    """Write the fit of a model; its terms are variables term1_, term2_ … with labels."""
    yield comment(analysis.formula)
    columns = [column for column in analysis.columns if column.parts]
    outcome, variable = names[analysis.outcome], schema[analysis.outcome]
    if analysis.family in {"logit", "probit"}:
        yield f"COMPUTE outcome_ = ({outcome} = {literal(variable, analysis.outcomes[0])})."
    elif analysis.family in {"multinomial", "ordered"}:
        for number, text in enumerate(analysis.outcomes, 1):
            yield f"IF ({outcome} = {literal(variable, text)}) outcome_ = {number}."
    else:
        yield f"COMPUTE outcome_ = {f'LN({outcome})' if analysis.log else outcome}."
    for number, column in enumerate(columns, 1):
        yield f"COMPUTE term{number}_ = {_column(column, schema, names)}."
        yield f"VARIABLE LABELS term{number}_ {quoted(line(column.name, 80))}."
    terms = " ".join(f"term{number}_" for number in range(1, len(columns) + 1))
    yield from _command(analysis, terms, names)
    yield f"DELETE VARIABLES outcome_ {terms}."


def _command(analysis: Fitting, terms: str, names: dict[str, str]) -> Iterator[str]:
    level = f"{analysis.level:.10g}"
    family, extra = analysis.family, names[analysis.extra] if analysis.extra else ""
    if analysis.robust is not None and family not in {"ols", "wls"}:
        note = "GENLIN's robust covariance is HC0; other factors are to be applied by hand"
        yield comment(f"Published standard errors are {analysis.robust}; {note}")
    covariance = "ROBUST" if analysis.robust is not None else "MODEL"
    printed = "/PRINT FIT SUMMARY SOLUTION(EXPONENTIATED)."
    if family in {"ols", "wls"} and analysis.robust is None:
        weights = f" /REGWGT={extra}" if extra else ""
        yield f"REGRESSION{weights} /STATISTICS=COEFF CI({level}) R ANOVA"
        yield f"  /DEPENDENT=outcome_ /METHOD=ENTER {terms}."
    elif family in {"ols", "wls"}:
        robust = "HC1" if analysis.robust == "stata" else analysis.robust
        weights = f" /REGWGT={extra}" if extra else ""
        yield comment("Robust standard errors need SPSS 25 or later")
        yield f"UNIANOVA outcome_ WITH {terms}{weights} /ROBUST={robust}"
        yield f"  /PRINT=PARAMETER /DESIGN={terms}."
    elif family == "logit" and analysis.robust is None:
        yield f"LOGISTIC REGRESSION VARIABLES=outcome_ WITH {terms}"
        yield f"  /PRINT=CI({level}) /CRITERIA=ITERATE(100)."
    elif family in {"logit", "probit"}:
        yield f"GENLIN outcome_ (REFERENCE=FIRST) WITH {terms} /MODEL {terms}"
        yield f"  DISTRIBUTION=BINOMIAL LINK={family.upper()}"
        yield f"  /CRITERIA COVB={covariance} METHOD=NEWTON {printed}"
    elif family in {"poisson", "negative_binomial"}:
        offset = ""
        if extra:
            yield f"COMPUTE offset_ = LN({extra})."
            offset = " OFFSET=offset_"
        kind = "POISSON" if family == "poisson" else "NEGBIN(MLE)"
        yield f"GENLIN outcome_ WITH {terms} /MODEL {terms}"
        yield f"  DISTRIBUTION={kind} LINK=LOG{offset}"
        yield f"  /CRITERIA COVB={covariance} METHOD=NEWTON {printed}"
    elif family == "multinomial":
        yield f"NOMREG outcome_ (BASE=1) WITH {terms} /PRINT=PARAMETER SUMMARY LRT CPS MFI IC"
        yield f"  /CRITERIA=CIN({level})."
    elif family == "ordered":
        yield f"PLUM outcome_ WITH {terms} /LINK=LOGIT /PRINT=FIT PARAMETER SUMMARY"
        yield f"  /CRITERIA=CIN({level})."
    elif family == "quantile":
        yield comment("Quantile regression needs SPSS 26 or later")
        yield f"QUANTILE REGRESSION outcome_ WITH {terms}"
        yield f"  /CRITERIA QUANTILE={analysis.quantile:.10g} /PRINT PARAMETER /MODEL {terms}."
    else:
        yield comment("SPSS has no procedure for this model")
