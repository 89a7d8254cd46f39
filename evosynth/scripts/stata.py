"""The starter script for Stata (14 or later)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from evosynth.formats import stata as files
from evosynth.scripts import stata_models
from evosynth.scripts.stata_text import Names, harmless, literal
from evosynth.scripts.survey import WEIGHTED_STATA
from evosynth.scripts.text import Block, blocks, compared, decimals, is_text, line, named, opening

if TYPE_CHECKING:
    from evosynth.spec import Spec

_TOOLS = """
* Prints a published figure beside the same figure of these data, which is in the scalar s_value
capture program drop show
program show
    display as text %-60s `"`1'"' " " as result %12s `"`2'"' " " %14.`3'f scalar(s_value)
end
* A quantile with linear interpolation, as in R, Python and Excel (Stata's own differ)
capture mata: mata drop quantile7()
mata:
real scalar quantile7(string scalar name, string scalar chosen, real scalar p)
{
    real colvector x
    real scalar h, i
    x = sort(st_data(., name, chosen), 1)
    h = (rows(x) - 1) * p + 1
    i = floor(h)
    return(x[i] + (h - i) * (x[min((i + 1, rows(x)))] - x[i]))
}
end
generate byte _people = .
generate byte _group = .
"""


def script(spec: Spec, written: bool) -> str:
    """Write the whole script; ``written``: there is a Stata file beside it."""
    schema = spec.schema
    names = Names(files.fit(schema).names, schema)
    about = opening(spec, "Make the folder of the data the working directory first.")
    lines = [
        *(f"* {harmless(line(text))}" for text in about),
        "version 14",
        "set more off",
        "set varabbrev off",
        "",
    ]
    lines += ['use "data.dta", clear'] if written else list(_load(names))
    lines.append(_TOOLS)
    for block in blocks(spec):
        heading = harmless(line(block.heading))
        lines += ["", f"* {heading}", f'display _newline as text "{heading}"']
        lines += _analysis(block, names)
    return "\n".join(lines) + "\n"


def _load(names: Names) -> Iterator[str]:
    schema = names.schema
    texts = [str(i) for i, v in enumerate(schema.shown, 1) if is_text(v)]
    strings = f" stringcols({' '.join(texts)})" if texts else ""
    yield 'import delimited "data.csv", clear varnames(nonames) rowrange(2) asdouble ///'
    yield f'    bindquote(strict) encoding("UTF-8"){strings}'
    own = files.fit(schema)
    yield "rename ///"  # all at once, as a variable may itself have the name v2
    yield f"    ({' '.join(f'v{i}' for i in range(1, len(schema.shown) + 1))}) ///"
    yield f"    ({' '.join(names[variable.name] for variable in schema.shown)})"
    for variable in schema.shown:
        name = names[variable.name]
        if variable.date:
            yield f"rename {name} _text_"
            yield f'generate {name} = date(_text_, "YMD")'
            yield f"format {name} %tdCCYY-NN-DD"
            yield f"order {name}, before(_text_)"
            yield "drop _text_"
        yield f'label variable {name} "{harmless(own.labels[variable.name])}"'
        if is_text(variable):
            continue
        codes = files.letters(variable)
        labels = own.values.get(variable.name, {})
        if codes:
            pairs = " \\ ".join(f"{code:.15g} = .{letter}" for code, letter in codes.items())
            yield f"mvdecode {name}, mv({pairs})"
        for code, text in labels.items():
            code = f".{code}" if isinstance(code, str) else code
            yield f'label define {name} {code} "{harmless(text)}", modify'
        if labels:
            yield f"label values {name} {name}"


def condition(where: Condition, names: Names) -> str:
    """Write a condition."""
    if isinstance(where, Comparison):
        operator, values = compared(where, names.schema[where.variable])
        tests = [
            f"{names[where.variable]} {'==' if operator == 'in' else operator} "
            f"{literal(names.schema[where.variable], text)}"
            for text in values
        ]
        return f"({' | '.join(tests)})"
    parts = [condition(part, names) for part in where.parts]
    if isinstance(where, Not):
        return f"!({parts[0]})"
    return "(" + (" | " if isinstance(where, Or) else " & ").join(parts) + ")"


def select(block: Block, wanted: Sequence[str], names: Names) -> str:
    """Mark the records inside a condition that miss none of some variables."""
    needed = list(dict.fromkeys([*wanted, *(block.where.variables if block.where else ())]))
    tests = [condition(block.where, names)] if block.where is not None else []
    tests += [names.valid(name) for name in needed]
    return f"quietly replace _people = {' & '.join(tests) or '1'}"


def _group(group: Group, names: Names) -> str:
    tests = []
    for name, text in group:
        variable = names.schema[name]
        if text == VALID:
            tests.append(names.valid(name))
        elif text == MISSING and (variable.blank or text not in variable.levels):
            tests.append(f"!({names.valid(name)})")
        elif not is_text(variable) and variable.levels[text] >= variable.valid:
            letter = files.letters(variable)[variable.values[variable.levels[text]].item()]
            tests.append(f"{names[name]} == .{letter}")
        else:
            tests.append(f"{names[name]} == {literal(variable, text)}")
    return "".join(f" & {test}" for test in tests)


def show(block: Block, position: int) -> str:
    """Write the line that prints one figure."""
    figure = block.figures[position]
    label, published = (harmless(line(t, 75)) for t in (named(figure), figure.printed.text))
    return f'show "{label}" "{published}" {decimals(figure)}'


def _analysis(block: Block, names: Names) -> Iterator[str]:
    analysis = block.analysis
    if isinstance(analysis, Counting):
        yield from _counting(analysis, block, names)
    elif isinstance(analysis, Describing):
        yield from _describing(analysis, block, names)
    elif isinstance(analysis, Correlating):
        yield from _correlating(analysis, block, names)
    elif isinstance(analysis, Testing):
        yield from _testing(analysis, block, names)
    elif isinstance(analysis, Fitting):
        yield select(block, list(analysis.names), names)
        yield from stata_models.fitting(analysis, names)
        for position, item in enumerate(analysis.items):
            yield from stata_models.before(item, analysis, names)
            yield f"scalar s_value = {stata_models.figure(item, analysis)}"
            yield show(block, position)
    else:
        yield "* This kind of output does not say how it is computed."


def _counting(analysis: Counting, block: Block, names: Names) -> Iterator[str]:
    yield select(block, analysis.names if analysis.complete else (), names)
    if analysis.weight is not None:
        for position, cell in enumerate(analysis.cells):
            of = f"quietly summarize {names[analysis.weight]} if _people"
            yield f"{of}{_group(cell.group, names)}"
            yield "scalar s_value = r(sum)"
            if cell.whole is not None:
                yield f"{of}{_group(cell.whole, names)}"
                yield f"scalar s_value = {cell.scale:g} * s_value / r(sum)"
            yield show(block, position)
        return
    for position, cell in enumerate(analysis.cells):
        yield f"quietly count if _people{_group(cell.group, names)}"
        yield "scalar s_value = r(N)"
        if cell.whole is not None:
            yield f"quietly count if _people{_group(cell.whole, names)}"
            yield f"scalar s_value = {cell.scale:g} * s_value / r(N)"
        yield show(block, position)


_STATISTICS = {
    "n": "r(N)",
    "mean": "r(mean)",
    "sd": "r(sd)",
    "variance": "r(Var)",
    "standard_error": "r(sd) / sqrt(r(N))",
    "median": "r(p50)",
    "min": "r(min)",
    "max": "r(max)",
    "sum": "r(sum)",
    "skewness": "r(skewness) * sqrt(r(N) * (r(N) - 1)) / (r(N) - 2)",
    "kurtosis": "(r(N) - 1) / ((r(N) - 2) * (r(N) - 3)) * ((r(N) + 1) * (r(kurtosis) - 3) + 6)",
}


def _describing(analysis: Describing, block: Block, names: Names) -> Iterator[str]:
    before: Any = None
    for position, item in enumerate(analysis.statistics):
        of = names[item.of]
        if (item.of, item.group) != before:
            before = item.of, item.group
            yield select(block, [item.of, *analysis.by, *(n for n, _ in item.group)], names)
            yield f"quietly replace _group = _people{_group(item.group, names)}"
        if analysis.weight is not None:
            weight = names[analysis.weight]
            if item.name == "standard_error":
                yield f"quietly svyset [pweight = {weight}]"
                yield f"quietly svy, subpop(_group): mean {of}"
                yield f"scalar s_value = _se[{of}]"
            else:
                yield f"quietly summarize {of} [aweight = {weight}] if _group"
                yield f"scalar s_value = {WEIGHTED_STATA[item.name]}"
        elif item.name in _STATISTICS:
            yield f"quietly summarize {of} if _group, detail"
            yield f"scalar s_value = {_STATISTICS[item.name]}"
        elif item.name in {"above", "below"}:
            sign = ">" if item.name == "above" else "<"
            yield "quietly count if _group"
            yield "scalar s_everyone = r(N)"
            yield f"quietly count if _group & {of} {sign} {item.argument:.10g}"
            yield "scalar s_value = 100 * r(N) / s_everyone"
        else:
            places = [0.75, 0.25] if item.name == "iqr" else [item.argument]
            call = " - ".join(f'quantile7("{of}", "_group", {p:.10g})' for p in places)
            yield f'mata: st_numscalar("s_value", {call})'
        yield show(block, position)


_PAIRS = {
    "pearson": ("correlate {} {}", "r(rho)"),
    "pearson p": (
        "correlate {} {}",
        "min(1, 2 * ttail(r(N) - 2, abs(r(rho)) * sqrt((r(N) - 2) / (1 - r(rho)^2))))",
    ),
    "covariance": ("correlate {} {}", "r(cov_12)"),
    "spearman": ("spearman {} {}", "r(rho)"),
    "spearman p": ("spearman {} {}", "r(p)"),
}


def _correlating(analysis: Correlating, block: Block, names: Names) -> Iterator[str]:
    for position, pair in enumerate(analysis.pairs):
        yield select(block, list(analysis.listwise or (pair.one, pair.two)), names)
        command, found = _PAIRS[pair.form]
        option = ", covariance" if pair.form == "covariance" else ""
        if pair.form == "covariance" and pair.one == pair.two:
            yield f"quietly summarize {names[pair.one]} if _people"
            found = "r(Var)"
        else:
            yield f"quietly {command.format(names[pair.one], names[pair.two])} if _people{option}"
        yield f"scalar s_value = {found}"
        yield show(block, position)


_TESTS = {
    "chi_square": {
        "statistic": "s_chi2",
        "df": "s_df",
        "p": "chi2tail(s_df, s_chi2)",
        "cramers_v": "s_v",
    },
    "t_test": {"t": "r(t)", "df": "r(df_t)", "p": "r(p)", "difference": "r(mu_1) - r(mu_2)"},
    "anova": {
        "f": "r(F)",
        "p": "Ftail(r(df_m), r(df_r), r(F))",
        "eta_squared": "r(mss) / (r(mss) + r(rss))",
    },
    "odds_ratio": {
        "odds_ratio": "exp(s_odds)",
        "odds_ratio_ci low": "exp(s_odds - s_z * s_odds_se)",
        "odds_ratio_ci high": "exp(s_odds + s_z * s_odds_se)",
        "risk_ratio": "exp(s_risk)",
        "risk_ratio_ci low": "exp(s_risk - s_z * s_risk_se)",
        "risk_ratio_ci high": "exp(s_risk + s_z * s_risk_se)",
        "p": "2 * normal(-abs(s_{0} / s_{0}_se))",
    },
}


def _testing(analysis: Testing, block: Block, names: Names) -> Iterator[str]:
    one, two = names[analysis.one], names[analysis.two]
    yield select(block, [analysis.one, analysis.two], names)
    again = ""
    if analysis.test == "chi_square":
        yield f"quietly tabulate {one} {two} if _people, chi2 V"
        yield "scalar s_chi2 = r(chi2)"
        yield "scalar s_df = (r(r) - 1) * (r(c) - 1)"
        yield "scalar s_v = abs(r(CramersV))"
        if analysis.option:
            yield "* Stata has no continuity correction of chi-square: by hand, for two by two"
            yield f"quietly tabulate {one} {two} if _people, matcell(cells)"
            yield "scalar s_gap = max(0, abs(cells[1,1] * cells[2,2] - cells[1,2] * cells[2,1]) ///"
            yield "    - r(N) / 2)"
            yield "scalar s_chi2 = r(N) * s_gap^2 / ((cells[1,1] + cells[1,2]) * ///"
            yield "    (cells[2,1] + cells[2,2]) * (cells[1,1] + cells[2,1]) * ///"
            yield "    (cells[1,2] + cells[2,2]))"
    elif analysis.test == "t_test":
        assert analysis.values is not None
        first = _group(((analysis.two, analysis.values[0][0]),), names)
        yield f"quietly replace _group = cond(_people{first}, 1, 2)"
        unequal = " unequal" if analysis.option else ""
        again = f"quietly ttest {one} if _people, by(_group){unequal}"
    elif analysis.test == "anova":
        yield "capture drop _groups"
        yield f"quietly egen _groups = group({two}) if _people"
        again = f"quietly oneway {one} _groups if _people"
    else:
        assert analysis.values is not None
        for i, r in enumerate(analysis.values[0], 1):
            for j, c in enumerate(analysis.values[1], 1):
                cell = _group(((analysis.one, r), (analysis.two, c)), names)
                yield f"quietly count if _people{cell}"
                yield f"scalar s_n{i}{j} = r(N)"
        yield "scalar s_odds = ln(s_n11 * s_n22 / (s_n12 * s_n21))"
        yield "scalar s_odds_se = sqrt(1/s_n11 + 1/s_n12 + 1/s_n21 + 1/s_n22)"
        yield "scalar s_risk = ln(s_n11 / (s_n11 + s_n12)) - ln(s_n21 / (s_n21 + s_n22))"
        yield "scalar s_risk_se = sqrt(1/s_n11 - 1/(s_n11 + s_n12) + 1/s_n21 - 1/(s_n21 + s_n22))"
        yield f"scalar s_z = invnormal({0.5 + analysis.level / 2:.10g})"
    which = "risk" if analysis.option else "odds"
    if again:
        yield again
    for position, key in enumerate(analysis.keys):
        yield f"scalar s_value = {_TESTS[analysis.test][key].format(which)}"
        yield show(block, position)
        if again and position < len(analysis.keys) - 1:
            yield again  # showing a figure clears what the test left behind
