"""The starter script for SPSS: its own procedures, with the published figures as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evosynth.analysis import Correlating, Counting, Describing, Fitting, Testing
from evosynth.condition import Comparison, Condition, Not, Or
from evosynth.formats import spss as files
from evosynth.formats.limits import n_bytes, value_labels
from evosynth.schema import Schema, Variable
from evosynth.scripts import spss_models
from evosynth.scripts.spss_text import broken, comment, literal, quoted
from evosynth.scripts.survey import SPSS_NOTE
from evosynth.scripts.text import Block, blocks, compared, is_text, line, named, opening

if TYPE_CHECKING:
    from evosynth.spec import Spec

_UNICODE = "Use SPSS in Unicode mode, its default (SET UNICODE=ON before any data are open)"


def script(spec: Spec, written: bool) -> str:
    """Write the whole script; ``written``: there is an SPSS file beside it."""
    schema, names = spec.schema, files.fit(spec.schema).names
    about = opening(spec, "Change to the folder of the data first (CD).", 240)
    lines = [comment(text) for text in about]
    lines += [comment(_UNICODE), "SET DECIMAL=DOT."]
    lines += ["GET FILE='data.sav'."] if written else list(_load(schema))
    for block in blocks(spec):
        lines += ["", comment(block.heading), f"TITLE {quoted(line(block.heading, 55))}."]
        lines += [comment(f"published: {named(f)} = {f.printed.text}") for f in block.figures]
        weight = getattr(block.analysis, "weight", None)
        if weight is not None:
            lines += [comment(SPSS_NOTE), f"WEIGHT BY {names[weight]}."]
        lines += _analysis(block, schema, names)
        lines += ["FILTER OFF."] + (["WEIGHT OFF."] if weight is not None else [])
    return "\n".join(part for text in lines for part in broken(text)) + "\n"


def _load(schema: Schema) -> Iterator[str]:
    own = files.fit(schema)
    yield "GET DATA /TYPE=TXT /FILE='data.csv' /ENCODING='UTF8' /ARRANGEMENT=DELIMITED"
    yield "  /DELIMITERS=',' /QUALIFIER='\"' /FIRSTCASE=2 /VARIABLES="
    for variable in schema.shown:
        width = max(n_bytes(text) for text in variable.texts)
        kind = f"A{width}" if is_text(variable) else f"F{max(8, width)}.{variable.decimals}"
        kind = "SDATE10" if variable.date else kind
        yield f"  {own.names[variable.name]} {kind}"
    yield "  ."
    for variable in schema.shown:
        name = own.names[variable.name]
        yield f"VARIABLE LABELS {name} {quoted(own.labels[variable.name])}."
        labels = own.values.get(variable.name, {})
        if value_labels(variable):
            yield f"VALUE LABELS {name}"
            for code, text in labels.items():
                yield f"  {quoted(code) if isinstance(code, str) else code} {quoted(text)}"
            yield "  ."
        if missing := files.missing_values(variable):
            listed = ", ".join(
                f"{m['lo']} THRU {m['hi']}" if isinstance(m, dict) else literal(variable, str(m))
                for m in missing
            )
            yield f"MISSING VALUES {name} ({listed})."


def condition(where: Condition, schema: Schema, names: dict[str, str]) -> str:
    """Write a condition."""
    if isinstance(where, Comparison):
        operator, values = compared(where, schema[where.variable])
        sign = {"==": "=", "in": "=", "!=": "<>"}.get(operator, operator)
        tests = [
            f"{names[where.variable]} {sign} {literal(schema[where.variable], text)}"
            for text in values
        ]
        return f"({' OR '.join(tests)})"
    parts = [condition(part, schema, names) for part in where.parts]
    if isinstance(where, Not):
        return f"NOT ({parts[0]})"
    return "(" + (" OR " if isinstance(where, Or) else " AND ").join(parts) + ")"


def _present(variable: Variable, name: str) -> Iterator[str]:
    """Test that a value is not missing; texts are compared, as programs differ in the rest."""
    if not is_text(variable) or variable.date:
        yield f"NOT MISSING({name})"
        return
    codes = variable.texts[variable.valid : variable.size - variable.blank]
    for code in [*codes, *([""] if variable.blank else [])]:
        yield f"{name} <> {quoted(code)}"


def select(
    block: Block, wanted: Sequence[str], schema: Schema, names: dict[str, str]
) -> Iterator[str]:
    """Choose the records inside a condition that miss none of some variables."""
    needed = list(dict.fromkeys([*wanted, *(block.where.variables if block.where else ())]))
    tests = [condition(block.where, schema, names)] if block.where is not None else []
    tests += [test for name in needed for test in _present(schema[name], names[name])]
    if tests:
        yield "COMPUTE people_ = 0."
        yield f"IF ({' AND '.join(tests)}) people_ = 1."
        yield "FILTER BY people_."


def _analysis(block: Block, schema: Schema, names: dict[str, str]) -> Iterator[str]:
    analysis = block.analysis
    if isinstance(analysis, Counting):
        yield from select(block, analysis.names if analysis.complete else (), schema, names)
        own = [names[name] for name in analysis.names]
        if len(own) == 1:
            yield f"FREQUENCIES VARIABLES={own[0]}."
        else:
            by = " BY ".join([own[0], own[-1], *own[1:-1]])
            yield f"CROSSTABS /TABLES={by} /CELLS=COUNT ROW COLUMN TOTAL."
    elif isinstance(analysis, Describing):
        yield from _describing(analysis, block, schema, names)
    elif isinstance(analysis, Correlating):
        yield from _correlating(analysis, block, schema, names)
    elif isinstance(analysis, Testing):
        yield from _testing(analysis, block, schema, names)
    elif isinstance(analysis, Fitting):
        yield from select(block, list(analysis.names), schema, names)
        yield from spss_models.fitting(analysis, schema, names)
    else:
        yield comment("This kind of output does not say how it is computed")


def _describing(
    analysis: Describing, block: Block, schema: Schema, names: dict[str, str]
) -> Iterator[str]:
    done = set()
    for item in analysis.statistics:
        by = tuple(dict.fromkeys([*analysis.by, *(name for name, _ in item.group)]))
        if (item.of, by) in done:
            continue
        done.add((item.of, by))
        yield from select(block, [item.of, *by], schema, names)
        own = [s for s in analysis.statistics if s.of == item.of]
        groups = "".join(f" BY {names[name]}" for name in by)
        cells = "COUNT MEAN STDDEV VARIANCE SEMEAN MIN MAX SUM SKEW KURT"
        yield f"MEANS TABLES={names[item.of]}{groups} /CELLS={cells}."
        shares = sorted({s.argument * 100 for s in own if s.name == "quantile"})
        if any(s.name == "iqr" for s in own):
            shares = sorted({*shares, 25.0, 75.0})
        if shares:
            yield comment("Percentiles of SPSS are weighted averages; other programs interpolate")
        if any(s.name == "median" for s in own):
            shares = sorted({*shares, 50.0})
        if shares:
            listed = ", ".join(f"{share:.10g}" for share in shares)
            across = " BY ".join(names[name] for name in by)
            groups = f" BY {across}" if by else ""
            yield f"EXAMINE VARIABLES={names[item.of]}{groups} /PLOT=NONE"
            yield f"  /PERCENTILES({listed})=HAVERAGE."
        for s in own:
            if s.name in {"above", "below"}:
                sign = ">" if s.name == "above" else "<"
                yield f"COMPUTE share_ = 100 * ({names[s.of]} {sign} {s.argument:.10g})."
                yield f"MEANS TABLES=share_{''.join(f' BY {names[n]}' for n in by)} /CELLS=MEAN."


def _correlating(
    analysis: Correlating, block: Block, schema: Schema, names: dict[str, str]
) -> Iterator[str]:
    yield from select(block, analysis.listwise, schema, names)
    own = " ".join(dict.fromkeys(names[n] for p in analysis.pairs for n in (p.one, p.two)))
    how = "LISTWISE" if analysis.listwise else "PAIRWISE"
    forms = {pair.form.split(" ")[0] for pair in analysis.pairs}
    if forms & {"pearson", "covariance"}:
        yield f"CORRELATIONS /VARIABLES={own} /PRINT=TWOTAIL /STATISTICS=XPROD /MISSING={how}."
    if "spearman" in forms:
        yield f"NONPAR CORR /VARIABLES={own} /PRINT=SPEARMAN TWOTAIL /MISSING={how}."


def _testing(
    analysis: Testing, block: Block, schema: Schema, names: dict[str, str]
) -> Iterator[str]:
    one, two = names[analysis.one], names[analysis.two]
    yield from select(block, [analysis.one, analysis.two], schema, names)
    if analysis.test == "chi_square":
        yield f"CROSSTABS /TABLES={one} BY {two} /STATISTICS=CHISQ PHI /CELLS=COUNT."
    elif analysis.test == "t_test":
        assert analysis.values is not None
        first, second = (literal(schema[analysis.two], text) for text in analysis.values[0])
        yield f"T-TEST GROUPS={two}({first} {second}) /VARIABLES={one}."
    elif analysis.test == "anova":
        text = is_text(schema[analysis.two])
        if text:
            yield f"AUTORECODE VARIABLES={two} /INTO group_ /PRINT."
            two = "group_"
        yield f"ONEWAY {one} BY {two} /STATISTICS=DESCRIPTIVES."
        if "eta_squared" in analysis.keys:
            yield f"MEANS TABLES={one} BY {two} /STATISTICS=ANOVA."
        if text:
            yield "DELETE VARIABLES group_."
    else:
        assert analysis.values is not None
        (first, _), (event, _) = analysis.values
        yield f"COMPUTE exposed_ = 1 + ({one} <> {literal(schema[analysis.one], first)})."
        yield f"COMPUTE event_ = 1 + ({two} <> {literal(schema[analysis.two], event)})."
        yield "CROSSTABS /TABLES=exposed_ BY event_ /STATISTICS=RISK /CELLS=COUNT ROW."
        level = f"{100 * analysis.level:.10g}"
        if level != "95" or ("p" in analysis.keys and not analysis.option):
            about = (
                f"CROSSTABS has intervals of 95 % and no p; Exp(B) is the odds ratio, at {level} %"
            )
            yield comment(about)
            yield f"LOGISTIC REGRESSION VARIABLES=event_ WITH exposed_ /PRINT=CI({level})."
