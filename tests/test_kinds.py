from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import evosynth.objectives
from evosynth import cli, kinds
from evosynth.objective import Output
from evosynth.spec import json_schema, load

OWN = sorted(
    path.stem
    for path in Path(next(iter(evosynth.objectives.__path__))).glob("*.py")
    if path.stem != "__init__"
)

EVERYONE = '''
from typing import Literal

import numpy as np

from evosynth.errors import Fault
from evosynth.objective import Figure, Output, Plan
from evosynth.printed import Printed


class HeadCount(Output):
    """The number of records, and nothing else."""

    kind: Literal["everyone"]
    total: Printed

    def mentions(self):
        return iter(())

    def faults(self, schema):
        if self.total.value != schema.records:
            yield Fault(("total",), f"{self.total} is not {schema.records}")

    def figures(self, schema):
        return (Figure("everyone", self.total),)

    def lower(self, schema):
        return Plan()

    def recompute(self, frame, counts, schema):
        return np.array([counts.sum()])
'''

TITHE = '''

class Tithe(HeadCount):
    """A tenth of the records, of which the search knows nothing."""

    kind: Literal["tithe"]

    def recompute(self, frame, counts, schema):
        return counts.sum(keepdims=True) / 10
'''

SPEC = """\
records: 10
variables:
  SEX: {categories: {1: Male, 2: Female}}
outputs:
  - kind: everyone
    total: 10
"""

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package that declares entry points on the path, as ``pip install`` would."""

    def put(entry_points: str) -> None:
        (tmp_path / "somebodys_kinds.py").write_text(EVERYONE + TITHE)
        metadata = tmp_path / "somebodys_kinds-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: somebodys-kinds\nVersion: 1.0\n"
        )
        (metadata / "entry_points.txt").write_text(f"[evosynth.objectives]\n{entry_points}\n")
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    def forget() -> None:
        kinds.names.cache_clear()
        kinds.find.cache_clear()

    yield put
    monkeypatch.undo()
    forget()


def test_every_module_is_a_kind() -> None:
    assert {"crosstab", "frequencies", "logit"} <= set(OWN)
    assert kinds.names() == tuple(OWN)


@pytest.mark.parametrize("kind", OWN)
def test_a_kind_is_an_output_named_after_its_module(kind: str) -> None:
    found = kinds.find(kind)
    assert issubclass(found, Output)
    assert found.__module__ == f"evosynth.objectives.{kind}"
    assert get_args(found.model_fields["kind"].annotation) == (kind,)


@pytest.mark.parametrize("kind", OWN)
def test_a_kind_describes_every_key_of_its_own(kind: str) -> None:
    fields = kinds.find(kind).model_fields
    assert [
        name for name, field in fields.items() if name != "kind" and not field.description
    ] == []


def test_somebody_elses_kind(install: Install, tmp_path: Path) -> None:
    install("everyone = somebodys_kinds:HeadCount")
    assert kinds.names() == tuple(sorted([*OWN, "everyone"]))
    assert kinds.find("everyone").__name__ == "HeadCount"
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    spec = load(path)
    (output,) = spec.outputs
    assert [figure.printed.text for figure in spec.figures[0]] == ["10"]
    recomputed = output.recompute(pd.DataFrame({"SEX": [1, 2]}), np.array([4.0, 6.0]), spec.schema)
    assert recomputed.tolist() == [10.0]
    options = json_schema()["properties"]["outputs"]["items"]["oneOf"]
    assert "everyone" in {option["properties"]["kind"]["const"] for option in options}


def test_figures_that_only_the_proof_can_tell_are_told(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("tithe = somebodys_kinds:Tithe")
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("everyone", "tithe"))
    assert cli.main(["run", str(path), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "0 of 1 published figure reproduced exactly as printed."
    assert said[-2] == (
        "The search stopped: it took every figure for exact, but recomputed from the data some "
        "are not. Another --seed may do better."
    )
    about = json.loads((tmp_path / "out" / "run.json").read_text())
    assert about["stopped"].startswith("it took every figure for exact")


def test_somebody_elses_kind_cannot_replace_one_of_ours(install: Install) -> None:
    install("logit = somebodys_kinds:HeadCount")
    assert kinds.names() == tuple(OWN)
    assert kinds.find("logit").__module__ == "evosynth.objectives.logit"


def test_what_is_no_output_is_no_kind(install: Install) -> None:
    install("everyone = somebodys_kinds:Printed")
    with pytest.raises(TypeError) as caught:
        kinds.find("everyone")
    assert str(caught.value) == "somebodys_kinds:Printed is not an Output"
