"""Figures for slides, with matplotlib: what the report shows, one picture each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.analysis import Fitting
from evosynth.codebook import describe
from evosynth.errors import EvosynthError
from evosynth.proof import units
from evosynth.report.associations import associations
from evosynth.report.layout import equation, tables, term
from evosynth.report.short import found

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evosynth.synthesis import Result

_BLUE, _DARK, _LOUD = "#2f6f9f", "#1b1f24", "#a8420b"


class Plot:
    """Pictures of a result; each method returns a matplotlib figure."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def convergence(self) -> Figure:
        """Figures exact, the farthest one, and the diversity of the population by generation."""
        log = self._result.log
        by = [row["generation"] for row in log]
        figure, axes = _axes(3, (7, 7), sharex=True)
        axes[0].plot(by, [row["exact"] for row in log], "o-", color=_BLUE, markersize=3)
        axes[0].set_ylabel("figures exact")
        far = [math.nan if row["worst"] is None else max(row["worst"], 1e-3) for row in log]
        axes[1].semilogy(by, far, "o-", color=_BLUE, markersize=3)
        axes[1].axhline(1, color=_DARK, linestyle=":", linewidth=1)
        axes[1].set_ylabel("farthest figure\n(half-units)")
        axes[2].plot(by, [1 - row["alike"] for row in log], "o-", color=_BLUE, markersize=3)
        axes[2].set(ylabel="diversity", xlabel="generation", ylim=(0, 1))
        return figure

    def forest(self, output: int | None = None) -> Figure:
        """Coefficients or ratios of a model with intervals; the first model if not told which."""
        result = self._result
        spec, position = result.spec, self._model(output)
        chosen = spec.outputs[position]
        schema = spec.schema_of(chosen)
        analysis = chosen.analysis(schema)
        assert isinstance(analysis, Fitting)
        frame, counts = units(spec, result.data)[chosen.unit]
        rows = chosen.intervals(frame, counts, schema)
        named = [(analysis.terms[row.parameter], row) for row in rows]
        named = [(names, row) for names, row in named if names[1] != "Intercept"]
        if not named:
            raise EvosynthError(f"outputs[{position}]: the model cannot be fitted to the data")
        figure, (axis,) = _axes(1, (7, 1 + 0.35 * len(named)))
        for at, (_, row) in enumerate(reversed(named)):
            axis.plot([row.low, row.high], [at, at], color=_BLUE)
            axis.plot(row.value, at, "o", color=_BLUE)
        labels = [
            (f"{equation(of, analysis, schema)}: " if of else "") + term(text, analysis, schema)
            for (of, text), _ in reversed(named)
        ]
        ratio = named[0][1].ratio
        form = "ratio" if ratio else "coefficient"
        printed = {i.parameter: i.published.value for i in analysis.items if i.form == form}
        for at, (_, row) in enumerate(reversed(named)):
            if row.parameter in printed:
                axis.plot(printed[row.parameter], at, "D", mfc="none", mec=_DARK, markersize=9)
        axis.axvline(1 if ratio else 0, color=_DARK, linestyle=":", linewidth=1)
        axis.set_yticks(range(len(labels)), _plain(labels))
        if ratio:
            axis.set_xscale("log")
        axis.set_xlabel(f"{form}, {analysis.level:g} % interval\ndiamonds: as published")
        return figure

    def differences(self, output: int) -> Figure:
        """Distance of each figure of an output from print, in half-units of its last digit."""
        spec = self._result.spec
        chosen = spec.outputs[self._known(output)]
        checked = self._result.verification
        rows = checked[checked["output"] == output].to_dict("records")
        distances = [_distance(found(row).distance) for row in rows]
        schema = spec.schema_of(chosen)
        shown = tables(chosen.analysis(schema), spec.figures[output], schema)
        size = sum(len(table["rows"]) for table in shown)
        widest = max(len(table["columns"]) for table in shown)
        figure, axes = _axes(len(shown), (3.5 + 0.8 * widest, 1.5 * len(shown) + 0.3 * size))
        for axis, table in zip(axes, shown, strict=True):
            values = np.array(
                [
                    [math.nan if i is None else distances[i] for i in row["cells"]]
                    for row in table["rows"]
                ]
            )
            axis.imshow(np.clip(values, -10, 10), cmap="PuOr_r", vmin=-10, vmax=10, aspect="auto")
            for (i, j), value in np.ndenumerate(values):
                if not math.isnan(value):
                    axis.text(j, i, f"{value:.3g}", ha="center", va="center", fontsize=8)
            labels = [", ".join(row["labels"]) for row in table["rows"]]
            axis.set_yticks(range(len(labels)), _plain(labels))
            axis.set_xticks(range(len(table["columns"])), _plain(table["columns"]), rotation=20)
            axis.set_title(_plain([table["caption"] or "half-units from print"])[0], fontsize=10)
        return figure

    def distribution(self, variable: str) -> Figure:
        """Draw records by category, or within bins of a quantity."""
        schema = self._result.spec.schema
        shown = {v.name for v in schema.shown if v.identifier is None}
        if variable not in shown:
            names = ", ".join(sorted(shown))
            raise EvosynthError(f"{variable!r} is no variable with a distribution ({names})")
        about = next(d for d in describe(self._result.data, schema) if d.variable.name == variable)
        figure, (axis,) = _axes(1, (7, 4))
        own = about.variable
        if own.labels is not None:
            colours = [_BLUE if i < own.valid else _LOUD for i in range(own.size)]
            axis.barh(range(own.size), about.counts, color=colours)
            axis.set_yticks(range(own.size), _plain(own.labels))
            axis.invert_yaxis()
            axis.set_xlabel("records")
        else:
            axis.stairs(about.counts, about.edges, fill=True, color=_BLUE)
            axis.set(ylabel="records")
            axis.set_xlabel(_plain([own.label])[0])
        axis.set_title(_plain([own.label or own.name])[0])
        return figure

    def associations(self) -> Figure:
        """How strongly variables go together: r, Cramér's V or η, whatever their types."""
        about = associations(self._result.data, self._result.spec.schema)
        names, size = about["names"], len(about["names"])
        values = np.full((size, size), math.nan)
        for i, row in enumerate(about["values"]):
            values[i, :i] = [math.nan if value is None else value for value in row]
        figure, (axis,) = _axes(1, (2.5 + 0.6 * size, 2 + 0.5 * size))
        axis.imshow(np.abs(values), cmap="Blues", vmin=0, vmax=1)
        for (i, j), value in np.ndenumerate(values):
            if not math.isnan(value):
                ink = "white" if abs(value) > 0.6 else _DARK
                axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, color=ink)
        axis.set_xticks(range(size), _plain(names), rotation=60, ha="right")
        axis.set_yticks(range(size), _plain(names))
        return figure

    def _known(self, output: int) -> int:
        if not 0 <= output < len(self._result.spec.outputs):
            raise EvosynthError(f"there is no outputs[{output}]")
        return output

    def _model(self, output: int | None) -> int:
        """Position of a model."""
        spec = self._result.spec
        models = [
            i
            for i, one in enumerate(spec.outputs)
            if isinstance(one.analysis(spec.schema_of(one)), Fitting)
        ]
        if output is None and models:
            return models[0]
        if output not in models:
            known = ", ".join(map(str, models)) or "there is none"
            raise EvosynthError(f"outputs[{output}] is no model; models: {known}")
        return output


def _axes(rows: int, size: tuple[float, float], **how: Any) -> tuple[Figure, list[Any]]:
    """Make a figure of its own, apart from whatever a notebook or script has open."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EvosynthError("plots need matplotlib: pip install 'evosynth[plots]'") from error
    figure = Figure(figsize=size, layout="constrained")
    found = figure.subplots(rows, 1, squeeze=False, **how)[:, 0]
    for axis in found:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(found)


def _plain(texts: Any) -> list[str]:
    """Texts of strangers: a dollar sign begins no formula."""
    return [str(text).replace("$", r"\$") for text in texts]


def _distance(value: float | None) -> float:
    return math.nan if value is None else value
