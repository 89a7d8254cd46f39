"""Models in the starter script in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evosynth.analysis import Fitting
from evosynth.design import Column
from evosynth.schema import Schema
from evosynth.scripts.text import Block, is_text, line

if TYPE_CHECKING:
    from evosynth.model_items import Item

_SETTLE = '''

def settle(b, scores):
    """Newton's method from a start; the covariance rests on the observed information."""
    for _ in range(50):
        hessian = np.empty((len(b), len(b)))
        for j in range(len(b)):
            step = np.zeros(len(b))
            step[j] = 1e-5 * max(1, abs(b[j]))
            change = scores(b + step).sum(axis=0) - scores(b - step).sum(axis=0)
            hessian[j] = change / (2 * step[j])
        covariance = np.linalg.inv(-(hessian + hessian.T) / 2)
        move = covariance @ scores(b).sum(axis=0)
        b = b + move
        if np.abs(move / np.sqrt(np.diag(covariance))).max() < 1e-9:
            break
    return b, covariance


def ordered_scores(y, x):
    """Score of each record of an ordered logit; y counts from 0, cut points come last."""

    def scores(b):
        width = x.shape[1]
        cuts = np.concatenate([[-np.inf], b[width:], [np.inf]])
        line = x @ b[:width]
        upper, lower = (1 / (1 + np.exp(line - cuts[y + side])) for side in (1, 0))
        up = upper * (1 - upper) / (upper - lower)
        low = lower * (1 - lower) / (upper - lower)
        by_cut = np.zeros((len(y), len(cuts)))
        by_cut[np.arange(len(y)), y + 1] += up
        by_cut[np.arange(len(y)), y] -= low
        return np.hstack([(low - up)[:, None] * x, by_cut[:, 1:-1]])

    return scores


def ordered_likelihood(b, y, x):
    """Log-likelihood of an ordered logit."""
    cuts = np.concatenate([[-np.inf], b[x.shape[1] :], [np.inf]])
    line = x @ b[: x.shape[1]]
    upper, lower = (1 / (1 + np.exp(line - cuts[y + side])) for side in (1, 0))
    return np.log(upper - lower).sum()
'''
_SPREAD = '''

def spread(values, weights):
    """Weighted standard deviation."""
    middle = np.average(values, weights=weights)
    return np.sqrt(np.average((values - middle) ** 2, weights=weights))
