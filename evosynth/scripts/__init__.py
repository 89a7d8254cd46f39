"""Starter scripts beside the data: they repeat every published analysis in four languages.

Each language has a module; it knows the forms of `evosynth.analysis` and no output kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evosynth.errors import FormatError
from evosynth.scripts import python, r, spss, stata
from evosynth.scripts.survey import usage
from evosynth.scripts.text import line

if TYPE_CHECKING:
    from evosynth.formats import Format
    from evosynth.spec import Spec


def scripts(spec: Spec, written: Sequence[Format] = ()) -> dict[str, str]:
    """Return the scripts by file name; ``written`` are the formats of the data beside them."""
    found = {"analysis.py": python.script(spec), "analysis.R": r.script(spec)}
    others = (("analysis.do", stata.script, "stata"), ("analysis.sps", spss.script, "spss"))
    for name, script, format_name in others:
        try:
            found[name] = script(spec, format_name in written)
        except FormatError as error:  # the program cannot hold the data at all
            found[name] = f"* {line(str(error))}.\n"
    if spec.weighting is not None and not spec.weighting.weighted:
        for name, text in usage(spec.weighting.name).items():
            found[name] += text
    return found
