"""The starter script in R; base R does all but a few models, whose packages it names."""

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
    Testing,
)
from evosynth.condition import Comparison, Condition, Not, Or
from evosynth.schema import Schema
from evosynth.scripts import r_models
from evosynth.scripts.r_text import quoted, value
from evosynth.scripts.survey import WEIGHTED_R
from evosynth.scripts.text import Block, blocks, compared, decimals, is_text, line, named, opening

if TYPE_CHECKING:
    from evosynth.spec import Spec

_HERE = """
# Look for the data beside this script, or in the working directory
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
if (length(here) == 1) setwd(dirname(here))
"""
_TOOLS = """
# Print a published figure beside the same figure of these data
show <- function(figure, published, value, decimals) {
  wide <- function(text, width) paste0(text, strrep(" ", max(0, width - nchar(text))))
  cat(wide(figure, 60), sprintf("%12s %14.*f", published, decimals, as.numeric(value)), "\\n")
}
# Select the records that have these values
part <- function(people, group) {
  for (name in names(group)) people <- people[which(people[[name]] == group[[name]]), ]
  people
}
count <- function(people, group) nrow(part(people, group))
# Adjusted as SPSS, Excel and pandas do
skewness <- function(x) {
  n <- length(x); z <- x - mean(x)
  sqrt(n * (n - 1)) / (n - 2) * mean(z^3) / mean(z^2)^1.5
}
kurtosis <- function(x) {
  n <- length(x); z <- x - mean(x)
  (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (mean(z^4) / mean(z^2)^2 - 3) + 6)
}
"""


def script(spec: Spec) -> str:
    """Write the whole script."""
    schema = spec.schema
    about = opening(spec, "Run it with Rscript, or source it in RStudio.")

    lines = [*(f"# {text}" for text in about), _HERE, *_load(schema), _TOOLS]
    found = list(blocks(spec))
    families = {b.analysis.family for b in found if isinstance(b.analysis, Fitting)}
    lines.append(r_models.tools(families))
    for block in found:
        heading = line(block.heading)
        lines += ["", f"# {heading}", f'cat("\\n", {quoted(heading)}, "\\n", sep = "")']
        lines += _analysis(block, schema)
    return "\n".join(lines) + "\n"


def _load(schema: Schema) -> Iterator[str]:
    types = ", ".join(
        f"{quoted(v.name)} = " + ('"character"' if is_text(v) else '"numeric"')
        for v in schema.shown
    )
    yield f"classes <- c({types})"
    yield 'data <- read.csv("data.csv", colClasses = classes, na.strings = "", check.names = FALSE,'
    yield '                 encoding = "UTF-8")'
    yield "# What the variables and their codes are called, as the package haven keeps labels"
    for variable in schema.shown:
        name = quoted(variable.name)
        yield f'attr(data[[{name}]], "label") <- {quoted(variable.label)}'
        labels = dict(variable.labelled)
        if labels:
            codes = ", ".join(value(variable, text) for text in labels)
            texts = ", ".join(quoted(label) for label in labels.values())
            yield f'attr(data[[{name}]], "labels") <- setNames(c({codes}), c({texts}))'
    yield "# Codes that stand for a missing value become NA"
    yield "valid <- data"
    for variable in schema.shown:
        if variable.missing > variable.blank:
            missing = ", ".join(value(variable, t) for t in variable.texts[variable.valid :])
            name = quoted(variable.name)
            yield f"valid[[{name}]][valid[[{name}]] %in% c({missing})] <- NA"


def condition(where: Condition, schema: Schema) -> str:
    """Write a condition on the records of ``valid``."""
    if isinstance(where, Comparison):
        operator, values = compared(where, schema[where.variable])
        column = f"valid[[{quoted(where.variable)}]]"
        literals = [value(schema[where.variable], text) for text in values]
        if operator == "in":
            return f"({column} %in% c({', '.join(literals)}))"
        return f"({column} {operator} {literals[0]})"
    parts = [condition(part, schema) for part in where.parts]
    if isinstance(where, Not):
        return f"!({parts[0]})"
    return "(" + (" | " if isinstance(where, Or) else " & ").join(parts) + ")"


