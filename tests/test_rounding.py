"""Real values are rounded so that every figure still prints as published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evosynth
from evosynth.few import Few
from evosynth.newton import away
from evosynth.problem import Problem
from evosynth.reals import Place, converge
from evosynth.rounding import rounded, settle
from evosynth.steer import shuffled

SPECS = Path(__file__).parents[1] / "specs"


@pytest.fixture(scope="module")
def grades():
    spec = evosynth.load(SPECS / "economics-grades.yaml")
    problem = Problem.of(spec.plans, spec.schema)
    return problem, Few.of(problem, spec.start, 1)


def test_values_of_two_variables_are_settled(grades):
    problem, few = grades
    columns, rng = few.space.stepped, np.random.default_rng(4)
    codes = few.repaired(few.source.draw(rng), rng)

    def start(number):
        return shuffled(problem, columns, codes, rng) if number else codes

    found, left = settle(problem, columns, start, 12, rng)
    assert left == 0.0
    assert away(problem.measure(found, np.ones(len(found), dtype=np.int64))) == 0.0
    cells = np.bincount(problem.cells(found).ravel(), minlength=len(problem.low))
    assert (cells >= problem.low).all()
    assert (cells <= problem.high).all()


def test_nothing_is_tried_once_time_is_up(grades):
    problem, few = grades
    rng = np.random.default_rng(4)
    codes = few.repaired(few.source.draw(rng), rng)
    found, left = settle(problem, few.space.stepped, lambda _: codes, 5, rng, lambda: True)
    assert found is codes
    assert left == np.inf


def test_rounding_is_no_worse_than_the_nearest_values(grades):
    problem, few = grades
    columns, rng = few.space.stepped, np.random.default_rng(6)
    codes = few.repaired(few.source.draw(rng), rng)
    place = converge(Place.of(problem, columns, codes), np.ones(2, dtype=bool), most=8)
    found, left = rounded(place, rng)
    ones = np.ones(len(found), dtype=np.int64)
    assert left == away(problem.measure(found, ones))
    assert left <= away(problem.measure(place.codes, ones))
    assert (found[:, [0, 3]] == codes[:, [0, 3]]).all()
