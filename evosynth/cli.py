"""The command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evosynth import __version__, console
from evosynth.console import note, say
from evosynth.errors import (
    EvosynthError,
    FolderError,
    FormatError,
    SpecError,
    WeightsError,
    many,
    shown,
)
from evosynth.interrupt import Interrupt, interruptible
from evosynth.risk import options as risk
from evosynth.weights import options as weight

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.formats import Format
    from evosynth.messy import Messy
    from evosynth.schema import Variable
    from evosynth.spec import Spec
    from evosynth.synthesis import Result

EXACT, MISSED, BAD, INTERRUPTED = 0, 1, 2, 130
_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0 when all is exact, 1 when figures are missed, 2 on bad input."""
    console.prepare()
    with interruptible(Interrupt(lambda: console.urge("Stopping, writing the best so far…"))):
        try:
            code = _outcome(arguments)
        finally:
            complete = console.complete()
            if arguments is None:  # the program ends: an impatient Ctrl-C must not hurt any more
                signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code if complete else BAD


def _outcome(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
        return int(options.command(options))
    except SpecError as error:
        for line in error.lines():
            note(line)
        if len(error.faults) > 1:
            note(many(len(error.faults), "fault"))
        if all(fault.clash for _, fault in error.faults):
            note("No data can have these figures; `run --anyway` comes as near as it can.")
        return BAD
    except EvosynthError as error:
        note(str(error))
        return BAD
    except KeyboardInterrupt:
        note("Interrupted; nothing was written.")
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evosynth",
        description="Make teaching data that reprint published figures, digit for digit.",
    )
    parser.add_argument("--version", action="version", version=f"evosynth {__version__}")
    commands = parser.add_subparsers(required=True)

    check = commands.add_parser("check", help="report every fault of a spec, or what it declares")
    check.add_argument("spec", metavar="SPEC")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(command=_check)

    run = commands.add_parser("run", help="make the data of a spec")
    run.add_argument("spec", metavar="SPEC")
    run.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to write")
    run.add_argument("--seed", type=_whole(0, 2**32 - 1), default=1, metavar="N", help="default 1")
    run.add_argument("--strategy", choices=["exact", "classic"], help="default: as the spec says")
    run.add_argument(
        "--workers",
        type=_whole(1, 256),
        metavar="W",
        help="threads (default: all cores); same result",
    )
    run.add_argument(
        "--copies",
        type=_whole(1, 999),
        metavar="M",
        help="make M different datasets, each in a folder of its own, with an answer sheet",
    )
    run.add_argument("--time", type=_seconds, metavar="S", help="stop the search after S seconds")
    run.add_argument(
        "--generations",
        type=_whole(0, 2**32 - 1),
        metavar="G",
        help="stop after G (more) generations",
    )
    run.add_argument("--resume", action="store_true", help="go on with an unfinished run in DIR")
    run.add_argument("--force", action="store_true", help="replace the results in DIR")
    run.add_argument(
        "--format",
        action="append",
        type=_format,
        metavar="F",
        help="stata, spss or excel, besides CSV and Parquet; may be repeated",
    )
    run.add_argument(
        "--anyway",
        action="store_true",
        help="run although figures contradict each other, and report which had to give",
    )
    run.add_argument(
        "--original",
        metavar="FILE",
        help="original data: adds the disclosure risk that `risk:` in the spec asks for",
    )
    run.add_argument("--holdout", metavar="FILE", help="people outside the original, for the risk")
    how = run.add_mutually_exclusive_group()
    how.add_argument("--quiet", action="store_true", help="print only what is missed")
    how.add_argument("--json", action="store_true", help="print one JSON object per line")
    run.set_defaults(command=_run)

    verify = commands.add_parser("verify", help="recompute every figure from a data file")
    verify.add_argument("spec", metavar="SPEC")
    verify.add_argument("data", metavar="DATA", help=".csv, .parquet, .dta, .sav or .xlsx")
    verify.add_argument("--json", action="store_true", help="print JSON")
    verify.set_defaults(command=_verify)

    weight.add_options(commands, _whole).set_defaults(command=_weight)
    risk.add_options(commands, _whole).set_defaults(command=_risk)
    report = commands.add_parser("report", help="make report.html anew from a folder's files")
    report.add_argument("folder", metavar="DIR", help="folder that `run -o` wrote")
    report.set_defaults(command=_page)

    new = commands.add_parser("new", help="write a commented spec to start from")
    new.add_argument("spec", metavar="SPEC", nargs="?", default="spec.yaml", help="file to write")
    new.add_argument(
        "--from",
        dest="codebook",
        metavar="CSV",
        help="codebook (variable, label, code, value label, count) to take the variables from",
    )
    new.add_argument("--force", action="store_true", help="replace the file if it is there")
    new.set_defaults(command=_new)

    schema = commands.add_parser("schema", help="print the JSON Schema of specs, for editors")
    schema.set_defaults(command=_schema)
    return parser


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        with contextlib.suppress(ValueError):
            if low <= int(text) <= high:
                return int(text)
        raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}")

    return read


