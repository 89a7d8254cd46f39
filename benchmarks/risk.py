"""Disclosure measures against a plain pandas implementation: all targets, key subsets, memory.

Without `--data` records are drawn in the shape of the Adult data: 48,842 records, 15 variables.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from report import parser, table, write

from evosynth.risk.assessment import assess, subset_table
from evosynth.risk.coding import encode
from evosynth.risk.protocol import Settings

KEYS = ["age", "sex", "occupation", "race"]
SHAPE = {
    "age": 74, "workclass": 9, "fnlwgt": 28523, "education": 16, "education-num": 16,
    "marital-status": 7, "occupation": 15, "relationship": 6, "race": 5, "sex": 2,
    "capital-gain": 123, "capital-loss": 99, "hours-per-week": 96, "native-country": 42,
    "income": 3,
}  # fmt: skip
"""Distinct values of each variable, missing ones among them."""
GOAL_ALL, GOAL_SUBSETS, GOAL_GIB = 0.2, 20.0, 4.0


def drawn(records: int) -> pd.DataFrame:
    """Draw texts and numbers with a few frequent values each."""
    rng = np.random.default_rng(1)
    columns = {}
    for name, levels in SHAPE.items():
        share = 1 / np.arange(1, levels + 1)
        codes = rng.choice(levels, records, p=share / share.sum())
        texts = np.array([f"{name} {code}" for code in range(levels)], dtype=object)
        columns[name] = codes if levels > 20 and levels != 42 else texts[codes]
    return pd.DataFrame(columns)


def halves(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the data, and records drawn from it anew to stand for synthetic ones."""
    synthetic = frame.sample(len(frame), replace=True, random_state=1).reset_index(drop=True)
    return frame, synthetic


def with_pandas(
    original: pd.DataFrame, synthetic: pd.DataFrame, keys: Sequence[str], targets: Sequence[str]
) -> pd.DataFrame:
    """Compute the same measures by grouping data frames."""
    keys = list(keys)
    n, m = len(original), len(synthetic)
    d_key = original.groupby(keys, dropna=False).size().rename("d_key")
    s_key = synthetic.groupby(keys, dropna=False).size().rename("s_key")
    both = pd.concat([d_key, s_key], axis=1).fillna(0).reset_index()
    unique = both["d_key"] == 1
    identity = {
        "UiO": 100 * unique.sum() / n,
        "UiS": 100 * (both["s_key"] == 1).sum() / m,
        "UiOiS": 100 * (unique & (both["s_key"] > 0)).sum() / n,
        "repU": 100 * (unique & (both["s_key"] == 1)).sum() / n,
    }
    rows = []
    for target in targets:
        names = [*keys, target]
        d = original.groupby(names, dropna=False).size().rename("d").reset_index()
        s = synthetic.groupby(names, dropna=False).size().rename("s").reset_index()
        cells = d.merge(s, on=names, how="outer").merge(both, on=keys, how="left")
        cells[["d", "s"]] = cells[["d", "s"]].fillna(0)
        in_d = (cells["d"] == cells["d_key"]) & (cells["d"] > 0)
        in_s = (cells["s"] == cells["s_key"]) & (cells["s"] > 0)
        told = cells.assign(told=in_s).groupby(keys, dropna=False)["told"].transform("any")
        ps = cells["s"] / cells["s_key"].where(cells["s_key"] > 0, 1)
        pd_ = cells["d"] / cells["d_key"].where(cells["d_key"] > 0, 1)
        share = original[target].value_counts(dropna=False) / n
        disco = cells["d"][in_s].sum()
        rows.append(
            {
                "target": target,
                **identity,
                "Dorig": 100 * cells["d"][in_d].sum() / n,
                "Dsyn": 100 * cells["s"][in_s].sum() / m,
                "iS": 100 * cells["d"][cells["s_key"] > 0].sum() / n,
                "DiS": 100 * cells["d"][told].sum() / n,
                "DiSCO": 100 * disco / n,
                "DiSDiO": 100 * cells["d"][in_s & in_d].sum() / n,
                "baseCAPd": 100 * (share**2).sum(),
                "CAPd": 100 * (pd_ * cells["d"]).sum() / n,
                "CAPs": 100 * (ps * cells["s"]).sum() / m,
                "DCAP": 100 * (ps * cells["d"]).sum() / n,
                "TCAP over matched": 100 * disco / cells["d"][cells["s_key"] > 0].sum(),
                "TCAP over disclosive": 100 * disco / cells["d"][told].sum(),
            }
        )
    return pd.DataFrame(rows).set_index("target")


