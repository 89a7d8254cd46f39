"""Pictures of disclosure risk, with matplotlib: bars, dots beside baselines, risk-utility map."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import EvosynthError
from evosynth.risk.utility import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_BLUE, _DARK, _LOUD, _PALE = "#2f6f9f", "#1b1f24", "#a8420b", "#c9d6e0"
_COLOURS = (_BLUE, _LOUD, "#5b8c3a", "#7a5195", "#b8860b", "#3a8c8c", "#c0507a", "#6b6f76")
_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "*")
_LONGEST = 32
_LINE = 56
_WHY = ("undefined", "withheld")


def disclosure_bars(
    targets: Sequence[str], original: Sequence[Any], synthetic: Sequence[Any]
) -> Figure:
    """Draw what the original discloses itself beside what synthetic data disclose correctly.

    Targets are ordered by DiSCO, the riskiest first. What is undefined (nothing or NaN) or
    withheld (a text) is said to be so.

    Parameters
    ----------
    targets
        Names of the target variables.
    original
        Dorig of each target, in per cent of the original records.
    synthetic
        DiSCO of each target, in per cent of the original records.
    """
    if not len(targets) == len(original) == len(synthetic):
        raise EvosynthError("a picture needs one Dorig and one DiSCO for each target")
    # Undefined targets come last: they are at no place of the order.
    order = sorted(range(len(targets)), key=lambda i: (-_rank(synthetic[i]), -_rank(original[i])))
    figure, axis = _axis((7, 1.5 + 0.42 * len(order)))
    sides = (
        ("Dorig: what the original discloses itself", original, _PALE, -0.19),
        ("DiSCO: what the synthetic data disclose, and correctly", synthetic, _BLUE, 0.19),
    )
    for label, values, colour, shift in sides:
        lengths = [values[i] if _defined(values[i]) else 0 for i in order]
        axis.barh(np.arange(len(order)) + shift, lengths, 0.36, color=colour, label=label)
        for at, i in enumerate(order):
            text = f"{values[i]:.1f}" if _defined(values[i]) else _why(values[i])
            _beside(axis, text, (lengths[at], at + shift))
    axis.set_yticks(range(len(order)), [_short(targets[i]) for i in order])
    axis.set_ylim(len(order) - 0.5, -0.5)
    axis.set_xlim(0, 1.08 * max([1.0, *_finite([*original, *synthetic])]))
    axis.set_xlabel("% of the records of the original")
    _legend(figure, axis, columns=1)
    return figure


def tcap_dots(
    rows: pd.DataFrame, baselines: Mapping[str, float], definition: str, *, percent: bool = False
) -> Figure:
    """Draw how often targets are attributed correctly, one line per target.

    Parameters
    ----------
    rows
        One per ``target`` and ``comparison`` (such as ``original → synthetic``), with ``value``
        and, where there is an interval, ``low`` and ``high``.
    baselines
        What a guess that knows the distribution of each target alone would reach.
    definition
        Which TCAP it is, such as ``TCAP over disclosive keys``: there are three in use.
    percent
        Whether values go to 100 rather than to 1.
    """
    targets = list(dict.fromkeys(rows["target"]))
    comparisons = list(dict.fromkeys(rows["comparison"]))
    if not targets:
        raise EvosynthError("there is no target to draw")
    height = max(0.4, 0.14 * (len(comparisons) + 1))
    figure, axis = _axis((7.5, 1.4 + 0.22 * len(comparisons) + height * len(targets)))
    step = 0.7 / max(len(comparisons), 1)
    label: str | None = "baseline: guessing from the distribution"
    for at, target in enumerate(targets):
        if at % 2:
            axis.axhspan(at - 0.5, at + 0.5, color=_PALE, alpha=0.3, linewidth=0)
        base = baselines.get(target, math.nan)
        if _defined(base):
            axis.plot([base] * 2, [at - 0.42, at + 0.42], color=_DARK, linewidth=2, label=label)
            label = None
    for number, comparison in enumerate(comparisons):
        some = rows[rows["comparison"] == comparison].to_dict("records")
        ys = [
            targets.index(row["target"]) + (number - (len(comparisons) - 1) / 2) * step
            for row in some
        ]
        colour, marker = _look(number)
        for y, row in zip(ys, some, strict=True):
            low, high = row.get("low", math.nan), row.get("high", math.nan)
            if _defined(row["value"]) and _defined(low) and _defined(high):
                axis.plot([low, high], [y, y], color=colour, linewidth=1.2)
        values = [row["value"] if _defined(row["value"]) else math.nan for row in some]
        axis.plot(values, ys, marker, color=colour, markersize=5, label=_short(_arrow(comparison)))
    lost = [
        (f"{row['target']} ({_arrow(row['comparison'])})", row["value"])
        for row in rows.to_dict("records")
        if not _defined(row["value"])
    ]
    axis.set_yticks(range(len(targets)), [_short(target) for target in targets])
    axis.set_ylim(len(targets) - 0.5, -0.5)
    most = 100 if percent else 1
    values = _finite([*rows["value"], *baselines.values()])
    axis.set_xlim(min([-0.02 * most, *(1.05 * v for v in values)]), 1.02 * most)
    axis.set_xlabel(_with_lost(definition + (", %" if percent else ""), lost))
    _legend(figure, axis, columns=2)
    return figure


def risk_utility_map(points: pd.DataFrame, risk: str) -> Figure:
    """Draw data sets by risk and utility; the best place is the upper left corner.

    Parameters
    ----------
    points
        As :func:`evosynth.risk.utility.map_points` returns them.
    risk
        What the risk is, with its unit: ``DiSCO, %``.
    """
    if not len(points):
        raise EvosynthError("there is no data set to draw")
    measure, better = str(points["measure"].iloc[0]), str(points["better"].iloc[0])
    figure, axis = _axis((7, 4.6 + 0.12 * len(points)))
    lost = []
    for number, point in enumerate(points.to_dict("records")):
        if not (_defined(point["risk"]) and _defined(point["utility"])):
            why = point["utility"] if _defined(point["risk"]) else point["risk"]
            lost.append((str(point["label"]), why))
            continue
        colour, marker = _look(number)
        label = _short(point["label"])
        axis.plot(point["risk"], point["utility"], marker, color=colour, markersize=9, label=label)
    words = MEASURES[measure][0] if measure in MEASURES else measure
    axis.set_ylabel(fill(words, 44) + f"\n({better} is better)")
    axis.set_xlabel(_with_lost(fill(f"risk: {risk} (lower is better)", _LINE), lost))
    axis.margins(0.12)
    if better == "lower":
        axis.invert_yaxis()  # so that up is useful, whatever the measure
    axis.grid(color=_PALE, linewidth=0.6)
    axis.set_axisbelow(True)
    axis.text(0.015, 0.985, "safe and useful", va="top", color="#6b6f76", transform=axis.transAxes)
    if len(lost) < len(points):
        _legend(figure, axis, columns=2)
    return figure


def drawn(summary: Mapping[str, Any], points: pd.DataFrame | None = None) -> dict[str, Figure]:
    """Draw everything that an assessment says of itself; what it withholds stays withheld.

    Parameters
    ----------
    summary
        What ``risk.json`` holds: :meth:`evosynth.risk.Assessment.summary`.
    points
        For the map: :func:`evosynth.risk.utility.map_points`, with DiSCO of the first target as
        the risk.
    """
    import pandas as pd

    rows = summary["attribution"]
    sides = [[row[name] for row in rows] for name in ("target", "Dorig", "DiSCO")]
    figures = {"risk-disclosure": disclosure_bars(sides[0], sides[1], sides[2])}
    if summary.get("protocol"):
        table = pd.DataFrame(summary["protocol"]).rename(columns={"raw": "value"}).astype(object)
        bases = dict(zip(table["target"], table["baseline"], strict=True))
        words = "TCAP over disclosive keys"
        figures["risk-tcap"] = tcap_dots(table, bases, words, percent=True)
    if points is not None and len(points):
        figures["risk-utility"] = risk_utility_map(points, f"DiSCO of {sides[0][0]}, %")
    return figures


def save(figure: Figure, path: str | Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure beside ``path`` in each format; the same figure gives the same bytes."""
    import matplotlib as mpl

    base = Path(path)
    written = []
    for kind in formats:
        target = base.with_name(f"{base.name}.{kind}")
        # Dates and random identifiers would differ from run to run.
        about = {"svg": {"Date": None}, "png": {"Software": None}}.get(kind)
        with mpl.rc_context({"svg.hashsalt": "evosynth"}):
            figure.savefig(target, format=kind, dpi=150, metadata=about)
        written.append(target)
    return written