def _format(text: str) -> str:
    from evosynth.formats import named

    try:
        return named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if float(text) > 0:
            return float(text)
    raise argparse.ArgumentTypeError("must be a number of seconds above 0")


def _check(options: argparse.Namespace) -> int:
    from evosynth.formats import notes
    from evosynth.spec import load

    spec = load(options.spec)
    about = _declared(spec)
    if options.json:
        say(json.dumps(about, indent=2))
        return EXACT
    if spec.title:
        say(shown(spec.title))
    say(
        f"{many(spec.schema.records, 'record')}, {many(len(about['variables']), 'variable')}, "
        f"{many(len(about['outputs']), 'output')}, {many(about['figures'], 'figure')}\n"
    )
    _table(about["variables"], ["name", "values", "label"])
    say()
    _table(about["outputs"], ["output", "kind", "figures", "title"])
    if spec.weighting is not None:
        say(f"\n{spec.weighting.about}")
    for line in notes(spec.formats, spec.filed):
        say(line)
    say("\nNo fault found.")
    return EXACT


def _values(variable: Variable) -> str:
    """Say what values a variable has."""
    if variable.identifier is not None:
        return "identifier"
    last = variable.texts[variable.valid - 1]
    kind = "date" if variable.date else "number" if variable.decimals else "integer"
    found = f"{kind} {variable.texts[0]} to {last}"
    if variable.categorical:
        found = many(variable.valid, "category")
    return f"{found}, or missing" if variable.missing else found


def _declared(spec: Spec) -> dict[str, Any]:
    variables = [
        {
            "name": variable.name,
            "values": _values(variable),
            "label": variable.label,
        }
        for variable in spec.filed.shown
    ]
    if spec.weighting is not None and not spec.weighting.weighted:
        variables[-1]["values"] = "weight"
    outputs = [
        {"output": position, "kind": output.kind, "figures": len(figures), "title": output.title}
        for position, (output, figures) in enumerate(zip(spec.outputs, spec.figures, strict=True))
    ]
    return {
        "title": spec.title,
        "source": spec.source,
        "records": spec.schema.records,
        "variables": variables,
        "outputs": outputs,
        "figures": sum(len(figures) for figures in spec.figures),
        "weights": None if spec.weighting is None else {"mode": spec.weighting.mode},
    }


