"""Models in the starter script for Stata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evosynth.analysis import Fitting
from evosynth.design import Column
from evosynth.scripts.stata_text import Names, harmless, literal
from evosynth.scripts.text import line

if TYPE_CHECKING:
    from evosynth.model_items import Item

_COMMANDS = {
    "ols": "regress",
    "wls": "regress",
    "logit": "logit",
    "probit": "probit",
    "poisson": "poisson",
    "negative_binomial": "nbreg",
    "multinomial": "mlogit",
    "ordered": "ologit",
    "quantile": "qreg",
}


def _column(column: Column, names: Names) -> str:
    parts = []
    for part in column.parts:
        name = part.factor.variable
        variable = names.schema[name]
        if part.level is not None:
            parts.append(f"({names[name]} == {literal(variable, variable.texts[part.level])})")
        elif part.factor.log:
            parts.append(f"ln({names[name]})")
        else:
            power = part.factor.power
            parts.append(names[name] if power == 1 else f"{names[name]}^{power}")
    return " * ".join(parts)


def fitting(analysis: Fitting, names: Names) -> Iterator[str]:
    """Write the fit of a model; its terms are variables _term1, _term2 … with labels."""
    yield f"* {harmless(line(analysis.formula))}"
    columns = [column for column in analysis.columns if column.parts]
    yield "capture drop _outcome"
    yield "capture drop _term*"
    outcome, variable = names[analysis.outcome], names.schema[analysis.outcome]
    if analysis.family in {"logit", "probit"}:
        event = literal(variable, analysis.outcomes[0])
        yield f"quietly generate byte _outcome = {outcome} == {event} if _people"
    elif analysis.family in {"multinomial", "ordered"}:
        yield "quietly generate byte _outcome = ."
        for number, text in enumerate(analysis.outcomes, 1):
            value = literal(variable, text)
            yield f"quietly replace _outcome = {number} if _people & {outcome} == {value}"
    else:
        found = f"ln({outcome})" if analysis.log else outcome
        yield f"quietly generate double _outcome = {found} if _people"
    for number, column in enumerate(columns, 1):
        yield f"quietly generate double _term{number} = {_column(column, names)} if _people"
        yield f'label variable _term{number} "{harmless(line(column.name, 80))}"'
    if analysis.family not in _COMMANDS:
        yield "* This model has no command here."
        return
    weights = ""
    options = []
    if analysis.family == "wls" and analysis.extra:
        weights = f" [aweight = {names[analysis.extra]}]"
    elif analysis.extra:
        options.append(f"exposure({names[analysis.extra]})")
    if analysis.family == "multinomial":
        options.append("baseoutcome(1)")
    if analysis.family == "quantile":
        options.append(f"quantile({analysis.quantile:.10g})")
    if analysis.weight is not None:
        yield f"quietly svyset [pweight = {names[analysis.weight]}]"
    elif analysis.robust in {"HC2", "HC3"}:
        options.append(f"vce({analysis.robust.lower()})")
    elif analysis.robust is not None:
        options.append("vce(robust)")
    if analysis.level != 95:
        options.append(f"level({analysis.level:.10g})")
    offset = f" exposure({names[analysis.extra]})" if analysis.extra else ""
    terms = f" _term1-_term{len(columns)}" if columns else ""
    shown = f", {' '.join(options)}" if options else ""
    command = _COMMANDS[analysis.family]
    if analysis.weight is not None:  # standard errors × n / (n - 1), as R's survey has them
        command = f"svy: {command}"
    yield f"{command} _outcome{terms} if _people{weights}{shown}"
    if analysis.family == "wls":
        yield "* Stata scales weights to sum to n: its root MSE and log likelihood differ"
    if analysis.family == "poisson" and any("deviance" in item.form for item in analysis.items):
        yield "estimates store fitted"
        yield f"quietly glm _outcome{terms} if _people, family(poisson){offset}"
        yield "scalar s_deviance = e(deviance)"
        yield f"quietly glm _outcome if _people, family(poisson){offset}"
        yield "scalar s_null_deviance = e(deviance)"
        yield "quietly estimates restore fitted"
    yield f"scalar s_k = {analysis.parameters}"
    if analysis.family in {"ols", "wls"}:
        yield f"scalar s_reach = invttail(e(df_r), {0.5 - analysis.level / 200:.10g})"
    else:
        yield f"scalar s_reach = invnormal({0.5 + analysis.level / 200:.10g})"


_MEASURES = {
    "observations": "e(N)",
    "log_likelihood": "e(ll)",
    "null_log_likelihood": "e(ll_0)",
    "pseudo_r_squared": "1 - e(ll) / e(ll_0)",
    "aic": "2 * s_k - 2 * e(ll)",
    "bic": "s_k * ln(e(N)) - 2 * e(ll)",
    "lr_chi_square": "2 * (e(ll) - e(ll_0))",
    "lr_p_value": "chi2tail({df}, 2 * (e(ll) - e(ll_0)))",
    "deviance": "-2 * e(ll)",
    "null_deviance": "-2 * e(ll_0)",
    "r_squared": "e(r2)",
    "adjusted_r_squared": "e(r2_a)",
    "f": "e(F)",
    "f_p_value": "Ftail(e(df_m), e(df_r), e(F))",
    "rmse": "e(rmse)",
}


def _place(parameter: int, analysis: Fitting) -> str:
    """Where Stata keeps a parameter."""
    columns = analysis.columns
    if analysis.family == "multinomial":
        equation, parameter = divmod(parameter, len(columns))
        term = f"_term{parameter}" if columns[parameter].parts else "_cons"
        return f"{equation + 2}:{term}"
    if parameter < len(columns):
        shift = 1 if columns[0].parts else 0
        return f"_term{parameter + shift}" if columns[parameter].parts else "_cons"
    if analysis.family == "ordered":
        return f"/cut{parameter - len(columns) + 1}"
    return "/lnalpha"


def figure(item: Item, analysis: Fitting) -> str:
    """Write the expression of one figure."""
    if item.parameter is None:
        if analysis.family == "poisson" and item.form == "deviance":
            return "s_deviance"
        if analysis.family == "poisson" and item.form == "null_deviance":
            return "s_null_deviance"
        return _MEASURES[item.form].format(df=analysis.parameters - analysis.null)
    place = _place(item.parameter, analysis)
    b, se = f"_b[{place}]", f"_se[{place}]"
    if place == "/lnalpha":
        b, se = f"exp({b})", f"exp({b}) * {se}"
    linear = analysis.family in {"ols", "wls"}
    factor = ""  # Stata's sandwich is × n / (n - k) in linear models, × n / (n - 1) in others
    if analysis.robust == "HC0":
        factor = "(e(N) - s_k) / e(N)" if linear else "(e(N) - 1) / e(N)"
    elif analysis.robust == "HC1" and not linear:
        factor = "(e(N) - 1) / (e(N) - s_k)"
    se = f"({se} * sqrt({factor}))" if factor else se
    ends = {"low": f"{b} - s_reach * {se}", "high": f"{b} + s_reach * {se}"}
    if item.form in ends:
        return f"exp({ends[item.form]})" if analysis.ratios else ends[item.form]
    t = f"abs({b} / ({se}))"
    return {
        "coefficient": b,
        "ratio": f"exp({b})",
        "se": f"{se} * exp({b})" if analysis.ratio_errors else se,
        "statistic": f"{b} / ({se})",
        "p": f"2 * ttail(e(df_r), {t})" if linear else f"2 * normal(-{t})",
        "beta": f"{b} * s_spread / r(sd)",
    }[item.form]


def before(item: Item, analysis: Fitting, names: Names) -> Iterator[str]:
    """Write what must be known before a figure: spreads, for a standardised coefficient."""
    if item.form == "beta" and item.parameter is not None:
        weights = f" [aweight = {names[analysis.extra]}]" if analysis.extra else ""
        yield f"quietly summarize {_place(item.parameter, analysis)} if _people{weights}"
        yield "scalar s_spread = r(sd)"
        yield f"quietly summarize _outcome if _people{weights}"