def _axis(size: tuple[float, float]) -> tuple[Figure, Any]:
    """Make a figure of its own, apart from whatever a notebook or script has open."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EvosynthError("pictures need matplotlib: pip install 'evosynth[risk]'") from error
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    axis.spines[["top", "right"]].set_visible(False)
    return figure, axis


def _legend(figure: Figure, axis: Any, columns: int) -> None:
    """Above the picture, where no data can lie under it."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper left", ncols=columns, frameon=False, fontsize=9
    )


def _beside(axis: Any, text: str, place: tuple[float, float]) -> None:
    axis.annotate(
        text,
        place,
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color="#6b6f76" if text in _WHY else _DARK,
    )


def _with_lost(text: str, lost: Sequence[tuple[str, Any]]) -> str:
    """Say below an axis what has no place in the picture, and why."""
    lines = _plain([text])
    for why in _WHY:
        names = [name for name, value in lost if _why(value) == why]
        if names:
            more = f" and {len(names) - 6} more" if len(names) > 6 else ""
            lines += _plain([fill(f"{why}: {', '.join(names[:6])}{more}", _LINE)])
    return "\n".join(lines)


def _why(value: Any) -> str:
    return _WHY[isinstance(value, str)]


def _look(number: int) -> tuple[str, str]:
    turn = number // len(_COLOURS)
    return _COLOURS[number % len(_COLOURS)], _MARKERS[(number + turn) % len(_MARKERS)]


def _rank(value: float) -> float:
    return value if _defined(value) else -math.inf


def _defined(value: Any) -> bool:
    return value is not None and not isinstance(value, str) and not math.isnan(value)


def _finite(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values if _defined(value)]


def _arrow(text: Any) -> str:
    return str(text).replace("->", "→")


def _short(text: Any) -> str:
    plain = str(text)
    return _escaped(plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…")


def _plain(texts: Iterable[Any]) -> list[str]:
    return [_escaped(str(text)) for text in texts]


def _escaped(text: str) -> str:
    """Texts of strangers: a dollar sign begins no formula."""
    return text.replace("$", r"\$")
