"""Means, standard deviations, medians and the like, overall or by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, WithJsonSchema

from evosynth import ranks
from evosynth.analysis import Analysis, Describing
from evosynth.analysis import Statistic as ScriptStatistic
from evosynth.classes import all_levels, any_level, classify
from evosynth.counting import Layout, count_bounds, population
from evosynth.errors import Fault, Path, many, shown, suggest
from evosynth.moments import GroupMoments
from evosynth.objective import Figure, Mention, Place, Plan, Smooth
from evosynth.printed import Printed, Published, Within
from evosynth.reading import Statistic, label_columns, read_summary
from evosynth.schema import FloatArray, IntArray, Schema
from evosynth.statistic import MOMENTS, Group, Item, clashes, cuts, together
from evosynth.weighted import STATISTICS as STATISTICS_WEIGHTED
from evosynth.weighted import WeightedMoments, weighted_statistic
from evosynth.written import TOTAL, Counted, Names, Read, per_schema

if TYPE_CHECKING:
    import pandas as pd

Tree = Annotated[Any, WithJsonSchema({"type": ["string", "number", "object", "array"]})]
"""A printed number, or nested ones: by variable, then by the values of the groups."""

_SMALL = 32
"""Records up to which the quantiles of a group follow single records."""
STATISTICS = (
    "n",
    "mean",
    "sd",
    "variance",
    "standard_error",
    "median",
    "iqr",
    "min",
    "max",
    "sum",
    "skewness",
    "kurtosis",
)
WITH_ARGUMENT = {"quantiles": "quantile", "above": "above", "below": "below"}


class Summary(Counted):
    """Statistics of quantities, overall or by group.

    A statistic is one printed number, or nested: by variable if ``of`` lists several, then by the
    values of ``by`` (crossed), or with ``each`` by variable and value. ``total`` is all groups of
    ``by`` together, or with ``each`` all records.
    """

    weightable: ClassVar[bool] = True

    kind: Literal["summary"]
    of: Names = Field(description="the quantity, or several")
    by: Names = Field((), description="variables whose values, crossed, make the groups")
    each: Names = Field(
        (), description="variables whose values make the groups, one variable after the other"
    )
    n: Tree | None = Field(None, description="number of records with a valid value")
    mean: Tree | None = Field(None, description="arithmetic mean")
    sd: Tree | None = Field(None, description="standard deviation (n - 1)")
    variance: Tree | None = Field(None, description="variance (n - 1)")
    standard_error: Tree | None = Field(None, description="standard error of the mean")
    median: Tree | None = Field(None, description="middle value")
    iqr: Tree | None = Field(None, description="interquartile range")
    min: Tree | None = Field(None, description="smallest value")
    max: Tree | None = Field(None, description="largest value")
    sum: Tree | None = Field(None, description="sum of the values")
    skewness: Tree | None = Field(None, description="adjusted, as pandas, SPSS and Excel print it")
    kurtosis: Tree | None = Field(None, description="excess, adjusted, as pandas, SPSS and Excel")
    quantiles: dict[str, Tree] | None = Field(None, description="per cent: value")
    above: dict[str, Tree] | None = Field(None, description="threshold: per cent of records above")
    below: dict[str, Tree] | None = Field(None, description="threshold: per cent of records below")
    shows: Names = Field(
        (), description="statistics in the cells of `table` where its header names groups"
    )

    def mentions(self) -> Iterator[Mention]:
        """Name the quantities and the variables that make the groups."""
        for key in ("of", "by", "each"):
            for name in getattr(self, key):
                yield Mention((key,), name)

    # Reading

    @per_schema
    def _read(self, schema: Schema) -> Read[Item]:
        """Read every published statistic: matters of counts first, then block by block."""
        found: list[Statistic] = []
        faults: list[Fault] = []
        for name in STATISTICS:
            if getattr(self, name) is not None:
                self._unfold(getattr(self, name), name, schema, (name,), found, faults)
        for key, name in WITH_ARGUMENT.items():
            for argument, tree in (getattr(self, key) or {}).items():
                self._unfold(tree, f"{name} {argument}", schema, (key, argument), found, faults)
        cells, wrong = self.read_table(
            lambda table, where: read_summary(
                table, where, self.of, self.by, self.each, self.shows, schema
            ),
            lambda table: label_columns(table, (*self.by, *self.each), schema),
        )
        items: dict[tuple[Any, ...], Item] = {}
        for written in [*found, *cells]:
            try:
                item = self._item(written)
            except ValueError as error:
                faults.append(Fault(written.path, str(error)))
                continue
            what = (item.variable, frozenset(item.group), item.statistic, item.argument)
            before = items.setdefault(what, item)
            if before.published != item.published:
                message = f"{item.label} is {item.published} here, but {before.published} before"
                faults.append(Fault(item.path, message))
        marked = self._marked(list(items.values()), schema)
        blocks = {block: i for i, block in enumerate(dict.fromkeys(map(self._block_of, marked)))}

        def order(item: Item) -> int:
            block = item.follows * len(blocks) + blocks[self._block_of(item)]
            return -1 if item.counted else block

        return sorted(marked, key=order), [*faults, *wrong]

    def _marked(self, items: list[Item], schema: Schema) -> list[Item]:
        """Mark the statistics of small groups."""
        few = schema.records <= ranks.FEW_RECORDS
        small = {}
        for key, members in together(items).items():
            size = self._size(*key, members, schema)
            ranked = sum(item.statistic in {"median", "quantile", "iqr"} for item in members)
            small[key] = few or (size is not None and size <= _SMALL and ranked > 1)
        return [replace(i, small=small[i.variable, i.group]) for i in items]

    def _item(self, written: Statistic) -> Item:
        statistic, _, argument = written.name.partition(" ")
        text = written.text
        number = float(Printed.parse(argument).value) if argument else 0.0
        published: Published
        if statistic == "n":
            published = self.count(text)
        elif statistic in {"above", "below"}:
            published = self.share(text, 100.0)
        else:
            published = Within.parse(text) or Printed.parse(text)
        if statistic == "quantile":
            number /= 100
            if not 0 < number < 1:
                raise ValueError(f"{argument} is not a percentage between 0 and 100")
        if statistic in {"sd", "variance", "standard_error", "iqr"} and published.text[:1] == "-":
            raise ValueError(f"{published} cannot be negative")
        return Item(written.variable, written.group, statistic, number, published, written.path)

    def _unfold(
        self,
        tree: Any,
        what: str,
        schema: Schema,
        path: Path,
        found: list[Statistic],
        faults: list[Fault],
    ) -> None:
        """Walk down a nested statistic."""

        def leaf(node: Any, variable: str, group: Group, where: Path) -> None:
            if isinstance(node, str):
                found.append(Statistic(variable, group, what, node, where))
            elif node is not None:
                faults.append(Fault(where, "expected a single number here"))

        def by_values(
            node: Any, names: tuple[str, ...], variable: str, group: Group, where: Path
        ) -> None:
            if not names:
                leaf(node, variable, group, where)
                return
            grouping = schema[names[0]]
            values = grouping.texts[: grouping.valid]
            if isinstance(node, list):
                if len(node) not in {len(values), len(values) + 1}:
                    message = (
                        f"{many(len(node), 'number')}, but {names[0]!r} has "
                        f"{many(len(values), 'value')}"
                    )
                    faults.append(Fault(where, message))
                    return
                pairs = [
                    (v, n, i) for i, (v, n) in enumerate(zip([*values, TOTAL], node, strict=False))
                ]
            elif isinstance(node, Mapping):
                pairs = [(value, below, value) for value, below in node.items()]
            else:
                faults.append(Fault(where, f"expected one number for each value of {names[0]!r}"))
                return
            for value, below, at in pairs:
                if value == TOTAL:
                    by_values(below, names[1:], variable, group, (*where, at))
                elif value in values:
                    part = (*group, (names[0], value))
                    by_values(below, names[1:], variable, part, (*where, at))
                else:
                    message = (
                        f"{names[0]!r} has no value {shown(str(value))!r}{grouping.hint(value)}"
                    )
                    faults.append(Fault((*where, at), message))

        def of_variable(node: Any, variable: str, where: Path) -> None:
            if not self.each:
                by_values(node, self.by, variable, (), where)
                return
            if not isinstance(node, Mapping):
                faults.append(Fault(where, f"expected a mapping by {', '.join(self.each)}"))
                return
            for name, below in node.items():
                if name == TOTAL:
                    leaf(below, variable, (), (*where, name))
                elif name in self.each:
                    by_values(below, (name,), variable, (), (*where, name))
                else:
                    hint = suggest(str(name), self.each)
                    faults.append(Fault((*where, name), f"not listed under each{hint}"))

        if len(self.of) == 1:
            of_variable(tree, self.of[0], path)
            return
        if isinstance(tree, list) and len(tree) == len(self.of):
            for position, (name, below) in enumerate(zip(self.of, tree, strict=True)):
                of_variable(below, name, (*path, position))
        elif isinstance(tree, Mapping):
            for name, below in tree.items():
                if name in self.of:
                    of_variable(below, name, (*path, name))
                else:
                    hint = suggest(str(name), self.of)
                    faults.append(Fault((*path, name), f"not listed under of{hint}"))
        else:
            faults.append(Fault(path, f"expected a mapping by {', '.join(self.of)}"))

    # Faults

    def _faults(self, schema: Schema) -> Iterator[Fault]:
        wrong = list(self._shape_faults(schema))
        yield from wrong
        if wrong:
            return
        items, faults = self._read(schema)
        yield from faults
        if faults:
            return
        if not items:
            keys = ", ".join((*STATISTICS, *WITH_ARGUMENT, "table"))
            yield Fault((), f"no statistic is given; there are {keys} and file")
        if self.weighted:
            for item in items:
                if item.statistic not in STATISTICS_WEIGHTED:
                    name = item.statistic.replace("_", " ")
                    known = ", ".join(s for s in STATISTICS if s in STATISTICS_WEIGHTED)
                    message = f"there is no weighted {name} here; there are {known}"
                    yield Fault(item.path, message)
            return
        for (variable, group), members in together(items).items():
            size = self._size(variable, group, members, schema)
            yield from clashes(members, variable, size, schema)

    def _shape_faults(self, schema: Schema) -> Iterator[Fault]:
        if self.by and self.each:
            yield Fault(("each",), "give either by (crossed) or each (one after the other)")
        for name in self.of:
            if schema[name].values.dtype == object:
                yield Fault(("of",), f"{name!r} holds categories that are not numbers")
        for key in ("by", "each"):
            for name in getattr(self, key):
                if name in self.of:
                    yield Fault((key,), f"{name!r} stands under of as well")
        if np.prod([schema[name].size for name in self.by], dtype=float) > 100_000:
            yield Fault(("by",), "more than 100,000 groups")

    def _size(
        self, variable: str, group: Group, members: Sequence[Item], schema: Schema
    ) -> int | None:
        """Find the number of records that a group's statistics rest on, if it is known."""
        for item in members:
            if item.statistic == "n" and isinstance(item.published, Printed):
                return int(item.published.value)
        if self.where is None and not group:
            if not any(schema[name].missing for name in (variable, *self.by)):
                return schema.records
        return None

    # Figures

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """Those that are matters of counts first, then the moments."""
        return tuple(Figure(item.label, item.published) for item in self._read(schema)[0])

    def lower(self, schema: Schema) -> Plan:
        """Bound counts below and above values for ranks, sum powers for moments."""
        layout = Layout(schema, self.condition)
        items, _ = self._read(schema)
        places: dict[Item, tuple[Place, ...]] = {}
        for item in items:
            if item.statistic == "n":
                of = self._group_place(layout, item.variable, item.group, schema)
                layout.bound(of, *count_bounds(item.published, schema.records))
                places[item] = (of,)
        for (variable, group), members in together(items).items():
            size = self._size(variable, group, members, schema)
            for item in members:
                if size and item.statistic in {"median", "quantile"}:
                    self._imply(layout, item, size, schema)
                if item.counted and item.statistic != "n":
                    places[item] = self._rank(layout, item, members, size, schema)
        counted = [places[item] for item in items if item.counted]
        return layout.plan(counted, self._smooth(items, schema))

    def _groups(self, group: Group, schema: Schema) -> dict[str, IntArray]:
        """Levels inside and outside of a group, by variable; a total leaves out missing ones."""
        found = {}
        for name, value in group:
            found[name] = np.full(schema[name].size, -1)
            found[name][schema[name].levels[value]] = 0
        return found | self._rest(group, schema)

    def _rest(self, group: Group, schema: Schema) -> dict[str, IntArray]:
        """Levels that count of variables that make groups, but not this one."""
        rest = [schema[name] for name in self.by if name not in dict(group)]
        return {variable.name: any_level(variable) for variable in rest if variable.missing}

    def _group_place(self, layout: Layout, variable: str, group: Group, schema: Schema) -> Place:
        """Where the size of a group is counted."""
        groups = {name: all_levels(schema[name]) for name, _ in group}
        groups |= self._rest(group, schema)
        groups[variable] = any_level(schema[variable])
        cell = [schema[name].levels[value] for name, value in group]
        return layout.place(groups, [*cell, *[0] * (len(groups) - len(cell))])

    def _rank(
        self, layout: Layout, item: Item, members: Sequence[Item], size: int | None, schema: Schema
    ) -> tuple[Place, ...]:
        """Bound the counts that decide a quantile, an extreme or a share beyond a threshold."""
        variable = schema[item.variable]
        of = self._group_place(layout, item.variable, item.group, schema)
        if item.statistic in {"above", "below"}:
            inside = (
                variable.quantities > item.argument
                if item.statistic == "above"
                else variable.quantities < item.argument
            )
            groups = np.where(inside, 0, 1)
            groups[variable.valid :] = -1
            dims = {**self._groups(item.group, schema), item.variable: groups}
            place = layout.place(dims, [0] * len(dims))
            layout.share(of, [(place, item.published)], 100.0, complete=False)
            return (place,)
        found: list[Place] = []
        for cut in cuts(item, members, size, schema):
            dims = {**self._groups(item.group, schema), item.variable: cut.groups}
            parts = [part for part in range(3) if (cut.groups == part).any()]
            cells = [layout.place(dims, [*[0] * (len(dims) - 1), part]) for part in parts]
            layout.ranks(of, cells, parts, cut)
            found += cells
        return tuple(found)

    def _imply(self, layout: Layout, item: Item, size: int, schema: Schema) -> None:
        """Note the counts that a quantile asks for whatever way to it is chosen."""
        q = 0.5 if item.statistic == "median" else item.argument
        levels, ends = ranks.implied(schema[item.variable], q, item.published, size)
        layout.imply({**self._groups(item.group, schema), item.variable: levels}, ends)

    def _smooth(self, items: list[Item], schema: Schema) -> list[Smooth]:
        """One block of moments for each quantity and set of variables that make its groups."""
        blocks: dict[tuple[str, tuple[str, ...]], list[Item]] = {}
        for item in items:
            if not item.counted and not item.follows:
                blocks.setdefault(self._block_of(item), []).append(item)
        moments = [
            self._block(variable, names, members, items, schema)
            for (variable, names), members in blocks.items()
        ]
        return [*moments, *(self._quantile(item, schema) for item in items if item.follows)]

    def _quantile(self, item: Item, schema: Schema) -> Smooth:
        """Lower a quantile of a small group."""
        variable = schema[item.variable]
        groups = {**self._groups(item.group, schema), item.variable: any_level(variable)}
        classes = classify(schema, groups, self.condition)
        parts = [(item.argument, 1.0)]
        if item.statistic == "iqr":
            parts = [(0.75, 1.0), (0.25, -1.0)]
        elif item.statistic == "median":
            parts = [(0.5, 1.0)]
        column = schema.index[item.variable]
        return ranks.GroupQuantile(classes, column, variable, parts, item.published)

    def _block_of(self, item: Item) -> tuple[str, tuple[str, ...]]:
        """Quantity and variables that make the groups."""
        return item.variable, self.by or tuple(name for name, _ in item.group)

    def _block(
        self,
        variable: str,
        names: tuple[str, ...],
        members: list[Item],
        items: list[Item],
        schema: Schema,
    ) -> GroupMoments:
        groups = {name: all_levels(schema[name]) for name in names}
        groups[variable] = any_level(schema[variable])
        classes = classify(schema, groups, self.condition)
        shape = classes.counted
        every = np.arange(int(np.prod(shape))).reshape(shape)

        def cells_of(item: Item) -> IntArray:
            values = dict(item.group)
            at = tuple(schema[n].levels[values[n]] if n in values else slice(None) for n in names)
            return every[at].ravel()

        belong = [cells_of(item).tolist() for item in members]
        figures = [Figure(item.label, item.published) for item in members]
        statistics = [MOMENTS[item.statistic] for item in members]
        kind = WeightedMoments if self.weighted else GroupMoments
        block = kind(classes, variable, statistics, belong, schema, figures)
        mean, sd = np.full((2, block.n_groups), np.nan)
        for item in items:
            if item.variable == variable and set(dict(item.group)) <= set(names):
                _note(item, cells_of(item), mean, sd, specific=len(item.group) == len(names))
        share = float(schema[variable].proportions[schema[variable].valid :].sum())
        given = tuple(schema.index[name] for name in names)
        block.describe(schema.index[variable], given, mean, sd, share)
        return block

    def analysis(self, schema: Schema) -> Analysis:
        """Statistics of quantities by group."""
        items = self._read(schema)[0]
        found = [ScriptStatistic(i.variable, i.group, i.statistic, i.argument) for i in items]
        return Describing(tuple(self.by), tuple(found), schema.weight if self.weighted else None)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Select each group with pandas and ask its series for the statistic."""
        import pandas as pd

        if self.weighted:
            return self._recompute_weighted(frame, counts, schema)
        found = []
        series: dict[tuple[str, Group], pd.Series[Any]] = {}
        for item in self._read(schema)[0]:
            key = (item.variable, item.group)
            if key not in series:
                names = [item.variable, *self.by, *(name for name, _ in item.group)]
                people, weights = population(frame, counts, names, self.condition, schema)
                kept = np.ones(len(people), dtype=bool)
                for name, value in item.group:
                    code = schema[name].values[schema[name].levels[value]]
                    kept &= (people[name] == code).to_numpy(dtype=bool)
                values = people.loc[kept, item.variable].to_numpy(dtype=float)
                series[key] = pd.Series(np.repeat(values, weights[kept].astype(np.int64)))
            found.append(_compute(series[key], item))
        return np.array(found)

    def _recompute_weighted(
        self, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> FloatArray:
        found = []
        everyone = float(counts.sum())
        for item in self._read(schema)[0]:
            names = [item.variable, *self.by, *(name for name, _ in item.group)]
            people, own = population(frame, counts, names, self.condition, schema)
            kept = np.ones(len(people), dtype=bool)
            for name, value in item.group:
                code = schema[name].values[schema[name].levels[value]]
                kept &= (people[name] == code).to_numpy(dtype=bool)
            values = people.loc[kept, item.variable].to_numpy(dtype=float)
            weights = people.loc[kept, str(schema.weight)].to_numpy(dtype=float)
            found.append(weighted_statistic(item.statistic, values, weights, own[kept], everyone))
        return np.array(found)


def _note(item: Item, cells: IntArray, mean: FloatArray, sd: FloatArray, specific: bool) -> None:
    """Note what a statistic says of where the values of its groups lie."""
    value = item.published.value
    if item.statistic == "mean":
        mean[cells] = value if specific else np.where(np.isnan(mean[cells]), value, mean[cells])
    elif item.statistic == "median":
        mean[cells] = np.where(np.isnan(mean[cells]), value, mean[cells])
    elif item.statistic in {"sd", "variance"}:
        spread = value if item.statistic == "sd" else value**0.5
        sd[cells] = spread if specific else np.where(np.isnan(sd[cells]), spread, sd[cells])
    elif item.statistic == "iqr":
        sd[cells] = np.where(np.isnan(sd[cells]), value / 1.35, sd[cells])


def _compute(series: pd.Series[Any], item: Item) -> float:
    """Ask pandas."""
    if item.statistic == "n":
        return float(len(series))
    if not len(series):
        return float("nan")
    if item.statistic == "quantile":
        return float(series.quantile(item.argument))
    if item.statistic == "iqr":
        return float(series.quantile(0.75) - series.quantile(0.25))
    if item.statistic == "above":
        return float(100 * (series > item.argument).mean())
    if item.statistic == "below":
        return float(100 * (series < item.argument).mean())
    method = {
        "sd": "std",
        "variance": "var",
        "standard_error": "sem",
        "skewness": "skew",
        "kurtosis": "kurt",
    }.get(item.statistic, item.statistic)
    return float(getattr(series, method)())
