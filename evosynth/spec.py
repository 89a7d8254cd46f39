"""The spec file: what a trainer writes, validated into frozen objects, or its faults."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from evosynth import (
    condition,
    contradictions,
    formats,
    keys,
    kinds,
    linear_clashes,
    messy,
    rule_clashes,
)
from evosynth.classes import separate
from evosynth.condition import Condition
from evosynth.document import Document, read
from evosynth.errors import Fault, FormatError, Path, shown, suggest
from evosynth.formats import Format
from evosynth.households import (
    Households,
    HouseholdsSpec,
    first_uncounted,
    implied_rules,
    persons,
)
from evosynth.households import clashes as household_clashes
from evosynth.households import faults as household_faults
from evosynth.messy import Teaching
from evosynth.objective import Figure, Mention, Output, Plan, Text
from evosynth.risk import spec as risk_spec
from evosynth.risk.spec import RiskSpec
from evosynth.rules import MAX_RULES, Bound, RuleItem, RuleSpec, bind, names_of
from evosynth.schema import Schema, Variable
from evosynth.shapes import ShapeSpec, together
from evosynth.sources import on_sources
from evosynth.titles import titles
from evosynth.variables import IdentifierSpec, MissingSpec, NumberSpec, VariableSpec, build
from evosynth.weights import clashes as weighted_clashes
from evosynth.weights import drawn
from evosynth.weights import spec as weights_spec
from evosynth.weights.spec import Weighting, WeightsSpec

MAX_RECORDS = 100_000_000
MAX_VARIABLES = 500
MAX_CELLS = 5_000_000
"""Cells of all tables together."""

Start = Literal["calibrated", "univariate", "uniform"]
Strategy = Literal["exact", "classic"]


def _ungrouped(value: Any) -> Any:
    """Read 4,027 as 4027."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}(,\d{3})+", value, re.ASCII):
        return value.replace(",", "")
    return value


def _formats(value: Any) -> Any:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"expected a list of formats: {', '.join(formats.NAMES)}")
    return [formats.named(name) for name in value]


Formats = Annotated[tuple[Format, ...], BeforeValidator(_formats)]


class SpecFile(BaseModel):
    """A spec: variables, and the published outputs that the data must reprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Text = Field("", description="what the dataset is about")
    source: Text = Field("", description="where the figures were published")
    records: Annotated[int, BeforeValidator(_ungrouped), Field(ge=1, le=MAX_RECORDS)] = Field(
        description="number of records"
    )
    variables: dict[str, VariableSpec] = Field(min_length=1, max_length=MAX_VARIABLES)
    outputs: list[dict[str, Any]] = Field(min_length=1)
    rules: list[RuleItem] = Field(
        [], max_length=MAX_RULES, description="conditions that every record keeps"
    )
    households: HouseholdsSpec | None = Field(None, description="what persons live in")
    weights: WeightsSpec | None = Field(None, description="a weight for every record")
    risk: RiskSpec | None = Field(None, description="disclosure risk to measure on the result")
    start: Start = Field("calibrated", description="how the first candidates are drawn")
    strategy: Strategy = Field("exact", description="exact, or the founding paper's algorithm")
    formats: Formats = Field((), description="files to write besides CSV and Parquet")
    teaching: Teaching | None = Field(None, description="problems to plant in a second file")


@dataclass(frozen=True)
class Spec:
    """A spec that holds together: no fault was found in it."""

    document: Document
    title: str
    source: str
    start: Start
    strategy: Strategy
    schema: Schema
    outputs: tuple[Output, ...]
    plans: tuple[Plan, ...]
    """Each output in the terms of the search."""
    bound: Bound
    """Rules and derived variables."""
    households: Households | None
    """What the persons that the records are live in, if anything."""
    clashes: tuple[str, ...] = ()
    """Contradictions between figures that were borne."""
    formats: tuple[Format, ...] = ()
    """Files to write besides CSV and Parquet."""
    teaching: Teaching | None = None
    """Problems to plant in a second file."""
    weighting: Weighting | None = None
    """Weights of the records, if they have any."""
    risk: RiskSpec | None = None
    """Disclosure risk to measure where the original is given."""

    @property
    def filed(self) -> Schema:
        """The variables of data files: a weight that is added afterwards is one of them."""
        if self.weighting is None or self.weighting.weighted:
            return self.schema
        return self.with_weight(self.weighting.placeholder)

    def with_weight(self, weight: Variable) -> Schema:
        """Return the variables with a weight after them."""
        return replace(self.schema, variables=(*self.schema.variables, weight))

    @cached_property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """The published numbers of each output."""
        return tuple(output.figures(self.schema_of(output)) for output in self.outputs)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What each output is called."""
        return titles(self.outputs, [self.schema_of(output) for output in self.outputs])

    def schema_of(self, output: Output) -> Schema:
        """Return the variables of what an output counts."""
        if output.unit == "household" and self.households is not None:
            return self.households.schema
        return self.schema


