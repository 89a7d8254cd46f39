from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evosynth.document import MAX_BYTES, MAX_DEPTH, Document, read
from evosynth.errors import Fault, SpecError

Write = Callable[[str | bytes], Path]


def message(path: Path | str) -> str:
    with pytest.raises(SpecError) as caught:
        read(path)
    return str(caught.value)


def test_lines(write_spec: Write) -> None:
    document = read(write_spec("# heading\n\na: 1\nb:\n  - x\n  -\n    c: [y,\n      z]\n"))
    assert document.tree == {"a": "1", "b": ["x", {"c": ["y", "z"]}]}
    assert document.lines == {
        (): 3,
        ("a",): 3,
        ("b",): 4,
        ("b", 0): 5,
        ("b", 1): 7,
        ("b", 1, "c"): 7,
        ("b", 1, "c", 0): 7,
        ("b", 1, "c", 1): 8,
    }
    assert document.line(("b", 1, "c", 1)) == 8
    assert document.line(("b", 1, "missing", 5)) == 7
    assert document.line(("missing",)) == 3


def test_windows_line_ends_count_once(write_spec: Write) -> None:
    document = read(write_spec("a: 1\r\nb: 2\r\n"))
    assert document.tree == {"a": "1", "b": "2"}
    assert document.line(("b",)) == 2


TEXTS = ["-0.0650", "0.10", "007", "1,024", "1_000", "0x10", "1e3", "Yes", "off", "1991-01-21"]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_kept_as_they_stand(text: str, write_spec: Write) -> None:
    assert read(write_spec(f"a: {text}\nb: '{text}'\n{text}: c")).tree == {
        "a": text,
        "b": text,
        text: "c",
    }


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_nothing_is_none_unless_quoted(text: str, write_spec: Write) -> None:
    document = read(write_spec(f"a: {text}\nb: '{text}'\nc: [{text or '~'}]\n"))
    assert document.tree == {"a": None, "b": text, "c": [None]}


def test_utf8_with_and_without_byte_order_mark(write_spec: Write) -> None:
    text = "a: café\nb: −0.5\n"
    expected = {"a": "café", "b": "−0.5"}
    assert read(write_spec(text)).tree == expected
    assert read(write_spec(text.encode("utf-8-sig"))).tree == expected


def test_aliases_stand_for_what_they_repeat(write_spec: Write) -> None:
    document = read(write_spec("a: &x {k: 1}\nb: *x\n"))
    assert document.tree == {"a": {"k": "1"}, "b": {"k": "1"}}
    assert document.line(("b",)) == 2


def test_repeated_keys(write_spec: Write) -> None:
    document = read(write_spec("a:\n  k: 1\n  j: 2\n  k: 3\n\n  k: 4\nb: {k: 1}\n"))
    assert document.tree == {"a": {"k": "1", "j": "2"}, "b": {"k": "1"}}
    twice = "stands twice in the same mapping (first in line 2); remove one"
    assert document.faults == [(4, Fault(("a", "k"), twice)), (6, Fault(("a", "k"), twice))]


def test_faults_found_while_reading_join_the_others(write_spec: Write) -> None:
    document = read(write_spec("a: 1\nb: 2\n? [c]\n: 3\na: 4\n"))
    assert str(document.error([Fault(("b", "x"), "is wrong"), Fault((), "is poor")])) == (
        "spec.yaml:1 is poor\n"
        "spec.yaml:2 b.x: is wrong\n"
        "spec.yaml:3 a key must be a name or a code\n"
        "spec.yaml:5 a: stands twice in the same mapping (first in line 1); remove one"
    )


