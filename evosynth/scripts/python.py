"""The starter script in Python, with pandas, scipy and statsmodels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evosynth.analysis import (
    MISSING,
    VALID,
    Correlating,
    Counting,
    Describing,
    Fitting,
    Group,
    Statistic,
    Testing,
)
from evosynth.condition import Comparison, Condition, Not, Or
from evosynth.schema import Schema
from evosynth.scripts import python_models
from evosynth.scripts.survey import WEIGHTED_PYTHON
from evosynth.scripts.text import Block, blocks, compared, decimals, is_text, line, named, opening

if TYPE_CHECKING:
    from evosynth.spec import Spec

_HEAD = """
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats
"""
_TOOLS = '''

def show(figure, published, value, decimals):
    """Print a published figure beside the same figure of these data."""
    print(f"{figure:<60} {published:>12} {value:>14.{decimals}f}")


def part(people, group):
    """Select the records that have these values."""
    for name, value in group.items():
        people = people[people[name] == value]
    return people


def count(people, group):
    """Count the records that have these values."""
    return len(part(people, group))


print(f"{'figure':<60} {'published':>12} {'these data':>14}")
'''


def script(spec: Spec) -> str:
    """Write the whole script."""
    schema = spec.schema
    about = opening(spec, "It needs pandas, scipy and statsmodels.")
    lines = [*(f"# {text}" for text in about), _HEAD, *_load(schema), _TOOLS]
    found = list(blocks(spec))
    if any(isinstance(block.analysis, Fitting) for block in found):
        families = {b.analysis.family for b in found if isinstance(b.analysis, Fitting)}
        lines.append(python_models.tools(families))
    for block in found:
        lines += ["", f"# {line(block.heading)}", f"print()\nprint({line(block.heading)!r})"]
        lines += _analysis(block, schema)
    return "\n".join(lines) + "\n"


def value(name: str, text: str, schema: Schema) -> str:
    """Return a literal for a value."""
    return repr(text) if is_text(schema[name]) else text


def _load(schema: Schema) -> Iterator[str]:
    texts = {v.name: str for v in schema.shown if is_text(v)}
    types = "{" + ", ".join(f"{name!r}: str" for name in texts) + "}"
    blanks = {v.name: [""] for v in schema.shown if v.blank}
    yield "data = pd.read_csv("
    yield '    Path(__file__).with_name("data.csv"),'
    yield f"    dtype={types},"
    yield "    keep_default_na=False,"
    yield f"    na_values={blanks!r},"
    yield ")"
    yield "# What the variables and their codes are called"
    yield "labels = {"
    for variable in schema.shown:
        yield f"    {variable.name!r}: {variable.label!r},"
    yield "}"
    yield "codes = {"
    for variable in schema.shown:
        inside = ", ".join(
            f"{value(variable.name, text, schema)}: {label!r}" for text, label in variable.labelled
        )
        if inside:
            yield f"    {variable.name!r}: {{{inside}}},"
    yield "}"
    yield "# Codes that stand for a missing value become blanks"
    yield "valid = data.copy()"
    for variable in schema.shown:
        if variable.missing > variable.blank:
            missing = ", ".join(
                value(variable.name, text, schema) for text in variable.texts[variable.valid :]
            )
            name = repr(variable.name)
            yield f"valid[{name}] = data[{name}].mask(data[{name}].isin([{missing}]))"


def condition(where: Condition, schema: Schema) -> str:
    """Write a condition on the records of ``valid``."""
    if isinstance(where, Comparison):
        operator, values = compared(where, schema[where.variable])
        column = f"valid[{where.variable!r}]"
        literals = [value(where.variable, text, schema) for text in values]
        if operator == "in":
            return f"{column}.isin([{', '.join(literals)}])"
        return f"({column} {operator} {literals[0]})"
    parts = [condition(part, schema) for part in where.parts]
    if isinstance(where, Not):
        return f"~({parts[0]})"
    return "(" + (" | " if isinstance(where, Or) else " & ").join(parts) + ")"


def select(block: Block, names: list[str], schema: Schema) -> str:
    """Write the selection of the records inside a condition that miss none of some variables."""
    needed = list(dict.fromkeys([*names, *(block.where.variables if block.where else ())]))
    found = "valid"
    if block.where is not None:
        found += f"[{condition(block.where, schema)}]"
    return f"{found}.dropna(subset={needed!r})" if needed else found


def _group(group: Group, schema: Schema) -> str:
    inside = ", ".join(f"{name!r}: {value(name, text, schema)}" for name, text in group)
    return f"{{{inside}}}"


def _analysis(block: Block, schema: Schema) -> Iterator[str]:
    analysis = block.analysis
    if isinstance(analysis, Counting):
        found = _counting(analysis, block, schema)
    elif isinstance(analysis, Describing):
        found = _describing(analysis, block, schema)
    elif isinstance(analysis, Correlating):
        found = _correlating(analysis, block, schema)
    elif isinstance(analysis, Testing):
        found = _testing(analysis, block, schema)
    elif isinstance(analysis, Fitting):
        people = select(block, list(analysis.names), schema)
        found = python_models.fitting(analysis, block, people, schema)
    else:
        found = iter(["# This kind of output does not say how it is computed."])
    yield from found


def show(block: Block, position: int, expression: str) -> str:
    """Write the line that prints one figure."""
    figure = block.figures[position]
    label, published = line(named(figure)), line(figure.printed.text)
    return f"show({label!r}, {published!r}, {expression}, {decimals(figure)})"


def _counting(analysis: Counting, block: Block, schema: Schema) -> Iterator[str]:
    names = list(analysis.names) if analysis.complete else []
    chosen = select(block, names, schema)
    if not analysis.complete:  # missing values count as well, by their codes
        chosen = "data" if block.where is None else f"data.loc[{chosen}.index]"
    yield f"people = {chosen}"

    def counted(group: Group) -> str:
        of = "" if analysis.weight is None else f"[{analysis.weight!r}].sum()"
        if of and (not group or group[0][1] not in {VALID, MISSING}):
            return f"part(people, {_group(group, schema)}){of}" if group else f"people{of}"
        if not group:
            return "len(people)"
        if group[0][1] in {VALID, MISSING}:
            test = "notna" if group[0][1] == VALID else "isna"
            found = f"valid.loc[people.index, {group[0][0]!r}].{test}()"
            return f"people[{found}]{of}" if of else f"{found}.sum()"
        return f"count(people, {_group(group, schema)})"

    for position, cell in enumerate(analysis.cells):
        expression = counted(cell.group)
        if cell.whole is not None:
            scale = "" if cell.scale == 1 else f"{cell.scale:g} * "
            expression = f"{scale}{expression} / {counted(cell.whole)}"
        yield show(block, position, expression)


_STATISTICS = {
    "n": "len(x)",
    "mean": "x.mean()",
    "sd": "x.std()",
    "variance": "x.var()",
    "standard_error": "x.sem()",
    "median": "x.median()",
    "iqr": "x.quantile(0.75) - x.quantile(0.25)",
    "min": "x.min()",
    "max": "x.max()",
    "sum": "x.sum()",
    "skewness": "x.skew()",
    "kurtosis": "x.kurt()",
    "quantile": "x.quantile({})",
    "above": "100 * (x > {}).mean()",
    "below": "100 * (x < {}).mean()",
}


def _describing(analysis: Describing, block: Block, schema: Schema) -> Iterator[str]:
    before: Any = None
    for position, item in enumerate(analysis.statistics):
        if (item.of, item.group) != before:
            before = item.of, item.group
            yield from _described(item, analysis, block, schema)
        known = _STATISTICS if analysis.weight is None else WEIGHTED_PYTHON
        expression = known[item.name].format(f"{item.argument:.10g}")
        yield show(block, position, expression)


def _described(
    item: Statistic, analysis: Describing, block: Block, schema: Schema
) -> Iterator[str]:
    names = [item.of, *analysis.by, *(name for name, _ in item.group)]
    people = select(block, names, schema)
    people = f"part({people}, {_group(item.group, schema)})" if item.group else people
    if analysis.weight is not None:
        yield f"group = {people}"
        yield f"x, w = group[{item.of!r}].astype(float), group[{analysis.weight!r}]"
        yield "m = np.average(x, weights=w)"
        return
    yield f"x = {people}[{item.of!r}].astype(float)"


_PAIRS = {
    "pearson": "stats.pearsonr(x, y).statistic",
    "spearman": "stats.spearmanr(x, y).statistic",
    "pearson p": "stats.pearsonr(x, y).pvalue",
    "spearman p": "stats.spearmanr(x, y).pvalue",
    "covariance": "np.cov(x, y)[0, 1]",
}


def _correlating(analysis: Correlating, block: Block, schema: Schema) -> Iterator[str]:
    before: Any = None
    for position, pair in enumerate(analysis.pairs):
        if (pair.one, pair.two) != before:
            before = pair.one, pair.two
            names = list(analysis.listwise or before)
            yield f"people = {select(block, names, schema)}"
            yield f"x, y = people[{pair.one!r}].astype(float), people[{pair.two!r}].astype(float)"
        yield show(block, position, _PAIRS[pair.form])


_TESTS = {
    "chi_square": {
        "statistic": "test.statistic",
        "df": "test.dof",
        "p": "test.pvalue",
        "cramers_v": "np.sqrt(plain.statistic / table.to_numpy().sum() / (min(table.shape) - 1))",
    },
    "t_test": {
        "t": "test.statistic",
        "df": "test.df",
        "p": "test.pvalue",
        "difference": "first.mean() - second.mean()",
    },
    "anova": {
        "f": "test.statistic",
        "p": "test.pvalue",
        "eta_squared": "between / ((y - y.mean()) ** 2).sum()",
    },
    "odds_ratio": {
        "odds_ratio": "ratios.oddsratio",
        "odds_ratio_ci low": "ratios.oddsratio_confint({alpha})[0]",
        "odds_ratio_ci high": "ratios.oddsratio_confint({alpha})[1]",
        "risk_ratio": "ratios.riskratio",
        "risk_ratio_ci low": "ratios.riskratio_confint({alpha})[0]",
        "risk_ratio_ci high": "ratios.riskratio_confint({alpha})[1]",
        "p": "ratios.{which}_pvalue()",
    },
}


def _testing(analysis: Testing, block: Block, schema: Schema) -> Iterator[str]:
    one, two = analysis.one, analysis.two
    yield f"people = {select(block, [one, two], schema)}"
    if analysis.test == "chi_square":
        yield f"table = pd.crosstab(people[{one!r}], people[{two!r}])"
        yield f"test = stats.chi2_contingency(table, correction={analysis.option})"
        yield "plain = stats.chi2_contingency(table, correction=False)"
    elif analysis.test == "t_test":
        assert analysis.values is not None
        for name, text in zip(("first", "second"), analysis.values[0], strict=True):
            group = _group(((two, text),), schema)
            yield f"{name} = part(people, {group})[{one!r}].astype(float)"
        yield f"test = stats.ttest_ind(first, second, equal_var={not analysis.option})"
    elif analysis.test == "anova":
        yield f"y = people[{one!r}].astype(float)"
        yield f"groups = [group for _, group in y.groupby(people[{two!r}])]"
        yield "test = stats.f_oneway(*groups)"
        yield "between = sum(len(g) * (g.mean() - y.mean()) ** 2 for g in groups)"
    else:
        assert analysis.values is not None
        rows, columns = analysis.values
        cells = [
            ", ".join(f"count(people, {_group(((one, r), (two, c)), schema)})" for c in columns)
            for r in rows
        ]
        yield f"ratios = sm.stats.Table2x2(np.array([[{cells[0]}], [{cells[1]}]]))"
    which = "riskratio" if analysis.option else "oddsratio"
    for position, key in enumerate(analysis.keys):
        expression = _TESTS[analysis.test][key]
        if analysis.test == "odds_ratio":
            expression = expression.format(alpha=f"{1 - analysis.level:.6g}", which=which)
        yield show(block, position, expression)
