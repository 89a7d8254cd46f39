"""The codebook as a web page: one file, without scripts or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from evosynth import __version__
from evosynth.codebook import Described, codes, contradictions, describe, overview, reproduced
from evosynth.notice import FORBIDDEN, NOTICE
from evosynth.report.pictures import bars
from evosynth.report.rendering import part

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.spec import Spec

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --bar: #2f6f9f; --miss: #b35900; --back: #fff; --tint: #f6f8fa; --warn: #fff4e5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #30363d;
  --bar: #6cb0e0; --miss: #e3a15a; --back: #0d1117; --tint: #161b22; --warn: #2d2416; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; color: var(--ink);
  background: var(--back); line-height: 1.5; overflow-wrap: anywhere;
  font-family: "Noto Sans", "Segoe UI", "Helvetica Neue", Arial, "Noto Color Emoji", sans-serif; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 0; font-family: "Noto Sans Mono", Consolas, monospace; font-size: 1.05rem; }
.notice { background: var(--warn); border-left: 4px solid var(--miss); padding: .5rem 1rem; }
nav { columns: 14rem; } nav a { display: block; } a { color: var(--bar); }
section.variable { border: 1px solid var(--line); border-radius: 6px; padding: 1rem;
  margin: 1rem 0; break-inside: avoid; }
.label { margin: .2rem 0 .6rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { background: var(--tint); white-space: nowrap; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; max-width: 30rem; margin: .5rem 0; }
svg text { fill: var(--soft); font-family: inherit; font-size: 11px; }
svg rect { fill: var(--bar); } svg rect.missing { fill: var(--miss); }
svg line { stroke: var(--line); }
"""


def page(
    spec: Spec,
    data: pd.DataFrame,
    verification: pd.DataFrame,
    notes: Sequence[str] = (),
    rules: pd.DataFrame | None = None,
) -> str:
    """Describe a dataset in HTML."""
    title = _text(spec.title) or "Synthetic teaching data"
    found = describe(data, spec.schema)
    links = "".join(f'<a href="#v{i}">{_text(d.variable.name)}</a>' for i, d in enumerate(found))
    source = f"<p>Source of the figures: {_text(spec.source)}</p>" if spec.source else ""
    rows = "".join(
        f'<tr><td dir="auto">{_text(name)}</td><td>{_text(kind)}</td>'
        f'<td class="number">{figures:,}</td><td class="number">{exact:,}</td></tr>'
        for name, kind, figures, exact in reproduced(spec, verification)
    )
    parts = [
        f'<h1 dir="auto">{title}</h1>',
        f'<div class="notice" role="note"><p><strong>{NOTICE}</strong></p><p>{FORBIDDEN}</p></div>',
        f"<p>{overview(spec, verification, len(data))}</p>{source}",
        f'<h2>Variables</h2><nav aria-label="Variables">{links}</nav>',
        *(_variable(d, i) for i, d in enumerate(found)),
        '<h2>Published figures</h2><table><thead><tr><th scope="col">output</th>'
        '<th scope="col">kind</th><th scope="col" class="number">figures</th>'
        f'<th scope="col" class="number">exact</th></tr></thead><tbody>{rows}</tbody></table>',
        _rules(rules),
        _list("What the files cannot hold", notes),
        _list(
            "Contradictions: these published figures cannot all be, and some had to give",
            contradictions(spec),
        ),
        f'<p class="soft">Made with evosynth {__version__}.</p>',
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>Codebook: {title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    """Text of a stranger: nothing in it is markup."""
    return escape(" ".join(text.split()))


def _rules(rules: pd.DataFrame | None) -> str:
    """List how many records break each rule, beside how many would by chance."""
    if rules is None or not len(rules):
        return ""
    rows = "".join(
        f'<tr><td>{_text(str(row["rule"]))}</td><td class="number">{row["violated"]:,}</td>'
        f'<td class="number">{row["by_chance"]:.1%}</td></tr>'
        for row in rules.to_dict("records")
    )
    return (
        '<h2>Rules</h2><table><thead><tr><th scope="col">rule</th><th scope="col" class="number">'
        'records that break it</th><th scope="col" class="number">by chance</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _list(title: str, texts: Sequence[str]) -> str:
    items = "".join(f'<li dir="auto">{_text(text)}</li>' for text in texts)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _variable(described: Described, place: int) -> str:
    variable = described.variable
    rows = list(codes(described))
    body = f"<p>{_text(described.summary)}</p>" if described.summary else ""
    body += str(part("pictures.html", "distribution", bars(described)))
    if rows:
        head = '<th scope="col">code</th><th scope="col">label</th>'
        head += '<th scope="col" class="number">records</th>'
        head += '<th scope="col" class="number">share</th>'
        lines = ""
        for code, label, count, missing in rows:
            mark = ' <span class="soft">(missing)</span>' if missing else ""
            share = count / max(1, described.records)
            lines += f'<tr><td>{_text(code)}</td><td dir="auto">{_text(label)}{mark}</td>'
            lines += f'<td class="number">{count:,}</td><td class="number">{share:.2%}</td>'
            lines += "</tr>"
        body += f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return (
        f'<section class="variable" id="v{place}"><h3>{_text(variable.name)}</h3>'
        f'<p class="label" dir="auto">{_text(variable.label)}</p>{body}</section>'
    )