'''


def tools(families: set[str]) -> str:
    """Functions that the models of a script need."""
    found = _SPREAD if families & {"ols", "wls"} else ""
    return found + (_SETTLE if "ordered" in families else "")


def _column(column: Column, schema: Schema) -> str:
    """Write a column of the design matrix."""
    parts = []
    for part in column.parts:
        name = part.factor.variable
        values = f"people[{name!r}]"
        if part.level is not None:
            text = schema[name].texts[part.level]
            parts.append(
                f"({values} == {text!r})" if is_text(schema[name]) else f"({values} == {text})"
            )
        elif part.factor.log:
            parts.append(f"np.log({values})")
        else:
            power = part.factor.power
            parts.append(values if power == 1 else f"{values}.astype(float) ** {power}")
    if not parts:
        return "1.0"
    return parts[0] if len(parts) == 1 else "1.0 * " + " * ".join(parts)


def fitting(analysis: Fitting, block: Block, people: str, schema: Schema) -> Iterator[str]:
    """Write the fit of a model and its figures."""
    from evosynth.scripts.python import show, value

    yield f"# {line(analysis.formula)}"
    yield f"people = {people}"
    outcome = f"people[{analysis.outcome!r}]"
    if analysis.family in {"logit", "probit"}:
        event = value(analysis.outcome, analysis.outcomes[0], schema)
        yield f"y = ({outcome} == {event}).astype(float)"
    elif analysis.family in {"multinomial", "ordered"}:
        order = ", ".join(value(analysis.outcome, text, schema) for text in analysis.outcomes)
        yield f"y = {outcome}.map({{code: i for i, code in enumerate([{order}])}}).astype(int)"
    else:
        found = f"{outcome}.astype(float)"
        yield f"y = np.log({found})" if analysis.log else f"y = {found}"
    if analysis.columns:
        yield "x = pd.DataFrame("
        yield "    {"
        for column in analysis.columns:
            yield f"        {column.name!r}: {_column(column, schema)},"
        yield "    },"
        yield "    index=people.index,"
        yield ").astype(float)"
    yield f"n, k = len(y), {analysis.parameters}"
    if any(item.form != "observations" for item in analysis.items):
        yield from _fit(analysis)
    for position, item in enumerate(analysis.items):
        yield show(block, position, _figure(item, analysis))


_FITS = {
    "logit": "sm.GLM(y, x, family=sm.families.Binomial()).fit(tol=1e-12{})",
    "poisson": "sm.GLM(y, x, family=sm.families.Poisson(){}).fit(tol=1e-12{})",
    "probit": 'sm.Probit(y, x).fit(method="newton", maxiter=100, tol=1e-12, disp=0{})',
    "multinomial": 'sm.MNLogit(y, x).fit(method="newton", maxiter=100, tol=1e-12, disp=0{})',
    "quantile": "sm.QuantReg(y, x).fit(q={}, max_iter=10_000, p_tol=1e-9)",
    "ols": "sm.OLS(y, x).fit()",
    "survey logit": "sm.GLM(y, x, family=sm.families.Binomial(), freq_weights=w).fit(tol=1e-12)",
    "wls": "sm.WLS(y, x, weights=w).fit()",
}


def _fit(analysis: Fitting) -> Iterator[str]:
    family, robust = analysis.family, analysis.robust
    sandwich = "" if robust is None else ', cov_type="HC0"'
    extra = f"people[{analysis.extra!r}].astype(float)" if analysis.extra else ""
    inflated = {"HC1": "n / (n - k)", "stata": "n / (n - 1)"}.get(robust or "", "1")
    if analysis.weight is not None:
        yield f"w = people[{analysis.weight!r}].astype(float)"
        yield f"fit = {_FITS['wls' if family == 'ols' else f'survey {family}']}"
        yield "b = fit.params.to_numpy()"
        yield "scores = x.to_numpy() * (w * (y - fit.predict(x))).to_numpy()[:, None]"
        spread = "" if family == "ols" else " * fit.mu * (1 - fit.mu)"
        yield f"bread = np.linalg.inv(x.T @ x.mul(w{spread}, axis=0))"
        scale = {"HC0": "1", "HC1": "n / (n - k)", "stata": "n / (n - 1)"}
        factor = scale.get(robust or "", "n / (n - 1)")
        yield f"v = bread @ (scores.T @ scores) @ bread * {factor}"
        yield "se = np.sqrt(np.diag(v))"
        yield f"dist = {'stats.t(fit.df_resid)' if family == 'ols' else 'stats.norm()'}"
        return
    if family in {"ols", "wls"}:
        yield f"w = {extra or 'pd.Series(1.0, index=people.index)'}"
        yield f"fit = {_FITS[family]}"
        errors = "bse" if robust is None else f"{'HC1' if robust == 'stata' else robust}_se"
        yield f"b, se = fit.params.to_numpy(), np.asarray(fit.{errors})"
        yield "dist = stats.t(fit.df_resid)"
        return
    if family == "quantile":
        yield f"fit = {_FITS[family].format(analysis.quantile)}"
        yield "b = fit.params.to_numpy()"
        return
    if family == "ordered":
        yield "from statsmodels.miscmodels.ordinal_model import OrderedModel"
        yield ""
        yield "middle, width = x.mean(), x.std()"
        yield 'model = OrderedModel(y.to_numpy(), ((x - middle) / width).to_numpy(), distr="logit")'
        yield 'found = np.asarray(model.fit(method="bfgs", disp=0, maxiter=500).params)'
        yield "slopes = found[: x.shape[1]] / width.to_numpy()"
        yield "cuts = model.transform_threshold_params(found)[1:-1] + middle.to_numpy() @ slopes"
        yield "scores = ordered_scores(y.to_numpy(), x.to_numpy())"
        yield "b, v = settle(np.concatenate([slopes, cuts]), scores)"
        if robust is not None:
            yield f"v = v @ scores(b).T @ scores(b) @ v * {inflated}"
        yield "se = np.sqrt(np.diag(v))"
        yield "ll = ordered_likelihood(b, y.to_numpy(), x.to_numpy())"
        yield "ll0 = (y.value_counts() * np.log(y.value_counts() / n)).sum()"
    elif family == "negative_binomial":
        exposure = f", exposure={extra}" if extra else ""
        yield f"model = sm.NegativeBinomial(y, x{exposure})"
        yield f"poisson = sm.GLM(y, x, family=sm.families.Poisson(){exposure}).fit()"
        yield "spread = ((y - poisson.mu) ** 2 - poisson.mu).sum() / (poisson.mu**2).sum()"
        yield "start = np.append(poisson.params, max(spread, 0.05))"
        how = f'method="newton", maxiter=100, tol=1e-12, disp=0{sandwich}'
        yield f"fit = model.fit(start_params=start, {how})"
    elif family == "poisson":
        exposure = f", exposure={extra}" if extra else ""
        yield f"fit = {_FITS[family].format(exposure, sandwich)}"
    else:
        yield f"fit = {_FITS[family].format(sandwich)}"
    if family != "ordered":
        yield 'b = np.asarray(fit.params).ravel(order="F")'
        factor = "" if inflated == "1" else f" * np.sqrt({inflated})"
        yield f'se = np.asarray(fit.bse).ravel(order="F"){factor}'
        yield "ll, ll0 = fit.llf, fit.llnull"
    yield "dist = stats.norm()"


_MEASURES = {
    "observations": "n",
    "log_likelihood": "ll",
    "null_log_likelihood": "ll0",
    "pseudo_r_squared": "1 - ll / ll0",
    "aic": "2 * k - 2 * ll",
    "bic": "k * np.log(n) - 2 * ll",
    "lr_chi_square": "2 * (ll - ll0)",
    "lr_p_value": "stats.chi2.sf(2 * (ll - ll0), {df})",
    "deviance": "fit.deviance",
    "null_deviance": "fit.null_deviance",
    "r_squared": "fit.rsquared",
    "adjusted_r_squared": "fit.rsquared_adj",
    "f": "fit.fvalue",
    "f_p_value": "fit.f_pvalue",
    "rmse": "np.sqrt(fit.mse_resid)",
}


def _figure(item: Item, analysis: Fitting) -> str:
    """Write the expression of one figure."""
    linear = analysis.family in {"ols", "wls"}
    if item.parameter is None:
        if linear and item.form in {"log_likelihood", "aic", "bic"}:
            return {"log_likelihood": "fit.llf"}.get(item.form, f"fit.{item.form}")
        if analysis.family == "probit" and item.form in {"deviance", "null_deviance"}:
            return "-2 * ll" if item.form == "deviance" else "-2 * ll0"
        return _MEASURES[item.form].format(df=analysis.parameters - analysis.null)
    b, se = f"b[{item.parameter}]", f"se[{item.parameter}]"
    reach = f"dist.isf({0.5 - analysis.level / 200:.10g}) * {se}"
    ends = {"low": f"{b} - {reach}", "high": f"{b} + {reach}"}
    if item.form in ends:
        return f"np.exp({ends[item.form]})" if analysis.ratios else ends[item.form]
    return {
        "coefficient": b,
        "ratio": f"np.exp({b})",
        "se": f"{se} * np.exp({b})" if analysis.ratio_errors else se,
        "statistic": f"{b} / {se}",
        "p": f"2 * dist.sf(abs({b} / {se}))",
        "beta": f"{b} * spread(x.iloc[:, {item.parameter}], w) / spread(y, w)",
    }[item.form]
