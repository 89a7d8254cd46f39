"""The risk section of a spec: keys and targets, measured where the original is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from evosynth.errors import Fault, Path, RiskError, shown, suggest
from evosynth.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.risk.assessment import Assessment
    from evosynth.spec import Spec


_MOST_VALUES = 1000


def _names(value: Any) -> Any:
    """Take a single name for a list of one."""
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_names), WithJsonSchema({"type": ["array", "string"]})]
Groups = Annotated[int, Field(ge=2)] | Annotated[list[float], Field(min_length=1)]


class RiskSpec(BaseModel):
    """What an intruder may know, and wants to know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Names = Field(min_length=1, description="variables that an intruder knows")
    targets: Names = Field(description="variables that the intruder wants to know, or all")
    bins: dict[str, Groups] = Field({}, description="number: groups of equal size, or cut points")
    categorical: Names = Field([], description="numbers to take as they are")
    exclude: Names = Field([], description="what is no disclosure, such as TARGET=level")
    largest: Annotated[int, Field(ge=0)] = Field(
        0, description="largest cell of keys and target that counts; 0 for no limit"
    )
    tau: Annotated[float, Field(gt=0.5, le=1)] = Field(
        1.0, description="share from which a value is believed"
    )
    p: Annotated[float, Field(ge=0)] | None = Field(
        None, description="count replicated uniques within p per cent"
    )
    threshold: Annotated[int, Field(ge=0)] = Field(
        0, description="withhold counts from 1 to below this"
    )


def faults(given: RiskSpec, schema: Schema) -> Iterator[Fault]:
    """Whatever does not fit the variables."""
    known = {variable.name: variable for variable in schema.shown}
    every = given.targets == ["all"]
    for part in ("keys", "targets", "categorical", "bins"):
        if part == "targets" and every:
            continue
        for place, name in enumerate(getattr(given, part)):
            path: Path = ("risk", part, name if part == "bins" else place)
            if name not in known:
                yield Fault(path, f"unknown variable {shown(name)!r}{suggest(name, known)}")
            elif known[name].identifier is not None:
                yield Fault(path, f"{name!r} tells records apart; it is neither key nor target")
    if not given.targets:
        yield Fault(("risk", "targets"), "name at least one variable, or all")
    both = [name for name in given.targets if name in given.keys]
    for name in both:
        yield Fault(("risk", "targets"), f"{shown(name)!r} is a key and a target; choose one")


def ungrouped(given: RiskSpec, schema: Schema) -> Iterator[Fault]:
    """Numbers that are neither grouped nor declared; only a measurement needs that."""
    known = {variable.name: variable for variable in schema.shown}
    targets = list(known) if given.targets == ["all"] else given.targets
    for place, name in enumerate(dict.fromkeys([*given.keys, *targets])):
        variable = known.get(name)
        if variable is None or variable.categorical or variable.identifier is not None:
            continue
        if name not in given.bins and name not in given.categorical:
            path: Path = ("risk", "keys", place) if place < len(given.keys) else ("risk", "targets")
            remedy = f"add bins: {{{name}: 10}}, or categorical: [{name}] to take each as it is"
            yield Fault(path, f"{name!r} is a number; {remedy}")


@dataclass(frozen=True)
class People:
    """Who the synthetic data may disclose something of."""

    given: RiskSpec
    schema: Schema
    original: pd.DataFrame
    holdout: pd.DataFrame | None

    def assess(self, data: pd.DataFrame) -> Assessment:
        """Measure synthetic data as the spec says."""
        from evosynth.risk.assessment import assess

        given = self.given
        targets = given.targets
        if targets == ["all"]:
            targets = [
                v.name
                for v in self.schema.shown
                if v.name not in given.keys and v.identifier is None
            ]
        # The original need not have what is neither key nor target.
        used = {*given.keys, *targets}
        codes = [v.name for v in self.schema.shown if v.categorical or v.name in given.categorical]
        return assess(
            data,
            self.original,
            keys=given.keys,
            targets=targets,
            holdout=self.holdout,
            bins=given.bins,
            categorical=[name for name in codes if name in used],
            exclude=given.exclude,
            largest=given.largest,
            tau=given.tau,
            p=given.p,
            threshold=given.threshold,
        )


def people(
    spec: Spec, original: str | None, holdout: str | None, copies: int | None
) -> People | None:
    """Read the original data of a run, so that faults are told before the search."""
    from evosynth.risk.reading import frame_of

    if original is None:
        if holdout is not None:
            raise RiskError("--holdout is of use only with --original; name the original data, too")
        return None
    if spec.risk is None:
        remedy = "add `risk: {keys: […], targets: […]}`"
        raise RiskError(f"{spec.document.file}: --original needs keys and targets; {remedy}")
    if copies is not None:
        raise RiskError("--original is for one dataset; use `evosynth risk` on each of the copies")
    if numbers := list(ungrouped(spec.risk, spec.schema)):
        raise spec.document.error(numbers)
    frame = frame_of(original)
    outside = None if holdout is None else frame_of(holdout)
    found = People(spec.risk, spec.schema, frame, outside)
    found.assess(frame)  # the original in place of the synthetic data, only to find faults
    found.assess(_values(spec.schema))  # and values alone, to find levels that are coded otherwise
    return found


def _values(schema: Schema) -> pd.DataFrame:
    """Return records that have every value of every variable, of large ones the first."""
    import numpy as np
    import pandas as pd

    own = [variable for variable in schema.shown if variable.identifier is None]
    places = np.arange(min(_MOST_VALUES, max(variable.size for variable in own)))
    return pd.DataFrame(
        {variable.name: variable.decode(places % variable.size) for variable in own}
    )