def all_targets(frame: pd.DataFrame, rounds: int) -> dict[str, object]:
    """Time every measure of every target, coding of the values included."""
    original, synthetic = halves(frame)
    targets = [name for name in frame.columns if name not in KEYS]
    how: dict[str, Any] = {"keys": KEYS, "targets": targets, "categorical": "all"}
    assess(synthetic.head(100), original.head(100), **how)  # compiles
    ours, theirs = [], []
    for _ in range(rounds):
        begun = time.process_time()
        found = assess(synthetic, original, **how)
        ours.append(time.process_time() - begun)
        begun = time.process_time()
        plain = with_pandas(original, synthetic, KEYS, targets)
        theirs.append(time.process_time() - begun)
    mine = found.table.assign(**{k: v.value for k, v in found.identity.items()})
    worst = float((mine[plain.columns] - plain).abs().max().max())
    return {
        "what": f"every measure of {len(targets)} targets, {len(frame):,} records, 4 keys",
        "evosynth, s": f"{min(ours):.3f}",
        "goal, s": f"{GOAL_ALL:g}",
        "pandas, s": f"{min(theirs):.2f}",
        "pandas takes": f"{min(theirs) / min(ours):.0f} ×",
        "largest difference": f"{worst:.0e}",
    }


def key_subsets(frame: pd.DataFrame, wanted: int, compared: int) -> dict[str, object]:
    """Time key subsets by targets; pandas does a few of them, scaled up."""
    original, synthetic = halves(frame)
    names = [name for name in frame.columns if name != "fnlwgt"]
    targets, pool = names[-4:], names[:-4]
    begun = time.process_time()
    columns = encode({"original": original, "synthetic": synthetic}, names, None, ["all"])
    done, size, mine = 0, 2, []
    while done < wanted and size <= len(pool):
        # As many keys as give no more subsets than are wanted.
        chosen = list(combinations(pool, size))[: -(-(wanted - done) // len(targets))]
        for keys in chosen:
            mine.append(subset_table(columns, keys, targets, size, Settings()))
        done += len(chosen) * len(targets)
        size += 1
    ours = time.process_time() - begun
    found = pd.concat(mine, ignore_index=True)
    picked = np.linspace(0, len(mine) - 1, compared).astype(int)
    begun = time.process_time()
    worst = 0.0
    for place in picked.tolist():
        keys = found["keys"][place * len(targets)].split(" ")
        plain = with_pandas(original, synthetic, keys, targets)
        part = mine[place].set_index("target")[plain.columns]
        worst = max(worst, float((part - plain).abs().max().max()))
    theirs = (time.process_time() - begun) / (compared * len(targets)) * done
    return {
        "what": f"{done:,} key subsets × targets, {len(frame):,} records",
        "evosynth, s": f"{ours:.2f}",
        "goal, s": f"{GOAL_SUBSETS * done / 2000:g}",
        "pandas, s": f"{theirs:.0f} (from {compared * len(targets)})",
        "pandas takes": f"{theirs / ours:.0f} ×",
        "largest difference": f"{worst:.0e}",
    }


def _large(records: int, plain: bool, pipe: Any) -> None:
    rng = np.random.default_rng(1)
    sizes = {"age": 90, "sex": 2, "area": 400, "work": 40, "income": 50}
    one, other = (
        pd.DataFrame({k: rng.integers(0, n, records).astype(np.int16) for k, n in sizes.items()})
        for _ in range(2)
    )
    begun = time.process_time()
    keys = ["age", "sex", "area", "work"]
    if plain:
        with_pandas(other, one, keys, ["income"])
    else:
        assess(one, other, keys=keys, target="income", categorical="all")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pipe.send((time.process_time() - begun, used))


def large(records: int) -> dict[str, object]:
    """Measure time and memory of many records, each way in a process of its own."""
    context = multiprocessing.get_context("spawn")
    found = []
    for plain in (False, True):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_large, args=(records, plain, theirs))
        process.start()
        theirs.close()  # so that a process that dies is noticed
        found.append(mine.recv())
        process.join()
    (seconds, used), (their_seconds, their_used) = found
    return {
        "records, each side": f"{records:,}",
        "evosynth, s": f"{seconds:.1f}",
        "peak, GiB": f"{used:.2f}",
        "goal, GiB": f"{GOAL_GIB:g}",
        "pandas, s": f"{their_seconds:.1f}",
        "pandas takes": f"{their_seconds / seconds:.1f} ×",
        "its peak, GiB": f"{their_used:.2f}",
        "pandas needs": f"{their_used / used:.1f} ×",
    }


def _options() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--data", metavar="FILE", help="CSV file of the Adult data, such as UCI's")
    options.add_argument("--records", type=int, default=48_842)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--subsets", type=int, default=2000)
    options.add_argument("--compared", type=int, default=10, help="key subsets that pandas does")
    options.add_argument("--large", type=int, default=10_000_000)
    return options.parse_args()


def main() -> None:
    """Time all, and write the tables."""
    given = _options()
    frame = pd.read_csv(given.data) if given.data else drawn(given.records)
    rows = [
        all_targets(frame, given.rounds),
        key_subsets(frame, given.subsets, given.compared),
    ]
    source = "the Adult data" if given.data else "records drawn in the shape of the Adult data"
    write(
        given,
        "Disclosure risk",
        f"On {source}, synthetic records drawn from the same. Processor time of one core after "
        "loading, coding of the values included; pandas computes the same measures by grouping "
        "data frames, without checks, intervals and exclusions. The largest difference between "
        "both is in percentage points.",
        table(rows)
        + "\n\nOne target and four keys of many records:\n\n"
        + table([large(given.large)]),
    )


if __name__ == "__main__":
    main()
