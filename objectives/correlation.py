"""Correlations and covariances of quantities, with their p-values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, WithJsonSchema
from scipy import stats

from evosynth.analysis import Analysis, Correlating, Pair
from evosynth.classes import any_level, classify
from evosynth.counting import population
from evosynth.errors import Fault, Path, many, suggest
from evosynth.objective import Figure, Mention, Plan, Smooth
from evosynth.pairs import FORMS, Item, PairFigures
from evosynth.printed import Printed
from evosynth.reading import read_matrix
from evosynth.schema import FloatArray, Schema
from evosynth.significance import Stars, read_p
from evosynth.written import Names, Read, Tabled, per_schema

if TYPE_CHECKING:
    import pandas as pd

Pairs = Annotated[Any, WithJsonSchema({"type": ["object", "array"]})]


class Correlation(Tabled):
    """Pearson and Spearman correlations and covariances of several quantities.

    Each is a mapping ``{B: {A: 0.31}, C: {A: 0.12, B: 0.20}}`` or the lower triangle as lists,
    without the diagonal. P-values are two-sided, of the Pearson correlation, or of the Spearman
    correlation where only that is given.
    """

    kind: Literal["correlation"]
    of: Names = Field(description="the quantities")
    pearson: Pairs | None = Field(None, description="product-moment correlations")
    spearman: Pairs | None = Field(None, description="rank correlations")
    covariances: Pairs | None = Field(None, description="covariances (n - 1), and variances")
    p_values: Pairs | None = Field(None, description="as 0.034, <0.001, ***, or ns")
    stars: Stars = Field((0.05, 0.01, 0.001), description="levels of one, two … stars")
    shows: Literal["pearson", "spearman", "covariances"] = Field(
        "pearson", description="what the numbers of `table` or `file` are"
    )
    missing: Literal["pairwise", "listwise"] = Field(
        "pairwise", description="which records a pair rests on when values are missing"
    )

    def mentions(self) -> Iterator[Mention]:
        """Name the quantities."""
        for name in self.of:
            yield Mention(("of",), name)

    @per_schema
    def _read(self, schema: Schema) -> Read[Item]:
        """Read every published figure, pair by pair."""
        found: list[tuple[str, str, str, str, Path]] = []
        faults: list[Fault] = []
        for form in FORMS:
            tree = getattr(self, form)
            if tree is not None:
                self._unfold(tree, form, found, faults)
        cells, wrong = self.read_table(
            lambda table, where: read_matrix(table, where, self.of, schema)
        )
        for cell in cells:
            if cell.text:
                found.append((cell.one, cell.two, self.shows, cell.text, cell.path))
            if cell.p:
                found.append((cell.one, cell.two, "p_values", cell.p, cell.path))
        items: dict[tuple[str, str, str], Item] = {}
        for one, two, form, text, path in found:
            first, second = sorted((one, two), key=self.of.index)
            if first == second and form == "p_values":
                continue
            try:
                read = read_p(text, self.stars) if form == "p_values" else Printed.parse(text)
            except ValueError as error:
                faults.append(Fault(path, str(error)))
                continue
            if first == second and form != "covariances":
                if read.value != 1:
                    faults.append(Fault(path, f"{first!r} with itself is 1, not {read}"))
                continue
            item = Item(first, second, form, read, path)
            before = items.setdefault((first, second, form), item)
            if before.published != read:
                message = f"{item.label} is {read} here, but {before.published} before"
                faults.append(Fault(path, message))
        ordered = sorted(
            items.values(),
            key=lambda i: (self.of.index(i.one), self.of.index(i.two), FORMS.index(i.form)),
        )
        return ordered, [*faults, *wrong]

    def _unfold(
        self,
        tree: Any,
        form: str,
        found: list[tuple[str, str, str, str, Path]],
        faults: list[Fault],
    ) -> None:
        rows: list[tuple[str | int, str, Any]]
        if isinstance(tree, Mapping):
            rows = [(name, name, row) for name, row in tree.items()]
        elif isinstance(tree, list):
            start = len(self.of) - len(tree)
            rows = (
                [(i, self.of[start + i], row) for i, row in enumerate(tree)]
                if start in (0, 1)
                else []
            )
        else:
            rows = []
        if not rows:
            message = "expected {B: {A: 0.31}, …}, or the lower triangle as lists"
            faults.append(Fault((form,), message))
        for at, name, row in rows:
            if name not in self.of:
                hint = suggest(name, self.of)
                faults.append(Fault((form, at), f"not listed under of{hint}"))
                continue
            if isinstance(row, list):
                row = dict(zip(self.of, row, strict=False))
            if not isinstance(row, Mapping):
                faults.append(Fault((form, at), "expected a mapping by variable, or a list"))
                continue
            for other, text in row.items():
                where = (form, at, other)
                if other not in self.of:
                    faults.append(Fault(where, f"not listed under of{suggest(other, self.of)}"))
                elif not isinstance(text, str):
                    faults.append(Fault(where, "expected a single number here"))
                else:
                    found.append((name, other, form, text, where))

    def _faults(self, schema: Schema) -> Iterator[Fault]:
        for name in self.of:
            if schema[name].values.dtype == object:
                yield Fault(("of",), f"{name!r} holds categories that are not numbers")
                return
        if len(set(self.of)) < max(2, len(self.of)):
            yield Fault(("of",), "list two or more different quantities")
            return
        items, faults = self._read(schema)
        yield from faults
        if faults:
            return
        if not items:
            yield Fault((), f"no figure is given; there are {', '.join(FORMS)}, table and file")
        for item in items:
            if item.form in {"pearson", "spearman"} and abs(item.published.value) > 1:
                yield Fault(item.path, f"{item.published} is not between -1 and 1")
        for form in ("pearson", "spearman"):
            yield from self._definite_faults([i for i in items if i.form == form], form, schema)
        yield from self._p_faults(items, schema)

    def _definite_faults(self, items: list[Item], form: str, schema: Schema) -> Iterator[Fault]:
        """Find a full correlation matrix with a negative eigenvalue, beyond its rounding."""
        names = [n for n in self.of if any(n in (i.one, i.two) for i in items)]
        if len(items) < len(names) * (len(names) - 1) // 2 or len(names) < 3:
            return
        if self.missing == "pairwise" and any(schema[n].missing for n in names):
            return
        matrix = np.eye(len(names))
        for item in items:
            at = names.index(item.one), names.index(item.two)
            matrix[at] = matrix[at[::-1]] = item.published.value
        least = float(np.linalg.eigvalsh(matrix)[0])
        slack = max(i.published.half_width for i in items) * (len(names) - 1)
        if least < -slack - 1e-12:
            message = (
                f"no data have these correlations: the smallest eigenvalue of their matrix is "
                f"{least:.4f}, and rounding explains {-slack:.4f} at most"
            )
            yield Fault(items[0].path[:1], message, clash=True)

    def _p_faults(self, items: list[Item], schema: Schema) -> Iterator[Fault]:
        """Find p-values that do not follow from the correlation and the number of records."""
        if self.where is not None or any(schema[name].missing for name in self.of):
            return
        for one, two in combinations(self.of, 2):
            own = {i.form: i for i in items if (i.one, i.two) == (one, two)}
            r = own.get("pearson") or own.get("spearman")
            if r is None or "p_values" not in own:
                continue
            p = own["p_values"]
            low, high = r.published.interval
            sizes = sorted([abs(low), abs(high)] + ([0.0] if low < 0 < high else []))
            weakest, strongest = sizes[0], sizes[-1]
            ends = [_p_of(weakest, schema.records), _p_of(strongest, schema.records)]
            least, most = p.published.interval
            if ends[0] < least - 1e-12 or ends[1] > most + 1e-12:
                message = (
                    f"{p.label} is {p.published}, but {r.published} among "
                    f"{many(schema.records, 'record')} "
                    f"has p from {ends[1]:.3g} to {ends[0]:.3g}"
                )
                yield Fault(p.path, message, clash=True)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """Pair by pair."""
        return tuple(Figure(item.label, item.published) for item in self._read(schema)[0])

    def lower(self, schema: Schema) -> Plan:
        """One block of figures for each pair."""
        blocks: dict[tuple[str, str], list[Item]] = {}
        for item in self._read(schema)[0]:
            blocks.setdefault((item.one, item.two), []).append(item)
        smooth: list[Smooth] = []
        for (one, two), items in blocks.items():
            names = self.of if self.missing == "listwise" else (one, two)
            groups = {name: any_level(schema[name]) for name in dict.fromkeys(names)}
            classes = classify(schema, groups, self.condition)
            ranked = [i for i in items if i.form == "spearman"]
            plain = [i for i in items if i.form != "spearman"]
            if ranked and not any(i.form == "pearson" for i in plain):
                ranked += [i for i in plain if i.form == "p_values"]
                plain = [i for i in plain if i.form != "p_values"]
            smooth.append(PairFigures(classes, one, two, items, plain, ranked, schema))
        return Plan(smooth=tuple(smooth))

    def analysis(self, schema: Schema) -> Analysis:
        """Correlations pair by pair."""
        items = self._read(schema)[0]
        ranked = {(i.one, i.two) for i in items if i.form == "spearman"}
        direct = {(i.one, i.two) for i in items if i.form == "pearson"}
        pairs = []
        for item in items:
            pair = (item.one, item.two)
            by_rank = pair in ranked and pair not in direct
            form = {
                "covariances": "covariance",
                "p_values": "spearman p" if by_rank else "pearson p",
            }.get(item.form, item.form)
            pairs.append(Pair(item.one, item.two, form))
        return Correlating(tuple(pairs), tuple(self.of) if self.missing == "listwise" else ())

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Select complete records with pandas and correlate them with scipy."""
        found = []
        items = self._read(schema)[0]
        ranked = {(i.one, i.two) for i in items if i.form == "spearman"}
        direct = {(i.one, i.two) for i in items if i.form == "pearson"}
        for item in items:
            names = self.of if self.missing == "listwise" else (item.one, item.two)
            people, weights = population(frame, counts, names, self.condition, schema)
            times = weights.astype(np.int64)
            x = np.repeat(people[item.one].to_numpy(dtype=float), times)
            y = np.repeat(people[item.two].to_numpy(dtype=float), times)
            pair = (item.one, item.two)
            if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
                found.append(np.nan)
            elif item.form == "covariances":
                found.append(float(np.cov(x, y)[0, 1]))
            else:
                by_rank = item.form == "spearman" or (pair in ranked and pair not in direct)
                result = stats.spearmanr(x, y) if by_rank else stats.pearsonr(x, y)
                found.append(float(result.pvalue if item.form == "p_values" else result.statistic))
        return np.array(found)


def _p_of(r: float, n: int) -> float:
    if n < 3 or r >= 1:
        return 0.0 if n >= 3 else 1.0
    return float(2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))