def select(block: Block, names: list[str], schema: Schema, of: str = "valid") -> str:
    """Write the selection of the records inside a condition that miss none of some variables."""
    needed = list(dict.fromkeys([*names, *(block.where.variables if block.where else ())]))
    tests = []
    if block.where is not None:
        tests.append(condition(block.where, schema))
    if needed:
        listed = ", ".join(quoted(name) for name in needed)
        tests.append(f"complete.cases(valid[c({listed})])")
    return f"{of}[which({' & '.join(tests)}), , drop = FALSE]" if tests else of


def _group(group: Group, schema: Schema) -> str:
    inside = ", ".join(f"{quoted(name)} = {value(schema[name], text)}" for name, text in group)
    return f"list({inside})"


def show(block: Block, position: int, expression: str) -> str:
    """Write the line that prints one figure."""
    figure = block.figures[position]
    label, published = quoted(line(named(figure))), quoted(line(figure.printed.text))
    return f"show({label}, {published}, {expression}, {decimals(figure)})"


def _analysis(block: Block, schema: Schema) -> Iterator[str]:
    analysis = block.analysis
    if isinstance(analysis, Counting):
        yield from _counting(analysis, block, schema)
    elif isinstance(analysis, Describing):
        yield from _describing(analysis, block, schema)
    elif isinstance(analysis, Correlating):
        yield from _correlating(analysis, block, schema)
    elif isinstance(analysis, Testing):
        yield from _testing(analysis, block, schema)
    elif isinstance(analysis, Fitting):
        people = select(block, list(analysis.names), schema)
        shown = [show(block, i, e) for i, e in enumerate(r_models.figures(analysis))]
        yield from r_models.fitting(analysis, people, shown, schema)
    else:
        yield "# This kind of output does not say how it is computed."


def _counting(analysis: Counting, block: Block, schema: Schema) -> Iterator[str]:
    names = list(analysis.names) if analysis.complete else []
    yield f"people <- {select(block, names, schema, 'valid' if analysis.complete else 'data')}"
    if not analysis.complete:
        yield f"known <- {select(block, [], schema)}"

    def counted(group: Group) -> str:
        if analysis.weight is not None:
            weight = quoted(analysis.weight)
            if group and group[0][1] in {VALID, MISSING}:
                mark = "!" if group[0][1] == VALID else ""
                return f"sum(people[[{weight}]][{mark}is.na(known[[{quoted(group[0][0])}]])])"
            of = f"part(people, {_group(group, schema)})" if group else "people"
            return f"sum({of}[[{weight}]])"
        if not group:
            return "nrow(people)"
        if group[0][1] in {VALID, MISSING}:
            mark = "!" if group[0][1] == VALID else ""
            return f"sum({mark}is.na(known[[{quoted(group[0][0])}]]))"
        return f"count(people, {_group(group, schema)})"

    for position, cell in enumerate(analysis.cells):
        expression = counted(cell.group)
        if cell.whole is not None:
            scale = "" if cell.scale == 1 else f"{cell.scale:g} * "
            expression = f"{scale}{expression} / {counted(cell.whole)}"
        yield show(block, position, expression)


_STATISTICS = {
    "n": "length(x)",
    "mean": "mean(x)",
    "sd": "sd(x)",
    "variance": "var(x)",
    "standard_error": "sd(x) / sqrt(length(x))",
    "median": "median(x)",
    "iqr": "IQR(x)",
    "min": "min(x)",
    "max": "max(x)",
    "sum": "sum(x)",
    "skewness": "skewness(x)",
    "kurtosis": "kurtosis(x)",
    "quantile": "quantile(x, {})",
    "above": "100 * mean(x > {})",
    "below": "100 * mean(x < {})",
}


def _describing(analysis: Describing, block: Block, schema: Schema) -> Iterator[str]:
    before: Any = None
    for position, item in enumerate(analysis.statistics):
        if (item.of, item.group) != before:
            before = item.of, item.group
            names = [item.of, *analysis.by, *(name for name, _ in item.group)]
            people = select(block, names, schema)
            people = f"part({people}, {_group(item.group, schema)})" if item.group else people
            yield f"group <- {people}"
            yield f"x <- as.numeric(group[[{quoted(item.of)}]])"
            if analysis.weight is not None:
                yield f"w <- group[[{quoted(analysis.weight)}]]; m <- weighted.mean(x, w)"
        known = _STATISTICS if analysis.weight is None else WEIGHTED_R
        expression = known[item.name].format(f"{item.argument:.10g}")
        yield show(block, position, expression)