def _run(options: argparse.Namespace) -> int:
    from evosynth import formats, progress
    from evosynth.spec import load
    from evosynth.write import readable, ready, save, summary

    folder = Path(options.output)
    spec = load(options.spec, anyway=options.anyway)
    for line in spec.clashes:
        note(line)
    if spec.clashes:
        note("No data can have these figures; coming as near as possible.")
    asked = tuple(dict.fromkeys([*spec.formats, *(options.format or ())]))
    ready(folder, options.force or options.resume)
    try:
        for line in formats.notes(asked, spec.filed):
            note(line)
    except FormatError as error:
        raise spec.document.error([error.fault]) from error
    from evosynth.risk import spec as risk_spec

    people = risk_spec.people(spec, options.original, options.holdout, options.copies)
    if options.copies is not None:
        return _copies(options, spec, folder, asked)
    from evosynth.report.live import both, live
    from evosynth.synthesis import synthesize

    display = progress.choose(options.quiet, options.json)
    with live(folder, spec, options.seed) as page:
        try:
            result = synthesize(
                spec,
                options.seed,
                strategy=options.strategy,
                workers=options.workers or os.cpu_count() or 1,
                time=options.time,
                generations=options.generations,
                progress=both(display, page),
                resume=folder if options.resume else None,
            )
        finally:
            display.close()
        page.tell("The search has ended; writing and verifying the files")
        result, unweighted = _weighted(result)
        if people is not None:
            result.risk = people.assess(result.data)
        save(result, folder, options.force or options.resume, asked, page)
    if options.json:
        say(json.dumps({"event": "done", "folder": readable(folder), **summary(result)}))
    else:
        _report(result.verification, options.quiet)
        if spec.bound:
            _report_rules(result.rules, options.quiet)
        if not result.exact:
            say(f"The search stopped: {result.stopped}. {_advice(result)}".rstrip())
        if result.messy is not None and not options.quiet:
            _planted(result.messy)
        if result.risk is not None and not options.quiet:
            from evosynth.risk.command import told as told_of_risk

            for line in told_of_risk(result.risk):
                say(line)
        if result.weights is not None and not options.quiet:
            from evosynth.weights.column import told

            for line in told(result.weights):
                say(line)
        if not options.quiet:
            say(f"Written to {folder}: {', '.join(sorted(f.name for f in folder.iterdir()))}")
    if unweighted is not None:
        note(str(unweighted))
        note(
            "The data were written without a weight. Mend `weights:` in the spec, or add one by "
            f"`evosynth weight {readable(folder / 'data.csv')} --totals FILE`."
        )
        return BAD
    return EXACT if result.exact else MISSED


def _weighted(result: Result) -> tuple[Result, WeightsError | None]:
    """Go without a weight that cannot be made, and say why, rather than lose the data."""
    try:
        _ = result.weights  # calibrates
    except WeightsError as error:
        return replace(result, spec=replace(result.spec, weighting=None)), error
    return result, None


def _planted(messy: Messy) -> None:
    """Say what is wrong in the messy file, and what becomes of the figures."""
    changed = int((~messy.verification["exact"]).sum())
    say(
        f"{many(len(messy.key), 'problem')} planted in data-messy.csv (key.csv tells them); "
        f"from it "
        f"{changed} of {many(len(messy.verification), 'figure')} come{'s' * (changed == 1)} "
        f"out otherwise "
        "(verification-messy.csv)."
    )


def _copies(options: argparse.Namespace, spec: Spec, folder: Path, asked: Sequence[Format]) -> int:
    """Make several datasets; say how each turned out."""
    from evosynth.copies import Copy, make_copies, overlap
    from evosynth.report.live import live

    if options.resume:
        raise FolderError("--resume goes on with one dataset; leave it out with --copies")

    done = 0

    def tell(copy: Copy) -> None:
        nonlocal done
        done += 1
        page.tell(f"Running: {done} of {many(options.copies, 'copy')} are made and exact")
        if options.json:
            say(json.dumps({"event": "copy", "copy": copy.number, "seed": copy.seed}))
        elif not options.quiet:
            note(f"copy {copy.number} of {options.copies}: exact")

    with live(folder, spec, options.seed) as page:
        made = make_copies(
            spec,
            folder,
            options.copies,
            options.seed,
            workers=options.workers or os.cpu_count() or 1,
            strategy=options.strategy,
            time=options.time,
            generations=options.generations,
            formats=asked,
            force=options.force,
            progress=tell,
            live=page,
        )
    done = sum(copy.exact for copy in made)
    if options.json:
        say(json.dumps({"event": "done", "copies": len(made), "exact": done}))
    elif not options.quiet or done < len(made):
        say(
            f"{done} of {many(len(made), 'copy')} reproduce{'s' * (done == 1)} every "
            f"published figure exactly as printed."
        )
        for copy in made:
            if not copy.exact:
                missed = int((~copy.verification["exact"]).sum())
                say(f"copy {copy.number} misses {many(missed, 'figure')}; see verification.csv")
        shared = overlap(made)["share"]
        if len(shared):
            most = f"{shared.max():.1%} at most"
            say(f"Two copies share {shared.mean():.1%} of their records, {most}.")
        say(f"Written to {folder}: copies for students, answers.md and overlap.csv for you.")
    return EXACT if done == len(made) else MISSED


