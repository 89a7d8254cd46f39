"""Figures of one model that contradict each other, by interval arithmetic on what is printed.

Each rule works out an interval for one figure from those of others, and faults the figure if its
own printed interval lies apart. Every step widens intervals, so a truthful print is never faulted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evosynth.errors import Fault, many
from evosynth.model_items import Item, Traits
from evosynth.printed import Published

Interval = tuple[float, float]
_SLACK = 1e-9


@dataclass(frozen=True)
class Source:
    """An interval for a quantity, and what it comes from."""

    ends: Interval
    text: str
    item: Item


def clashes(
    items: Sequence[Item],
    traits: Traits,
    sizes: tuple[int, int],
    n: Published | None,
    single: bool,
) -> Iterator[Fault]:
    """Contradictions within one model.

    ``sizes``: parameters with and without covariates; ``n``: records, if known; ``single``: whether
    the deviance is -2 × log-likelihood.
    """
    records = None if n is None else n.value
    df = None if records is None else records - sizes[0]
    if df is not None and df < 1 and traits.linear:
        return
    parameters = dict.fromkeys(i.parameter for i in items if i.parameter is not None)
    for k in parameters:
        own = {i.form: i for i in items if i.parameter == k}
        yield from _term(own, traits, df if traits.linear else math.inf, k in traits.logged)
    whole = {i.form: i for i in items if i.parameter is None}
    if traits.linear:
        yield from _linear(whole, sizes[0], records)
    yield from _likelihoods(whole, sizes, records, single)


def _term(own: dict[str, Item], traits: Traits, df: float | None, logged: bool) -> Iterator[Fault]:
    """Check coefficient, ratio, standard error, statistic, p and interval of one term."""
    values, errors = [], error_sources(own, traits, df)
    if "coefficient" in own:
        values.append(_source(own["coefficient"], own["coefficient"].published.interval))
    if "ratio" in own:
        values.append(_source(own["ratio"], _log(own["ratio"].published.interval)))
    if "low" in own and "high" in own:
        ends_low, ends_high = _limits(own, traits)
        if ends_high[1] < ends_low[0]:
            message = f"{own['high'].published} is below the lower limit {own['low'].published}"
            yield Fault(own["high"].path[:-1], message, clash=True)
            return
        text = f"the interval {own['low'].published} to {own['high'].published}"
        middle = (ends_low[0] + ends_high[0]) / 2, (ends_low[1] + ends_high[1]) / 2
        values.append(Source(middle, text, own["low"]))
    values, wrong_values = _apart(values, "the coefficient")
    errors, wrong_errors = _apart(errors, "the standard error")
    yield from (*wrong_values, *wrong_errors)
    sizes: Interval | None = None
    if values and errors:
        sizes = _divide(_common(values), _common(errors))
    if logged:
        return
    if sizes is not None and "statistic" in own:
        yield from _check(own["statistic"], sizes, "the coefficient and its standard error")
    if "statistic" in own:
        sizes = own["statistic"].published.interval
    if sizes is not None and "p" in own and df is not None:
        least, most = _magnitude(sizes)
        tail = (lambda z: float(2 * stats.norm.sf(z))) if math.isinf(df) else _t_tail(df)
        yield from _check(own["p"], (tail(most), tail(least)), "the other figures of the term")


def error_sources(own: dict[str, Item], traits: Traits, df: float | None) -> list[Source]:
    """Say what the figures of one term make of the standard error of its coefficient."""
    found = []
    if "se" in own and not traits.ratio_errors:
        found.append(_source(own["se"], own["se"].published.interval))
    elif "se" in own and "ratio" in own:
        low, high = own["ratio"].published.interval
        ends = own["se"].published.interval
        found.append(_source(own["se"], (ends[0] / high, ends[1] / low if low > 0 else math.inf)))
    if "low" in own and "high" in own and df is not None:
        t = stats.norm if math.isinf(df) else stats.t(df)
        reach = 2 * float(t.isf(0.5 - traits.level / 200))
        ends_low, ends_high = _limits(own, traits)
        half = [(ends_high[a] - ends_low[1 - a]) / reach for a in (0, 1)]
        text = f"the interval {own['low'].published} to {own['high'].published}"
        found.append(Source((max(half[0], 0.0), half[1]), text, own["low"]))
    return found


def _limits(own: dict[str, Item], traits: Traits) -> tuple[Interval, Interval]:
    """Confidence limits of the coefficient."""
    ends = own["low"].published.interval, own["high"].published.interval
    return (_log(ends[0]), _log(ends[1])) if traits.ratios else ends


def _t_tail(df: float) -> Callable[[float], float]:
    return lambda t: float(2 * stats.t.sf(t, df))


def _linear(whole: dict[str, Item], size: int, n: float | None) -> Iterator[Fault]:
    """Check R², adjusted R², F and its p-value."""
    for form in ("r_squared", "adjusted_r_squared"):
        if form in whole:
            bounds = (0.0 if form == "r_squared" else -math.inf, 1.0)
            yield from _check(whole[form], bounds, "a share of variance")
    if n is None or size < 2:
        return
    df = n - size
    share: Interval | None = None
    if "r_squared" in whole:
        low, high = whole["r_squared"].published.interval
        share = max(low, 0.0), min(high, 1.0)
        if "adjusted_r_squared" in whole:
            adjusted = [1 - (1 - r) * (n - 1) / df for r in share]
            text = (
                f"R² {whole['r_squared'].published}, {n:.0f} records and "
                f"{many(size, 'coefficient')}"
            )
            yield from _check(whole["adjusted_r_squared"], (adjusted[0], adjusted[1]), text)
    elif "adjusted_r_squared" in whole:
        low, high = whole["adjusted_r_squared"].published.interval
        share = max(1 - (1 - low) * df / (n - 1), 0.0), min(1 - (1 - high) * df / (n - 1), 1.0)
    if share is not None and "f" in whole and share[0] <= share[1]:
        ends = [r / (size - 1) / ((1 - r) / df) if r < 1 else math.inf for r in share]
        text = f"R², {n:.0f} records and {many(size, 'coefficient')}"
        yield from _check(whole["f"], (ends[0], ends[1]), text)
    if "f" in whole and "f_p_value" in whole:
        low, high = whole["f"].published.interval
        tails = [float(stats.f.sf(max(f, 0.0), size - 1, df)) for f in (high, low)]
        yield from _check(whole["f_p_value"], (tails[0], tails[1]), "F")


def _likelihoods(
    whole: dict[str, Item], sizes: tuple[int, int], n: float | None, single: bool
) -> Iterator[Fault]:
    """Check log-likelihoods and what is made of them."""
    size, null = sizes
    fitted: list[Source] = []
    base: list[Source] = []
    by = {form: item.published.interval for form, item in whole.items()}

    def add(found: list[Source], form: str, ends: Interval) -> None:
        found.append(_source(whole[form], ends))

    if "log_likelihood" in by:
        add(fitted, "log_likelihood", by["log_likelihood"])
    if "aic" in by:
        add(fitted, "aic", (size - by["aic"][1] / 2, size - by["aic"][0] / 2))
    if "bic" in by and n is not None:
        penalty = size * math.log(n) / 2
        add(fitted, "bic", (penalty - by["bic"][1] / 2, penalty - by["bic"][0] / 2))
    if "deviance" in by and single:
        add(fitted, "deviance", (-by["deviance"][1] / 2, -by["deviance"][0] / 2))
    if "null_log_likelihood" in by:
        add(base, "null_log_likelihood", by["null_log_likelihood"])
    if "null_deviance" in by and single:
        add(base, "null_deviance", (-by["null_deviance"][1] / 2, -by["null_deviance"][0] / 2))
    fitted, wrong_fits = _apart(fitted, "the log-likelihood")
    yield from wrong_fits
    if fitted:
        low, high = _common(fitted)
        if "lr_chi_square" in by:
            chi = by["lr_chi_square"]
            add(base, "lr_chi_square", (low - chi[1] / 2, high - chi[0] / 2))
        if "pseudo_r_squared" in by and by["pseudo_r_squared"][1] < 1 and high <= 0:
            share = by["pseudo_r_squared"]
            add(base, "pseudo_r_squared", (low / (1 - share[1]), high / (1 - share[0])))
    base, wrong_nulls = _apart(base, "the null log-likelihood")
    yield from wrong_nulls
    if not fitted and base and {"lr_chi_square", "pseudo_r_squared"} <= set(by):
        low, high = _common(base)
        chi = by["lr_chi_square"]
        if high < 0:
            ends = chi[0] / (-2 * low), chi[1] / (-2 * high)
            yield from _check(whole["pseudo_r_squared"], ends, "the likelihood ratio")
    if "lr_chi_square" in by and "lr_p_value" in by and size > null:
        tails = [float(stats.chi2.sf(max(x, 0.0), size - null)) for x in by["lr_chi_square"]]
        yield from _check(whole["lr_p_value"], (tails[1], tails[0]), "the chi-square")


def _source(item: Item, ends: Interval) -> Source:
    return Source(ends, f"{item.label} {item.published}", item)


def _log(ends: Interval) -> Interval:
    low, high = (math.log(end) if end > 0 else -math.inf for end in ends)
    return low, high


def _common(sources: Sequence[Source]) -> Interval:
    return max(s.ends[0] for s in sources), min(s.ends[1] for s in sources)


def _divide(value: Interval, error: Interval) -> Interval | None:
    """Quotients of two intervals; ``None`` if that says nothing."""
    if not np.isfinite([*value, error[1]]).all() or error[1] <= 0:
        return None
    least = max(error[0], 0.0)
    found = []
    for v in value:
        for e in (least, error[1]):
            found.append(v / e if e > 0 else math.copysign(math.inf, v) if v else 0.0)
    return min(found), max(found)


def _magnitude(ends: Interval) -> Interval:
    low, high = sorted(abs(end) for end in ends)
    return (0.0 if ends[0] <= 0 <= ends[1] else low), high


def _outside(one: Interval, two: Interval) -> bool:
    scale = max([1e-12, *(abs(end) for end in (*one, *two) if math.isfinite(end))])
    return one[1] < two[0] - _SLACK * scale or two[1] < one[0] - _SLACK * scale


def _apart(sources: Sequence[Source], name: str) -> tuple[list[Source], list[Fault]]:
    """Return sources of one quantity that agree, and faults of those that lie apart from these."""
    sound: list[Source] = []
    faults = []
    for two in sources:
        one = next((one for one in sound if _outside(one.ends, two.ends)), None)
        if one is None:
            sound.append(two)
            continue
        message = (
            f"{two.text} puts {name} from {two.ends[0]:.6g} to {two.ends[1]:.6g}, but "
            f"{one.text} puts it from {one.ends[0]:.6g} to {one.ends[1]:.6g}"
        )
        faults.append(Fault(_place(two.item), message, clash=True))
    return sound, faults


def _check(item: Item, ends: Interval, text: str) -> Iterator[Fault]:
    """Find a figure that lies apart from what others say of it."""
    if np.isnan(ends).any() or not _outside(item.published.interval, ends):
        return
    message = (
        f"{item.label} is {item.published}, but it must lie from {ends[0]:.6g} to {ends[1]:.6g} "
        f"by {text}"
    )
    yield Fault(_place(item), message, clash=True)


def _place(item: Item) -> tuple[str | int, ...]:
    return item.path[:-1] if item.form in {"low", "high"} else item.path