BAD_FILES = {
    "empty": ("", ": the file is empty"),
    "comments only": ("# nothing\n\n", ": the file is empty"),
    "latin 1": (b"a: 1\nb: caf\xe9\n", ":2 not UTF-8 text; save the file as UTF-8"),
    "utf 16": ("a: 1\n".encode("utf-16"), ":1 not UTF-8 text; save the file as UTF-8"),
    "control character": (
        "a: 1\nb: \x07\n",
        ":2 a character that no text holds (0x0007); remove it",
    ),
    "two documents": (
        "a: 1\n---\nb: 2\n",
        ":2 a second document begins here; a file holds one spec",
    ),
    "unknown alias": (
        "a: 1\nb: *c\n",
        ":2 * has a meaning of its own in YAML; put it in quotes: '*c'",
    ),
    "unclosed quote": (
        'a: "b\nc: d\n',
        ':1 the quote " that opens here is not closed; write " after the text',
    ),
    "colon in a text": (
        "a: 1\ntitle: Table 2: cars\n",
        ":2 a text that holds ': ' stands in quotes: title: 'Table 2: cars'",
    ),
    "brackets in braces": (
        "a: {AGE: 1, SEX[2]: 2}\n",
        ":1 within { } put a name that holds [ in quotes",
    ),
    "a star": (
        "a: 1\nb: {c: *, d: 2}\n",
        ":2 * has a meaning of its own in YAML; put it in quotes: '*'",
    ),
    "several stars": (
        "p: ***\n",
        ":1 * has a meaning of its own in YAML; put it in quotes: '***'",
    ),
    "a bound in braces": (
        "a: {1: >=3, 2: 4}\n",
        ":1 > has a meaning of its own in YAML; put it in quotes: '>=3'",
    ),
    "a bound on a line": (
        "a:\n  1: >=3\n  2: 4\n",
        ":2 > has a meaning of its own in YAML; put it in quotes: '>=3'",
    ),
    "a bound of two digits": (
        "1: > 10\n2: 3\n",
        ":1 > has a meaning of its own in YAML; put it in quotes: '> 10'",
    ),
    "tab": (
        "a:\n\tb: 1\n",
        ":2 a tab stands where the line is indented; indent with spaces",
    ),
    "alias of itself": ("a: 1\nb: &x [*x, *x]\n", ":2 b: nested deeper than 40 levels"),
    "alias of itself as value": ("a: &x {b: *x}\n", ":1 a: nested deeper than 40 levels"),
    "too large": (
        b"#" * (MAX_BYTES + 1),
        ": larger than 16 MiB; a spec holds published tables, not data",
    ),
}