def load(path: str | os.PathLike[str], *, anyway: bool = False) -> Spec:
    """Read and check a spec file; raise `SpecError` with every fault that it has.

    Clashes are looked for among the outputs that are sound in themselves.

    ``anyway``: bear figures that contradict each other, and list them as `Spec.clashes`.
    """
    document = read(path)
    try:
        file, faults = _validate(document.tree)
    except ValidationError as error:
        raise document.error(list(_translate(error, SpecFile, ()))) from None
    variables = [build(name, v, faults, file.records) for name, v in file.variables.items()]
    schema = Schema(file.records, tuple(v for v in variables if v is not None))
    if file.teaching is not None:
        faults += messy.faults(file.teaching, schema)
    faults += _format_faults(file.formats, schema)
    if file.risk is not None:
        faults += risk_spec.faults(file.risk, schema)
    broken = set(file.variables) - set(schema.index)
    bound, households, weighting = Bound(schema), None, None
    raws = list(file.outputs)
    places: dict[int, Path] = {}
    if not broken:
        schema, weighting = _weighted(file, raws, places, schema, document, faults)
    if not broken:
        bound, households = _bound(file, schema, faults)
        schema = bound.schema
    outputs: list[Output | None] = []
    plans: list[Plan] = []
    cells = 0
    for position, raw in enumerate(raws):
        where: Path = places.get(position, ("outputs", position))
        output = _output(raw, where, faults, FilePath(document.file).parent)
        own = schema
        if output is not None and output.unit == "household":
            if households is None:
                message = "there are no households; add `households: {count: …, size: …}`"
                faults.append(Fault((*where, "unit"), message))
                output = None
            else:
                own = households.schema
        found = [] if output is None else list(_output_faults(output, where, own, broken))
        faults += found
        outputs.append(output)
        plans.append(Plan())
        if output is not None and _known(output, own) and all(fault.clash for fault in found):
            plans[-1] = on_sources(output.lower(own), own)
            cells += sum(table.grid.size for table in plans[-1].tables)
        if cells > MAX_CELLS:
            message = f"the tables have more than {MAX_CELLS:,} cells in all"
            raise document.error([*faults, Fault(where, message)])
    known = {fault.path[:2] for fault in faults}
    for unit, own in _units(schema, households):
        # What is weighted says nothing of how many records there are.
        mine = [o if o and o.unit == unit and not o.weighted else None for o in outputs]
        theirs = [p if o is not None else Plan() for o, p in zip(mine, plans, strict=True)]
        faults += contradictions.find(mine, theirs, own, known)
        if weighting is not None and not weighting.weighted and unit == "person":
            faults += weights_spec.empty(weighting, theirs, own)
        tied = bound.within(own)
        faults += [*rule_clashes.find(tied, theirs), *linear_clashes.find(tied, theirs)]
    if schema.weight is not None and not known:
        own_places = [places.get(k, ("outputs", k)) for k in range(len(plans))]
        faults += weighted_clashes.find(plans, own_places, schema)
    if households is not None and not known:
        about = [p for o, p in zip(outputs, plans, strict=True) if o and o.unit == "household"]
        faults += household_clashes(households, about, schema.records)
    if document.faults or any(not (anyway and fault.clash) for fault in faults):
        raise document.error(faults)
    return Spec(
        document,
        file.title,
        file.source,
        file.start,
        file.strategy,
        schema,
        tuple(output for output in outputs if output is not None),
        tuple(plans),
        bound,
        households,
        tuple(document.error(faults).lines()) if faults else (),
        file.formats,
        file.teaching,
        weighting,
        file.risk,
    )