def _advice(result: Result) -> str:
    """Say how to get the figures that are missed."""
    from evosynth.evolve import EVERY_FIGURE, NO_PROGRESS

    advice = {
        EVERY_FIGURE: "" if result.spec.clashes else "Another --seed may do better.",
        NO_PROGRESS: "Another --seed may come nearer; --resume tries on.",
    }
    return advice.get(result.reason, "--resume goes on from there.")


def _verify(options: argparse.Namespace) -> int:
    from evosynth.proof import group, read_data, verify
    from evosynth.rules import compliance
    from evosynth.spec import load

    spec = load(options.spec, anyway=True)
    data = read_data(options.data, spec.schema)
    found = verify(spec, data)
    kept = True
    if options.json:
        say(found.to_json(orient="records", indent=2))
    else:
        _report(found, quiet=False)
    if spec.bound:
        rules = compliance(spec.bound, *group(data, spec.schema))
        kept = bool(rules["kept"].all())
        if not options.json:
            _report_rules(rules, quiet=False)
    complete = len(data) == spec.schema.records
    if not complete:
        tell = note if options.json else say
        tell(
            f"{options.data}: {many(len(data), 'record')}, but the spec says "
            f"{spec.schema.records:,}"
        )
    return EXACT if complete and kept and found["exact"].all() else MISSED


def _weight(options: argparse.Namespace) -> int:
    from evosynth.weights.command import run

    return run(options, say)


def _risk(options: argparse.Namespace) -> int:
    from evosynth.risk.command import run

    return run(options, say)


def _report_rules(found: pd.DataFrame, quiet: bool) -> None:
    """Say that rules are kept, or list those that are not."""
    broken = found[~found["kept"]]
    if len(broken):
        say(
            f"{len(found) - len(broken)} of {many(len(found), 'rule')} and derived "
            f"variables are kept."
        )
        _table(broken.head(_SHOWN).to_dict("records"), ["rule", "violated", "allowed"])
    elif not quiet:
        say(f"Every rule is kept ({len(found)}, derived variables among them).")


def _report(found: pd.DataFrame, quiet: bool) -> None:
    """Say how many figures are exact, and list those that are not, worst first."""
    from evosynth.printed import half_units

    missed = found[~found["exact"]].copy()
    if not quiet or len(missed):
        done = f"{len(found) - len(missed)} of {many(len(found), 'published figure')}"
        say(f"{done} reproduced exactly as printed.")
    if len(missed):
        missed["off"] = [half_units(v) if v == v else "" for v in missed["half_units"]]
        missed = missed.sort_values("half_units", key=abs, ascending=False, na_position="first")
        rows = missed.head(_SHOWN).to_dict("records")
        _table(rows, ["output", "figure", "published", "reproduced", "off"])
        if len(missed) > _SHOWN:
            say(f"… and {len(missed) - _SHOWN} more")
        say("A half-unit is half of the last printed digit: 0.005 where two decimals are printed.")


def _page(options: argparse.Namespace) -> int:
    from evosynth.report.page import make

    say(f"Written to {make(options.folder)}")
    return EXACT


def _new(options: argparse.Namespace) -> int:
    from evosynth.start_spec import EXAMPLE, from_codebook
    from evosynth.write import write_whole

    text = from_codebook(options.codebook) if options.codebook else EXAMPLE
    write_whole(Path(options.spec), text, options.force)
    say(f"Written to {options.spec}; look for TODO, then: evosynth check {options.spec}")
    return EXACT


def _schema(options: argparse.Namespace) -> int:
    from evosynth.spec import json_schema

    say(json.dumps(json_schema(), indent=2))
    return EXACT


def _table(rows: list[Any], names: list[str]) -> None:
    """Print rows in columns."""
    texts = [names, *([shown(str(row[name])) for name in names] for row in rows)]
    widths = [max(len(text[i]) for text in texts) for i in range(len(names))]
    for text in texts:
        say(
            "  ".join(f"{part:<{width}}" for part, width in zip(text, widths, strict=True)).rstrip()
        )