_PAIRS = {
    "pearson": "cor(x, y)",
    "spearman": 'cor(x, y, method = "spearman")',
    "pearson p": "cor_p(x, y)",
    "spearman p": "cor_p(rank(x), rank(y))",
    "covariance": "cov(x, y)",
}


def _correlating(analysis: Correlating, block: Block, schema: Schema) -> Iterator[str]:
    if any(pair.form.endswith(" p") for pair in analysis.pairs):
        yield "cor_p <- function(x, y) cor.test(x, y)$p.value  # of ranks: Spearman's, by t"
    before: Any = None
    for position, pair in enumerate(analysis.pairs):
        if (pair.one, pair.two) != before:
            before = pair.one, pair.two
            names = list(analysis.listwise or before)
            yield f"people <- {select(block, names, schema)}"
            yield f"x <- as.numeric(people[[{quoted(pair.one)}]])"
            yield f"y <- as.numeric(people[[{quoted(pair.two)}]])"
        yield show(block, position, _PAIRS[pair.form])


_TESTS = {
    "chi_square": {
        "statistic": "test$statistic",
        "df": "test$parameter",
        "p": "test$p.value",
        "cramers_v": "sqrt(plain$statistic / sum(cells) / (min(dim(cells)) - 1))",
    },
    "t_test": {
        "t": "test$statistic",
        "df": "test$parameter",
        "p": "test$p.value",
        "difference": "mean(first) - mean(second)",
    },
    "anova": {
        "f": 'test[1, "F value"]',
        "p": 'test[1, "Pr(>F)"]',
        "eta_squared": 'test[1, "Sum Sq"] / sum(test[["Sum Sq"]])',
    },
    "odds_ratio": {
        "odds_ratio": "exp(odds)",
        "odds_ratio_ci low": "exp(odds - z * odds_se)",
        "odds_ratio_ci high": "exp(odds + z * odds_se)",
        "risk_ratio": "exp(risk)",
        "risk_ratio_ci low": "exp(risk - z * risk_se)",
        "risk_ratio_ci high": "exp(risk + z * risk_se)",
        "p": "2 * pnorm(-abs({0} / {0}_se))",
    },
}


def _testing(analysis: Testing, block: Block, schema: Schema) -> Iterator[str]:
    one, two = quoted(analysis.one), quoted(analysis.two)
    yield f"people <- {select(block, [analysis.one, analysis.two], schema)}"
    if analysis.test == "chi_square":
        correct = "TRUE" if analysis.option else "FALSE"
        yield f"cells <- table(people[[{one}]], people[[{two}]])"
        yield f"test <- suppressWarnings(chisq.test(cells, correct = {correct}))"
        yield "plain <- suppressWarnings(chisq.test(cells, correct = FALSE))"
    elif analysis.test == "t_test":
        assert analysis.values is not None
        for name, text in zip(("first", "second"), analysis.values[0], strict=True):
            group = _group(((analysis.two, text),), schema)
            yield f"{name} <- as.numeric(part(people, {group})[[{one}]])"
        equal = "FALSE" if analysis.option else "TRUE"
        yield f"test <- t.test(first, second, var.equal = {equal})"
    elif analysis.test == "anova":
        yield f"y <- as.numeric(people[[{one}]])"
        yield f"test <- anova(lm(y ~ factor(people[[{two}]])))"
    else:
        assert analysis.values is not None
        (first, other), (event, rest) = analysis.values
        for name, r, c in (
            ("n11", first, event),
            ("n12", first, rest),
            ("n21", other, event),
            ("n22", other, rest),
        ):
            group = _group(((analysis.one, r), (analysis.two, c)), schema)
            yield f"{name} <- count(people, {group})"
        yield "odds <- log(n11 * n22 / (n12 * n21))"
        yield "odds_se <- sqrt(1 / n11 + 1 / n12 + 1 / n21 + 1 / n22)"
        yield "risk <- log(n11 / (n11 + n12)) - log(n21 / (n21 + n22))"
        yield "risk_se <- sqrt(1 / n11 - 1 / (n11 + n12) + 1 / n21 - 1 / (n21 + n22))"
        yield f"z <- qnorm({0.5 + analysis.level / 2:.10g})"
    which = "risk" if analysis.option else "odds"
    for position, key in enumerate(analysis.keys):
        yield show(block, position, _TESTS[analysis.test][key].format(which))