@pytest.mark.parametrize(("text", "expected"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(text: str | bytes, expected: str, write_spec: Write) -> None:
    assert message(write_spec(text)) == f"spec.yaml{expected}"


def test_a_bound_that_yaml_takes_for_a_folded_text(write_spec: Write) -> None:
    document = read(write_spec("a:\n  1: >3\n  2: 4\n"))
    told = "nothing follows; > has a meaning of its own in YAML; put it in quotes: '>3'"
    assert document.faults == [(2, Fault(("a", "1"), told))]
    assert read(write_spec("a: >\n  some\n  text\n")).tree == {"a": "some text\n"}


FIRST = "a: 1\nb:\n"
SLIPS = {
    "tab after spaces": (
        "  c:\n  \td: 1\n",
        "4 a tab stands where the line is indented; indent with spaces",
    ),
    "tab before a key": (
        "  - c: 1\n\td: 2\n",
        "4 a tab stands where the line is indented; indent with spaces",
    ),
    "tab in a table": (
        "  table: |\n\tMale 4\n",
        "4 a tab stands where the line is indented; indent with spaces",
    ),
    "quote closed by the next": (
        '  c: {d: "Sex, e: 1}\n  f: {d: "Age", e: 2}\n',
        '3 the quote " that opens here is closed only in line 4; write " after the text',
    ),
    "apostrophe": (
        "  c: {d: 'Don't know', e: 1}\n",
        "3 the quotes ' close before 't'; put the whole text in quotes \" instead",
    ),
    "quotes in quotes": (
        '  c: "The "best" survey"\n',
        "3 the quotes \" close before 'best\"'; put the whole text in quotes ' instead",
    ),
    "quote not closed in braces": (
        "  c: {d: 'Sex, e: 1}\n",
        "3 the quote ' that opens here is not closed; write ' after the text",
    ),
    "backslash": (
        '  c: "C:\\data"\n',
        "3 a \\ has a meaning of its own within \"…\"; put the text in '…'",
    ),
    "too few spaces": (
        "  c: 1\n d: 2\n",
        "4 indented by 1 space, line 3 by 2 spaces; indent both alike",
    ),
    "too many spaces": (
        "  c: {e: 1}\n   d: 2\n",
        "4 indented by 3 spaces, line 3 by 2 spaces; indent both alike",
    ),
    "below a value": (
        "  - c: 1\n      d: 2\n",
        "4 indented further than line 3, which has a value of its own; indent both alike",
    ),
    "beside a dash": (
        "  - c: 1\n   d: 2\n",
        "4 indented by 3 spaces, line 3 by 4 spaces; indent both alike",
    ),
    "dashes not aligned": (
        "  - c: 1\n    d: 2\n - c: 1\n",
        "5 indented by 1 space, line 3 by 2 spaces; indent both alike",
    ),
    "first line of a table": (
        "  table: |\n      n\n    Male 4\n",
        "5 indented less than line 4, where its text begins; in line 3 write |2 where the first "
        "line of a text is indented more than others",
    ),
    "table not indented": (
        "  table: |\n  Male 4\n",
        "4 a text after | is indented further than line 3, where it begins",
    ),
    "colon in a label": (
        "  label: Sex: of person\n",
        "3 a text that holds ': ' stands in quotes: label: 'Sex: of person'",
    ),
    "colon in a label with an apostrophe": (
        "  label: Sex: person's\n",
        "3 a text that holds ': ' stands in quotes: label: \"Sex: person's\"",
    ),
    "colon in braces": (
        "  c: {label: Sex: of person, e: 1}\n",
        "3 within { } a comma parts entries, and a text that holds ': ' stands in quotes",
    ),
    "no comma": (
        "  c: {1: Male 2: Female}\n",
        "3 within { } a comma parts entries, and a text that holds ': ' stands in quotes",
    ),
    "no space after a colon": ("  c:{d: 1, e: 2}\n", "3 write a space after the colon of 'c:'"),
    "a line of key and value together": (
        "  c: 1\n  d:2\n  e: 3\n",
        "4 write a space after the colon of 'd:'",
    ),
    "no space after a dash": ("  -c: 1\n   d: 2\n", "3 write a space after the dash"),
    "neither": ("  c: 1\n  some words\n", "4 'some words' is neither `key: value` nor `- item`"),
    "brace not closed": (
        "  c: {d: {e: 1}\n  f: 1\n",
        "3 the { that opens here is not closed; write } after its last entry",
    ),
    "brace too many": (
        "  c: {d: 1}}\n",
        "3 } closes nothing; remove it, or put the text in quotes",
    ),
    "another bracket": (
        "  c: [1, 2}\n",
        "3 } stands where ] must close what [ opened here; write ]",
    ),
    "comment in braces": (
        "  c: {d: Sex # of person, e: 1}\n",
        "3 a # after a space begins a comment; put the text that holds it in quotes",
    ),
    "percent sign": (
        "  c: {d: %female}\n",
        "3 % has a meaning of its own in YAML; put it in quotes: '%female'",
    ),
}


@pytest.mark.parametrize(("text", "expected"), SLIPS.values(), ids=SLIPS)
def test_slips_of_writing(text: str, expected: str, write_spec: Write) -> None:
    assert message(write_spec(FIRST + text)) == f"spec.yaml:{expected}"


COMMAS = {
    "c: {1:Male, 2: Female}": (("c", "1"), "write a space after the colon: 1: Male"),
    "c: {d: Sex, at birth, e: 1}": (
        ("c", "d"),
        "within brackets a comma parts entries; put the text in quotes: 'Sex, at birth'",
    ),
    "c: {1: 1,040, 2: 3}": (
        ("c", "1"),
        "within brackets a comma parts entries; write 1040 for 1,040",
    ),
    "c: {1: -0,123, 2: 3}": (
        ("c", "1"),
        "within brackets a comma parts entries; write -0.123 for -0,123",
    ),
    "c: {1: 12,5}": (("c", "1"), "within brackets a comma parts entries; write 12.5 for 12,5"),
    "c: [0, 1,000]": (("c",), "within brackets a comma parts entries; write 1000 for 1,000"),
    "c: [1,040, N]": (("c",), "within brackets a comma parts entries; write 1040 for 1,040"),
    "c: [0,85, 1,23]": (("c",), "within brackets a comma parts entries; write 0.85 for 0,85"),
    "table: Male 4\n  Female 5": (
        ("table",),
        "write `table: |`, so that the lines of the table are kept",
    ),
}


@pytest.mark.parametrize(("text", "expected"), COMMAS.items(), ids=COMMAS)
def test_what_yaml_reads_otherwise(
    text: str, expected: tuple[tuple[str], str], write_spec: Write
) -> None:
    document = read(write_spec(f"a: 1\n{text}\n"))
    place, told = expected
    assert document.faults == [(2, Fault(place, told))]
    follows = [Fault((*place, "x"), "is wrong"), Fault(("a",), "do not add up", clash=True)]
    assert str(document.error(follows)) == str(document.error([]))


@pytest.mark.parametrize(
    "text",
    [
        "c: [1,2,3]",
        "c: [20, 10,10,10, 5]",
        "c: [1, 2,3]",
        "c: {1, 2, 3}",
        "c: {1: , 2: }",
        "c: {'a:b': , 1: x}",
        "c: {a:b: 1}",
    ],
)
def test_commas_and_colons_that_stand_as_meant(text: str, write_spec: Write) -> None:
    assert not read(write_spec(text)).faults


def test_the_largest_file_is_read(write_spec: Write) -> None:
    path = write_spec(b"a: 1\n".ljust(MAX_BYTES - 1, b"#") + b"\n")
    assert path.stat().st_size == MAX_BYTES
    assert read(path).tree == {"a": "1"}


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.yaml").mkdir()
    assert message("nowhere.yaml") == "nowhere.yaml: cannot be read: No such file or directory"
    assert message("folder.yaml") == "folder.yaml: cannot be read: Is a directory"


def test_nesting_has_a_limit(write_spec: Write) -> None:
    def nested(depth: int) -> str:
        return "[" * depth + "x" + "]" * depth

    tree = read(write_spec(nested(MAX_DEPTH))).tree
    for _ in range(MAX_DEPTH):
        (tree,) = tree
    assert tree == "x"
    assert message(write_spec(nested(MAX_DEPTH + 1))).endswith(" nested deeper than 40 levels")


READ = """
import sys
from evosynth.document import SpecError, read
try:
    read("spec.yaml")
except SpecError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("opening", ["[", "- ", "{a: "])
def test_very_deep_nesting_does_not_crash_the_interpreter(opening: str, write_spec: Write) -> None:
    write_spec(opening * 100_000)
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.strip()[-28:]) == (1, "nested deeper than 40 levels")


def test_a_billion_laughs_are_cut_short(write_spec: Write) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    path = write_spec("\n".join(lines))
    began = time.monotonic()
    assert message(path) == (
        "spec.yaml:6 f: more than 1,000,000 nodes once its aliases are expanded"
    )
    assert time.monotonic() - began < 30


TAGS = {
    "!!python/object/apply:os.mkdir [pwned]": ["pwned"],
    "!!python/object/new:os.mkdir [pwned]": ["pwned"],
    "!!python/object/apply:os.mkdir {args: [pwned]}": {"args": ["pwned"]},
    "!!python/name:os.mkdir pwned": "pwned",
    "!!python/module:antigravity x": "x",
    "!!float 0.10": "0.10",
}


@pytest.mark.parametrize(("text", "tree"), TAGS.items())
def test_tags_build_nothing(text: str, tree: object, write_spec: Write) -> None:
    path = write_spec(f"a: {text}\n")
    assert read(path).tree == {"a": tree}
    assert [found.name for found in Path().iterdir()] == ["spec.yaml"]
    assert "antigravity" not in sys.modules


@given(st.binary(max_size=40) | st.text("ab1:-?,[]{}&*!|>'\"%@#~<= \t\n", max_size=40))
def test_any_file_is_a_document_or_a_spec_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        document = read(path)
    except SpecError as error:
        assert all(line.startswith(str(path)) for line in str(error).splitlines())
    else:
        assert isinstance(document, Document)
        assert document.lines[()] >= 1
