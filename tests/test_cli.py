"""The command line as a person or a script meets it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from cases import FOUNDING, SMALL

from evosynth import cli, synthesis, write
from evosynth.interrupt import Interrupt, interruptible
from evosynth.kernels.cells import sum_joint
from evosynth.spec import load


def evosynth(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "evosynth", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **options,
    )


def shell(line, *arguments, **options):
    """Run a shell line in which ``evosynth "$@"`` stands for the command with the arguments."""
    command = line.replace("evosynth", f"{shlex.quote(sys.executable)} -m evosynth")
    return subprocess.run(
        ["bash", "-c", command, "bash", *map(os.fsencode, arguments)],
        capture_output=True,
        check=False,
        timeout=300,
        **options,
    )


posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell and signals")


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def test_help_answers_without_heavy_imports():
    code = (
        "import sys\nfrom evosynth.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'pandas', 'statsmodels', 'numpy', 'deap', 'pyarrow'}\n"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "digit for digit" in done.stdout


def test_check_prints_what_the_spec_declares(spec, capsys):
    assert cli.main(["check", str(spec)]) == 0
    out = capsys.readouterr().out
    assert "400 records, 4 variables, 3 outputs, 11 figures" in out
    assert "AGE   integer 18 to 40  Age" in out
    assert cli.main(["check", str(spec), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert [output["figures"] for output in about["outputs"]] == [6, 2, 3]


def test_no_text_of_a_spec_reaches_the_terminal_raw(spec, capsys):
    evil = r'"\e]0;evil\a\e[2J"'
    text = SMALL.replace("A small survey", evil).replace("label: Age", f"label: {evil}")
    spec.write_text(text.replace("of: SEX", f"title: {evil}\n    of: SEX"))
    assert cli.main(["check", str(spec)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count(r"\x1b]0;evil\x07\x1b[2J") == 3


def test_check_lists_every_fault_and_exits_with_2(spec, capsys):
    spec.write_text(SMALL.replace("rows: AREA", "rows: AERA").replace("[60, 90]", "[60, 91]"))
    assert cli.main(["check", str(spec)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        f"{spec}:10 outputs[0].rows: unknown variable 'AERA' (did you mean 'AREA'?)\n"
    )
    spec.write_text(SMALL.replace("[60, 90]", "[60, 91]").replace("AGE: 0.051", "AEG: 0.051"))
    assert cli.main(["check", str(spec)]) == 2
    assert capsys.readouterr().err.endswith("2 faults\n")


def test_run_verify_and_refuse(spec, tmp_path):
    out = tmp_path / "out"
    done = evosynth("run", spec, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "11 of 11 published figures reproduced exactly as printed." in done.stdout
    assert "generation" in done.stderr
    assert "\r" not in done.stderr
    again = evosynth("run", spec, "-o", out)
    assert again.returncode == 2
    assert "is not empty" in again.stderr
    assert evosynth("verify", spec, out / "data.csv").returncode == 0
    data = pd.read_csv(out / "data.csv")
    data["SEX"] = 3 - data["SEX"]
    data.to_csv(tmp_path / "flipped.csv", index=False)
    missed = evosynth("verify", spec, tmp_path / "flipped.csv")
    assert missed.returncode == 1
    assert "8 of 11 published figures" not in missed.stdout
    assert "SEX=1" in missed.stdout
    assert "half-units" in missed.stdout
    assert missed.stdout.endswith(
        "A half-unit is half of the last printed digit: 0.005 where two decimals are printed.\n"
    )


def test_verify_tells_that_records_are_missing_or_too_many(tmp_path, capsys):
    spec, data = tmp_path / "spec.yaml", tmp_path / "data.csv"
    spec.write_text(
        "records: 4,000\nvariables: {SEX: {categories: {1: Male, 2: Female}}}\n"
        "outputs: [{kind: frequencies, of: SEX, proportions: {1: 0.5, 2: 0.5}}]\n"
    )
    for records in (2000, 4002):
        data.write_text("SEX\n" + "1\n2\n" * (records // 2))
        line = f"{data}: {records:,} records, but the spec says 4,000\n"
        assert cli.main(["verify", str(spec), str(data)]) == 1
        assert capsys.readouterr().out.endswith(f"exactly as printed.\n{line}")
        assert cli.main(["verify", str(spec), str(data), "--json"]) == 1
        shown = capsys.readouterr()
        assert [figure["exact"] for figure in json.loads(shown.out)] == [True, True]
        assert shown.err == line


def test_run_anyway_bears_figures_that_contradict_each_other(tmp_path, capfd):
    spec = tmp_path / "clash.yaml"
    spec.write_text(
        "records: 100\nvariables: {A: {categories: {1: a, 2: b}}}\noutputs:\n"
        "  - {kind: frequencies, of: A, counts: {1: 40, 2: 60}}\n"
        "  - {kind: frequencies, of: A, counts: {1: 43, 2: 57}}\n"
    )
    out = tmp_path / "out"
    assert cli.main(["run", str(spec), "-o", str(out)]) == 2
    assert not out.exists()
    refused = capfd.readouterr().err.splitlines()
    remedy = "No data can have these figures; `run --anyway` comes as near as it can."
    assert refused[-2:] == ["2 faults", remedy]
    assert cli.main(["run", str(spec), "-o", str(out), "--anyway", "--generations", "1"]) == 1
    said = capfd.readouterr()
    assert "off by 3" in said.err
    assert "No data can have these figures; coming as near as possible." in said.err
    assert "2 of 4 published figures" in said.out
    assert "The search stopped: the figures that are left contradict others.\n" in said.out
    assert cli.main(["verify", str(spec), str(out / "data.csv")]) == 1


def test_quiet_and_json(spec, tmp_path):
    quiet = evosynth("run", spec, "-o", tmp_path / "a", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    lines = evosynth("run", spec, "-o", tmp_path / "b", "--json")
    events = [json.loads(line) for line in lines.stdout.splitlines()]
    assert lines.stderr == ""
    assert [event["event"] for event in events][-1] == "done"
    assert events[0] == {**events[0], "event": "generation", "generation": 0, "figures": 11}
    assert events[-1]["exact"] == 11


@posix
@pytest.mark.parametrize(
    "line", ['evosynth "$@" 2>&-', 'evosynth "$@" >&- 2>&-', 'evosynth "$@" 2>/dev/full']
)
def test_streams_that_are_closed_or_full_do_not_keep_a_run_from_writing(line, spec, tmp_path):
    done = shell(line, "run", spec, "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"generation" not in done.stdout
    assert (tmp_path / "out" / "data.csv").exists()


@posix
def test_a_reader_who_stops_reading_does_not_keep_a_run_from_writing(tmp_path):
    done = shell(
        '{ evosynth "$@"; echo $? >&2; } | head -1',
        *("run", FOUNDING[0], "--strategy", "classic", "--generations", "3", "--json"),
        *("-o", tmp_path / "out"),
    )
    assert json.loads(done.stdout)["generation"] == 0
    assert done.stderr == b"1\n"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["generations"] == 3


@posix
def test_output_that_is_lost_is_said(spec):
    for arguments in (("schema",), ("check", spec)):
        done = shell('evosynth "$@" > /dev/full', *arguments)
        assert done.returncode == 2
        assert done.stderr == b"standard output: No space left on device\n"
    assert shell('evosynth "$@" | true', "schema").stderr == b""


@posix
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_paths_of_any_bytes_and_terminals_of_any_alphabet_will_do(encoding, tmp_path):
    strange, out = tmp_path / "\udcff.yaml", tmp_path / "o\udcff"
    strange.write_text(SMALL.replace("A small survey", "Eine kleine Größe"), encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": encoding}
    done = shell('evosynth "$@"', "run", strange, "-o", out, env=environment)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"o\\udcff: analysis.R, analysis.do, analysis.py" in done.stdout
    assert json.loads((out / "run.json").read_bytes())["spec"] == "\N{REPLACEMENT CHARACTER}.yaml"
    check = shell('evosynth "$@"', "check", strange, env=environment)
    assert check.returncode == 0
    assert check.stdout.decode(encoding).startswith("Eine kleine Gr")
    check = shell('evosynth "$@"', "check", strange, "--json", env=environment)
    assert json.loads(check.stdout)["title"] == "Eine kleine Größe"
    lines = shell('evosynth "$@"', "run", strange, "-o", out, "--force", "--json", env=environment)
    assert json.loads(lines.stdout.splitlines()[-1])["folder"].endswith(
        "/o\N{REPLACEMENT CHARACTER}"
    )


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(tmp_path):
    for workers in (1, 2):
        done = evosynth(
            "run", FOUNDING[1], "-o", tmp_path / str(workers), "--seed", 9, "--workers", workers
        )
        assert done.returncode == 0, done.stderr
    for name in ("data.csv", "data.parquet", "verification.csv", "codebook.md"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def classic(*more):
    return ("run", FOUNDING[0], "--strategy", "classic", "--quiet", *more)


def test_a_limit_writes_the_best_so_far_and_resuming_equals_an_uninterrupted_run(tmp_path):
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert evosynth(*classic("-o", whole, "--generations", 6)).returncode == 1
    first = evosynth(*classic("-o", halves, "--generations", 3))
    assert first.returncode == 1
    assert "0 of 14 published figures" in first.stdout
    assert "generation limit" in first.stdout
    assert evosynth(*classic("-o", halves, "--generations", 3, "--resume")).returncode == 1
    assert (halves / "data.csv").read_bytes() == (whole / "data.csv").read_bytes()
    logs = [json.loads((folder / "run.json").read_text())["log"] for folder in (whole, halves)]
    assert logs[0] == logs[1]
    assert len(logs[0]) == 7
    other = evosynth(*classic("-o", halves, "--generations", 6, "--resume", "--seed", 2))
    assert other.returncode == 2
    assert "made with seed 1, not 2" in other.stderr


def test_resuming_with_other_options_says_which_to_add(tmp_path, capsys):
    spec, out = tmp_path / "spec.yaml", tmp_path / "out"
    spec.write_bytes(FOUNDING[0].read_bytes())
    run = ["run", str(spec), "-o", str(out), "--generations", "0", "--quiet"]
    assert cli.main([*run, "--seed", "7", "--strategy", "classic"]) == 1
    assert cli.main([*run, "--resume", "--seed", "7"]) == 2
    assert capsys.readouterr().err == (
        f"{out / 'checkpoint.npz'}: made with strategy classic, not exact; add --strategy classic\n"
    )
    assert cli.main([*run, "--resume"]) == 2
    assert capsys.readouterr().err.endswith("; add --seed 7 --strategy classic\n")
    spec.write_bytes(spec.read_bytes() + b"# changed\n")
    assert cli.main([*run, "--resume", "--seed", "7", "--strategy", "classic"]) == 2
    assert capsys.readouterr().err.endswith(
        "made from another spec, or the spec has changed since; "
        "start anew with --force instead of --resume\n"
    )


def test_nothing_to_resume_is_said(spec, tmp_path):
    done = evosynth("run", spec, "-o", tmp_path / "out", "--resume")
    assert done.returncode == 2
    assert "nothing to resume" in done.stderr


def started(*arguments):
    """Start a command that Ctrl-C reaches, even if it does not reach the tests."""
    return subprocess.Popen(
        [sys.executable, "-m", "evosynth", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@posix
@pytest.mark.parametrize("presses", [1, 1000])
def test_ctrl_c_however_often_writes_the_best_so_far(presses, tmp_path):
    out = tmp_path / "out"
    running = started("run", FOUNDING[0], "--strategy", "classic", "--json", "-o", out)
    for line in running.stdout:
        if json.loads(line)["generation"] == 5:
            break
    began = time.monotonic()
    while presses and running.poll() is None:
        running.send_signal(signal.SIGINT)
        presses -= 1
        time.sleep(0.02)
    stdout, stderr = running.communicate(timeout=120)
    assert time.monotonic() - began < 60
    assert (running.returncode, stderr) == (1, "Stopping, writing the best so far…\n")
    done = json.loads(stdout.splitlines()[-1])
    assert done["stopped"] == "interrupted"
    assert len(pd.read_csv(out / "data.csv")) == 4027
    assert (out / "checkpoint.npz").exists()


@pytest.fixture
def press(monkeypatch):
    """Press Ctrl-C when a part of the program is reached."""

    def at(module, name):
        real = getattr(module, name)

        def pressed(*arguments, **options):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, pressed)

    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield at
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, earlier)


def test_ctrl_c_before_there_is_a_candidate_ends_at_once(press, spec, tmp_path, capsys):
    press(synthesis, "evolve")
    assert cli.main(["run", str(spec), "-o", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "Interrupted; nothing was written.\n"
    assert not (tmp_path / "out").exists()


@posix
def test_ctrl_c_within_compiled_code_is_ctrl_c(press):
    features, weights = np.ones((100_000, 5)), np.ones(100_000)
    cells = np.zeros((100_000, 1), dtype=np.int32)
    work = cells, np.arange(1), 1, features, weights
    sum_joint(*work)
    later = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), interruptible(Interrupt()):
        later.start()
        while True:
            sum_joint(*work)


def test_ctrl_c_while_writing_does_not_stop_the_writing(press, spec, tmp_path, capsys):
    press(write, "codebook")
    assert cli.main(["run", str(spec), "-o", str(tmp_path / "out")]) == 0
    assert "Written to" in capsys.readouterr().out
    assert (tmp_path / "out" / "codebook.md").exists()


def test_ctrl_c_ends_a_search_from_python_in_good_order(press, tmp_path):
    seen = []
    press(synthesis, "_progress")
    found = synthesis.synthesize(load(FOUNDING[0]), strategy="classic", progress=seen.append)
    assert (found.reason, len(seen)) == ("interrupted", 1)


def test_schema_is_json(capsys):
    assert cli.main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["required"] == ["records", "variables", "outputs"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "x.yaml"],
        ["run", "x.yaml", "-o", "y", "--seed", "-1"],
        ["run", "x.yaml", "-o", "y", "--workers", "0"],
        ["run", "x.yaml", "-o", "y", "--time", "0"],
        ["nonsense"],
        [],
    ],
)
def test_bad_options_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        cli.main(arguments)
    assert error.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["many", "", "1.5.1", "nan"])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--seed", "must be a whole number from 0 to 4294967295"),
        ("--generations", "must be a whole number from 0 to 4294967295"),
        ("--workers", "must be a whole number from 1 to 256"),
        ("--time", "must be a number of seconds above 0"),
    ],
)
def test_options_that_are_no_numbers_are_refused_plainly(option, text, message, capsys):
    with pytest.raises(SystemExit):
        cli.main(["run", "x.yaml", "-o", "y", option, text])
    assert capsys.readouterr().err.endswith(f"argument {option}: {message}\n")