def _weighted(
    file: SpecFile,
    raws: list[dict[str, Any]],
    places: dict[int, Path],
    schema: Schema,
    document: Document,
    faults: list[Fault],
) -> tuple[Schema, Weighting | None]:
    """Read the weights; where outputs are weighted, they are a variable and totals are outputs."""
    given = file.weights
    every = given is not None and given.weighted
    for position, raw in enumerate(raws):
        if every and "weighted" not in raw:
            raws[position] = {**raw, "weighted": "true"}
    asked = [i for i, raw in enumerate(raws) if str(raw.get("weighted")).casefold() == "true"]
    if given is None:
        message = "there are no weights; add `weights: {range: [0.50, 2.00]}`, or totals"
        faults += [Fault(("outputs", i, "weighted"), message) for i in asked]
        return schema, None
    before = len(faults)
    folder = FilePath(document.file).parent
    weighting = weights_spec.build(given, bool(asked or every), schema, folder, faults)
    if weighting is None or not weighting.weighted:
        return schema, weighting
    if file.households is not None:
        message = "outputs of persons in households cannot be weighted; leave one of both out"
        faults.append(Fault(("weights",), message))
    weight = drawn.weight_variable(given, weighting.margins, file.records, faults)
    if weight is None or len(faults) > before:
        return schema, None
    for raw, place in drawn.total_outputs(weighting.margins, weight, schema, faults):
        places[len(raws)] = place
        raws.append(raw)
    variables = (*schema.variables, weight)
    return replace(schema, variables=variables, weight=weight.name), weighting


def _units(schema: Schema, households: Households | None) -> list[tuple[str, Schema]]:
    """List what records may be counted as, each with its variables."""
    if households is None:
        return [("person", schema)]
    return [("person", schema), ("household", households.schema)]


def _bound(file: SpecFile, schema: Schema, faults: list[Fault]) -> tuple[Bound, Households | None]:
    """Read what ties values to each other, within a record and within a household."""
    given = file.households
    own = frozenset(name for name, v in file.variables.items() if v.unit == "household")
    before = len(faults)
    if given is None:
        for name in own:
            message = "there are no households; add `households: {count: …, size: …}`"
            faults.append(Fault(("variables", name, "unit"), message))
    else:
        faults += household_faults(given, file.variables)
    if given is None or len(faults) > before:
        schema = replace(schema, associations=_assumed(file.variables, schema, faults))
        bound = bind(schema, file.variables, file.rules, faults)
        faults += _circular(file.variables, bound.schema)
        return bound, None
    theirs = implied_rules(given, file.variables)[1]
    everyone = persons(given, schema)
    everyone = replace(everyone, associations=_assumed(file.variables, everyone, faults))
    fixed = own | {given.person}
    bound = bind(everyone, file.variables, [*file.rules, *theirs], faults, fixed)
    faults += _circular(file.variables, bound.schema)
    ours = implied_rules(given, file.variables, first_uncounted(given, bound, file.variables))[0]
    small = Schema(given.count, tuple(v for v in schema.variables if v.name in own))
    among = [
        (small.index[names[0]], small.index[names[1]], r)
        for one, two, r in everyone.associations
        if own.issuperset(names := [everyone.variables[column].name for column in (one, two)])
    ]
    small = replace(small, associations=tuple(among))
    mine = {name: v for name, v in file.variables.items() if name in own}
    alike = [rule for rule in file.rules if set(names_of(rule)) <= own]
    households = bind(small, mine, [*alike, *ours], [])
    found = Households(households.schema, given.size, given.identifier, given.person)
    return bound, found


def _assumed(
    variables: dict[str, VariableSpec], schema: Schema, faults: list[Fault]
) -> tuple[tuple[int, int, float], ...]:
    """Correlations that a spec assumes of its variables."""
    found: list[tuple[int, int, float]] = []
    for name, variable in variables.items():
        for other, printed in (variable.rises_with or {}).items():
            path: Path = ("variables", name, "rises_with", other)
            if other == name:
                faults.append(Fault(path, "a variable does not rise with itself; leave this out"))
            elif other not in schema.index:
                hint = suggest(other, schema.index)
                faults.append(Fault(path, f"unknown variable {other!r}{hint}"))
            elif schema[other].identifier is not None:
                message = f"{other!r} tells records apart; nothing rises with it"
                faults.append(Fault(path, message))
            elif not -1 < printed.value < 1:
                faults.append(Fault(path, f"{printed} is no correlation between -1 and 1"))
            else:
                found.append((schema.index[name], schema.index[other], printed.value))
                if not together(found):
                    message = f"{printed} cannot go with the correlations assumed before it"
                    faults.append(Fault(path, message))
    return tuple(found)


