"""Where each figure stands in the table that a paper would print; knows forms, and no kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from evosynth.analysis import (
    MISSING,
    VALID,
    Analysis,
    Correlating,
    Counting,
    Describing,
    Fitting,
    Group,
    Statistic,
    Testing,
)
from evosynth.objective import Figure
from evosynth.report.words import FIT, FORMS, STATISTICS, TESTS
from evosynth.schema import Schema

Json = dict[str, Any]
"""What is written to a file: texts, numbers, lists and more of the same."""


def tables(
    analysis: Analysis | None, figures: Sequence[Figure], schema: Schema, counted: str = "Records"
) -> list[Json]:
    """Lay out the figures of an output, whose unweighted counts are of what is ``counted``.

    Returns
    -------
    Tables with ``caption``, ``heads`` (above the labels of rows), ``columns`` and ``rows``; a row
    has ``labels`` and ``cells``, each the number of a figure in the output or nothing.
    """
    if isinstance(analysis, Counting):
        words = f"Weighted {counted.lower()}" if analysis.weight else counted
        return _counting(analysis, schema, words)
    if isinstance(analysis, Describing):
        return [_describing(analysis, schema)]
    if isinstance(analysis, Correlating):
        return _correlating(analysis, schema)
    if isinstance(analysis, Testing):
        return [_testing(analysis, schema)]
    if isinstance(analysis, Fitting):
        return _fitting(analysis, schema)
    rows = [((figure.label,), "Value", i) for i, figure in enumerate(figures)]
    return [_table("", ["Figure"], rows)]


def _table(
    caption: str,
    heads: Sequence[str],
    entries: Iterable[tuple[tuple[str, ...], str, int]],
    columns: Sequence[str] = (),
    rows: Sequence[tuple[str, ...]] = (),
) -> Json:
    """Put figures, each with the labels of its row and its column, where these meet."""
    across = {name: i for i, name in enumerate(columns)}
    down: dict[tuple[tuple[str, ...], int], int] = {(row, 0): i for i, row in enumerate(rows)}
    found: dict[tuple[int, int], int] = {}
    for labels, column, figure in entries:
        over = across.setdefault(column, len(across))
        again = 0  # two values may have the same label: then a second line has it, too
        while (down.setdefault((labels, again), len(down)), over) in found:
            again += 1
        found[down[labels, again], over] = figure
    lines = [
        {"labels": list(labels), "cells": [found.get((i, column)) for column in range(len(across))]}
        for (labels, _), i in down.items()
        if any((i, column) in found for column in range(len(across)))
    ]
    return {"caption": caption, "heads": list(heads), "columns": list(across), "rows": lines}


def name(variable: str, schema: Schema) -> str:
    """Label of a variable, or its name where it has none."""
    if variable not in schema.index:
        return variable
    return schema[variable].label.strip() or variable


def value(variable: str, text: str, schema: Schema) -> str:
    """Label of a value, or the value."""
    if text == VALID:
        return "All valid"
    if variable in schema.index:
        found = schema[variable]
        if found.labels is not None and text in found.levels:
            return found.labels[found.levels[text]].strip() or text
    return "Missing" if text == MISSING else text


def _counting(analysis: Counting, schema: Schema, counted: str) -> list[Json]:
    names = analysis.names
    one = len(names) == 1
    rows, across = (names, "") if one else (names[:-1], names[-1])
    parts: dict[Hashable, list[tuple[tuple[str, ...], str, int]]] = {}
    captions: dict[Hashable, str] = {}
    columns: dict[str, int] = {}
    for i, cell in enumerate(analysis.cells):
        group = dict(cell.group)
        form = counted if cell.whole is None else _share(cell.whole, cell.scale, across)
        labels = tuple(value(n, group[n], schema) if n in group else "Total" for n in rows)
        if one:
            parts.setdefault((), []).append((labels, form, i))
            continue
        column = value(across, group[across], schema) if across in group else "Total"
        whole = None if cell.whole is None else tuple(n for n, _ in cell.whole)
        captions[whole, cell.scale] = form
        parts.setdefault((whole, cell.scale), []).append((labels, column, i))
    if not one:
        levels = schema[across].texts if across in schema.index else ()
        columns = {value(across, text, schema): i for i, text in enumerate(levels)}
    heads = [name(n, schema) for n in rows]
    found = []
    for key, entries in parts.items():
        used = {column for _, column, _ in entries}
        order = [c for c in columns if c in used and c != "Total"]
        caption = "" if one else f"{captions[key]}, by {name(across, schema)}"
        found.append(_table(caption, heads, entries, order))
    return found


def _share(whole: Group, scale: float, across: str) -> str:
    unit = "Per cent" if scale == 100 else "Share"
    names = [n for n, _ in whole]
    if not names:
        return f"{unit} of all"
    if any(text == VALID for _, text in whole):
        return f"{unit} of valid"
    return f"{unit} of the column" if names == [across] else f"{unit} of the row"


def _describing(analysis: Describing, schema: Schema) -> Json:
    by: dict[str, None] = {n: None for n in analysis.by}
    for statistic in analysis.statistics:
        by.update({n: None for n, _ in statistic.group})
    several = len({s.of for s in analysis.statistics}) > 1
    crossed = len(analysis.by) == len(by)
    entries = []
    for i, s in enumerate(analysis.statistics):
        group = dict(s.group)
        told = [name(s.of, schema)] if several or not by else []
        if crossed:
            told += [value(n, group[n], schema) if n in group else "Total" for n in by]
        else:  # one variable after the other
            told += [name(n, schema) for n in group] or ["Total"]
            told += [value(n, text, schema) for n, text in s.group] or [""]
        words = STATISTICS.get(s.name, s.name.replace("_", " "))
        entries.append((tuple(told), words.format(_argument(s)), i))
    heads = ["Variable"] if several or not by else []
    heads += [name(n, schema) for n in by] if crossed else ["Group", "Value"]
    caption = "" if several or not by else name(analysis.statistics[0].of, schema)
    return _table(caption, heads, entries)


def _argument(statistic: Statistic) -> str:
    """Say what is between the brackets: 25 of the lower quartile."""
    scale = 100 if statistic.name == "quantile" else 1
    return f"{scale * statistic.argument:g}"


def _correlating(analysis: Correlating, schema: Schema) -> list[Json]:
    order = {n: i for i, n in enumerate(dict.fromkeys(_names(analysis)))}
    labels = [name(n, schema) for n in order]
    if len(set(labels)) < len(labels):
        labels = [f"{name(n, schema)} ({n})" for n in order]
    parts: dict[str, list[tuple[tuple[str, ...], str, int]]] = {}
    for i, pair in enumerate(analysis.pairs):
        first, last = sorted((order[pair.one], order[pair.two]))
        parts.setdefault(pair.form, []).append(((labels[last],), labels[first], i))
    rows = [(label,) for label in labels]
    captions = {"pearson": "Pearson correlation", "spearman": "Spearman rank correlation"}
    captions |= {f"{form} p": f"p-value of the {text}" for form, text in captions.items()}
    found = []
    for form, entries in parts.items():
        used = {column for _, column, _ in entries}
        columns = [label for label in labels if label in used]
        caption = captions.get(form, form.capitalize())
        found.append(_table(caption, ["Variable"], entries, columns, rows))
    return found


def _names(analysis: Correlating) -> Iterable[str]:
    for pair in analysis.pairs:
        yield from (pair.one, pair.two)


def _testing(analysis: Testing, schema: Schema) -> Json:
    one, two = (name(n, schema) for n in (analysis.one, analysis.two))
    rows = [
        ((TESTS.get(key, key.replace("_", " ")),), "Value", i)
        for i, key in enumerate(analysis.keys)
    ]
    return _table(f"{one} by {two}", ["Statistic"], rows)


def term(text: str, analysis: Fitting, schema: Schema) -> str:
    """Say what a coefficient is of: ``Sex: Female`` for ``SEX[2]``."""
    for column in analysis.columns:
        if column.name == text:
            words = []
            for part in column.parts:
                variable = part.factor.variable
                label = name(variable, schema)
                if part.level is not None:
                    code = schema[variable].texts[part.level]
                    words.append(f"{label}: {value(variable, code, schema)}")
                else:
                    power = part.factor.power
                    raised = f"{label} (power {power})" if power > 2 else f"{label} squared"
                    plain = label if power == 1 else raised
                    words.append(f"log of {label}" if part.factor.log else plain)
            return " × ".join(words) or "Intercept"
    if text == "alpha":
        return "Alpha (dispersion)"
    return " | ".join(equation(part, analysis, schema) for part in text.split("|"))


def equation(text: str, analysis: Fitting, schema: Schema) -> str:
    """Label of the value of the outcome that an equation, or a side of a cut point, is of."""
    coded = analysis.outcome in schema.index and schema[analysis.outcome].categorical
    return value(analysis.outcome, text, schema) if coded else text


def references(analysis: Fitting, schema: Schema) -> list[str]:
    """Tell the reference category of every variable of categories in a model."""
    used: dict[str, set[int]] = {}
    for column in analysis.columns:
        for part in column.parts:
            if part.level is not None:
                used.setdefault(part.factor.variable, set()).add(part.level)
    found = []
    for variable, levels in used.items():
        left = [k for k in range(schema[variable].valid) if k not in levels]
        if len(left) == 1:
            code = schema[variable].texts[left[0]]
            found.append(f"{name(variable, schema)}: {value(variable, code, schema)}")
    return found


def _fitting(analysis: Fitting, schema: Schema) -> list[Json]:
    parts: dict[str, list[tuple[tuple[str, ...], str, int]]] = {e: [] for e, _ in analysis.terms}
    fit: list[tuple[tuple[str, ...], str, int]] = []
    # Terms that share a label are told apart by their names.
    labels = {text: term(text, analysis, schema) for _, text in analysis.terms}
    twice = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    for i, item in enumerate(analysis.items):
        if item.parameter is None:
            fit.append(((FIT.get(item.form, item.form.replace("_", " ")),), "Value", i))
            continue
        of, text = analysis.terms[item.parameter]
        label = f"{labels[text]} ({text})" if labels[text] in twice else labels[text]
        parts[of].append(((label,), _form(item.form, analysis), i))
    found = []
    order = [_form(form, analysis) for form in FORMS]
    for of, entries in parts.items():
        used = {column for _, column, _ in entries}
        caption = ""
        if of:
            caption = f"{name(analysis.outcome, schema)}: {equation(of, analysis, schema)}"
        if entries:
            columns = [c for c in dict.fromkeys(order) if c in used]
            rows = [
                ((f"{labels[t]} ({t})" if labels[t] in twice else labels[t]),)
                for e, t in analysis.terms
                if e == of
            ]
            found.append(_table(caption, ["Term"], entries, columns, rows))
    if fit:
        found.append(_table("The whole model", ["Measure"], fit))
    return found


def _form(form: str, analysis: Fitting) -> str:
    """Head of a column of a regression table."""
    words = FORMS.get(form, form)
    if form == "ratio":
        words = {"poisson": "Rate ratio", "negative_binomial": "Rate ratio"}.get(
            analysis.family, "Relative risk ratio" if analysis.family == "multinomial" else words
        )
    if form == "statistic":
        words = "t" if analysis.family in {"ols", "wls"} else "z"
    if form in {"low", "high"}:
        words = f"{words}, {analysis.level:g} %"
    return words