def _circular(variables: dict[str, VariableSpec], schema: Schema) -> Iterator[Fault]:
    """Correlations that are decided by what a variable is worked out from."""
    if schema.bonds is None:
        return
    for name, variable in variables.items():
        for other in variable.rises_with or {}:
            columns = [schema.index[n] for n in (name, other) if n in schema.index]
            follows = [column in schema.derived for column in columns]
            if len(columns) < 2 or not any(follows):
                continue
            path: Path = ("variables", name, "rises_with", other)
            if all(follows):
                message = f"{name!r} and {other!r} both follow from others"
                yield Fault(path, f"{message}; say it of what they follow from, or leave it out")
            elif (column := columns[1 - follows.index(True)]) in schema.bonds.sources(
                columns[follows.index(True)]
            ):
                one, two = schema.variables[column].name, (name, other)[follows.index(True)]
                yield Fault(path, f"{two!r} follows from {one!r} itself; leave this out")


def _format_faults(asked: tuple[Format, ...], schema: Schema) -> Iterator[Fault]:
    """Whatever the files that are asked for cannot hold."""
    for name in asked:
        try:
            formats.fit(name, schema)
        except FormatError as error:
            yield replace(error.fault, path=error.fault.path or ("formats",))


def _known(output: Output, schema: Schema) -> bool:
    """Whether every variable that an output names, and its weight, is sound."""
    where = output.condition.variables if output.condition is not None else ()
    names = [*(mention.variable for mention in output.mentions()), *where]
    weighed = not output.weighted or schema.weight is not None
    return weighed and all(name in schema.index for name in names)


def _output_faults(output: Output, path: Path, schema: Schema, broken: set[str]) -> Iterator[Fault]:
    """Variables and values that no one knows, or else whatever the output itself finds."""
    known = True
    where = output.condition.variables if output.condition is not None else ()
    for mention in [*output.mentions(), *(Mention(("where",), name) for name in where)]:
        place, name, value = (*path, *mention.path), mention.variable, mention.value
        if name not in schema.index:
            known = False
            if name not in broken and value is None:
                yield Fault(place, f"unknown variable {name!r}{suggest(name, schema.index)}")
        elif schema[name].identifier is not None:
            known = False
            yield Fault(place, f"{name!r} tells records apart; no figure can be of it")
        elif value is not None and value not in schema[name].levels:
            known = False
            hint = schema[name].hint(value)
            yield Fault(place, f"{name!r} has no value {shown(value)!r}{hint}")
    if known and output.condition is not None:
        wrong = list(_where_faults(output.condition, schema))
        known = not wrong
        for message in wrong:
            yield Fault((*path, "where"), message)
    if known:
        for fault in output.faults(schema):
            yield replace(fault, path=(*path, *fault.path))


def _where_faults(where: Condition, schema: Schema) -> Iterator[str]:
    wrong = list(condition.faults(where, schema))
    yield from wrong
    if not wrong:
        try:
            separate(where, schema)
        except ValueError as error:
            yield str(error)


def _output(
    raw: dict[str, Any], path: Path, faults: list[Fault], folder: FilePath
) -> Output | None:
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in kinds.names():
        known = kinds.names()
        message = f"unknown kind {kind!r}{keys.hint(str(kind), known)}"
        if not kind:
            message = f"no kind is given{keys.hint('', known)}"
            meant = [key for key in raw if keys.meant(str(key), Output.model_fields) == "kind"]
            if meant:
                faults.append(Fault((*path, meant[0]), "unknown key (did you mean 'kind'?)"))
                return None
        faults.append(Fault((*path, "kind"), message))
        return None
    model = kinds.find(kind)
    try:
        output = model.model_validate(raw, context={"folder": folder})
        if output.weighted and not output.weightable:
            able = [name for name in kinds.names() if kinds.find(name).weightable]
            message = f"{kind} has no weighted form here ({', '.join(able)} have)"
            remedy = "write weighted: false if it is unweighted, else leave it out"
            faults.append(Fault((*path, "weighted"), f"{message}; {remedy}"))
        return output
    except ValidationError as error:
        faults += _translate(error, model, path)
        return None


def _translate(error: ValidationError, model: type[BaseModel], path: Path) -> Iterator[Fault]:
    """Say what pydantic found in the words of a spec."""
    seen = set()
    found = error.errors(include_url=False)
    strange = [item["loc"] for item in found if item["type"] == "extra_forbidden"]
    meant = {(*loc[:-1], keys.meant(str(loc[-1]), _keys(model, loc))) for loc in strange}
    for item in found:
        where: Path = tuple(part for part in item["loc"] if part != "[key]")
        names = _keys(model, where)
        if item["type"] == "extra_forbidden":
            message = f"unknown key{keys.hint(str(where[-1]), names)}"
        elif item["type"] == "missing":
            if item["loc"] in meant:
                continue  # told where it stands
            message = "missing; it must be given"
        elif item["type"] == "value_error":
            message = str(item["ctx"]["error"])
        elif item["type"] in {"model_type", "dict_type"}:
            message = "expected a mapping of keys and values"
            if not where and model is SpecFile:
                message = "expected `records:`, `variables:` and `outputs:`, each on its own line"
        elif item["input"] is None:
            message = "nothing is given here"
        elif item["type"] in _PLAIN:
            given = item["input"]
            message = _PLAIN[item["type"]]
            message += f", not {shown(given)!r}" if isinstance(given, str) else ""
        else:
            text = item["msg"][:1].lower() + item["msg"][1:]
            given = item["input"]
            message = f"{text}, not {shown(given)!r}" if isinstance(given, str) else text
        if (where, message) not in seen:
            seen.add((where, message))
            yield Fault((*path, *where), message)


_PLAIN = {
    "int_parsing": "expected a whole number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_parsing": "expected a number",
    "float_type": "expected a number",
    "string_type": "expected a single text or number",
    "list_type": "expected a list; begin each item with a dash",
    "too_short": "nothing is listed",
}


def _validate(tree: Any) -> tuple[SpecFile, list[Fault]]:
    """Validate a spec; unknown keys are reported but do not hide what else is wrong."""
    faults: list[Fault] = []
    try:
        return SpecFile.model_validate(tree), faults
    except ValidationError as error:
        extra = [item["loc"] for item in error.errors() if item["type"] == "extra_forbidden"]
        if len(extra) < error.error_count():
            raise
        faults += _translate(error, SpecFile, ())
    pruned = copy.deepcopy(tree)
    for *above, key in extra:
        node = pruned
        for part in above:
            node = node[part]
        del node[key]
    return SpecFile.model_validate(pruned), faults


_WITHIN: dict[str, type[BaseModel]] = {
    "shape": ShapeSpec,
    "number": NumberSpec,
    "identifier": IdentifierSpec,
    "missing": MissingSpec,
    "rules": RuleSpec,
    "households": HouseholdsSpec,
    "weights": WeightsSpec,
    "risk": RiskSpec,
    "teaching": Teaching,
}
"""What may stand within a key, where that has keys of its own."""


def _keys(model: type[BaseModel], where: Path) -> list[str]:
    """Keys that may stand where ``where`` ends."""
    if where[:1] == ("variables",) and len(where) > 2:
        inner = _WITHIN.get(str(where[2])) if len(where) > 3 else None
        return list((inner or VariableSpec).model_fields)
    if model is SpecFile and len(where) > 1:
        inner = _WITHIN.get(str(where[0]))
        return list(inner.model_fields) if inner else []
    return list(model.model_fields)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of spec files, for editors."""
    schema = SpecFile.model_json_schema()
    options = []
    for kind in kinds.names():
        part = kinds.find(kind).model_json_schema()
        schema.setdefault("$defs", {}).update(part.pop("$defs", {}))
        options.append(part)
    schema["properties"]["outputs"]["items"] = {"oneOf": options}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
