"""Reads YAML from strangers: text of every scalar kept, line of every node kept, size bounded."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

import yaml

from evosynth.errors import Fault, Path, SpecError, shown

MAX_BYTES = 16 * 2**20
MAX_NODES = 1_000_000
MAX_DEPTH = 40

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Document:
    """A spec file as nested dicts, lists and *texts*, with the line of each node."""

    file: str
    source: bytes
    tree: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    blocks: dict[Path, int] = field(default_factory=dict)
    """Line on which each block of text begins."""
    faults: list[tuple[int | None, Fault]] = field(default_factory=list)

    def line(self, path: Path) -> int | None:
        """Line of the node at ``path``, or of the nearest node above it."""
        for end in range(len(path), -1, -1):
            here = path[:end]
            if here in self.blocks and end < len(path) and isinstance(path[end], int):
                return self.blocks[here] + int(path[end])
            if here in self.lines:
                return self.lines[here]
        return None

    def error(self, faults: list[Fault]) -> SpecError:
        """Join faults, those found while reading among them, with their lines."""
        located = [(self.line(fault.path), fault) for fault in faults]
        return SpecError(self.file, [*self.faults, *located])


def read(path: str | os.PathLike[str]) -> Document:
    """Read a YAML file without building any Python object that it names."""
    file = os.fspath(path)
    try:
        with FilePath(file).open("rb") as stream:
            source = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpecError(
            file, [(None, Fault((), f"cannot be read: {error.strerror or error}"))]
        ) from error
    document = Document(file, source)
    if len(source) > MAX_BYTES:
        limit = f"larger than {MAX_BYTES // 2**20} MiB; a spec holds published tables, not data"
        raise document.error([Fault((), limit)])
    try:
        text = source.decode("utf-8-sig")
        if _too_deep(text):
            raise document.error([Fault((), f"nested deeper than {MAX_DEPTH} levels")])
        node = yaml.compose(text, Loader=_LOADER)
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        raise SpecError(
            file, [(line, Fault((), "not UTF-8 text; save the file as UTF-8"))]
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = _unquoted(error, text) or (
            " ".join(filter(None, [error.context, error.problem])) + _remedy(error, text)
        )
        raise SpecError(
            file, [(mark.line + 1 if mark else None, Fault((), f"not valid YAML: {problem}"))]
        ) from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        problem = str(error).splitlines()[0]
        raise SpecError(file, [(line, Fault((), f"not valid YAML: {problem}"))]) from error
    except yaml.YAMLError as error:
        raise document.error([Fault((), f"not valid YAML: {error}")]) from error
    if node is None:
        raise document.error([Fault((), "the file is empty")])
    document.tree = _Builder(document).build(node, (), 0)
    return document


def _too_deep(text: str) -> bool:
    """Whether collections nest beyond reason; composing them would exhaust the C stack."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH + 1:
                return True
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return False


_REMEDIES = {
    "did not find expected key": "; after `table:` write |2 where the first line is indented more",
    "mapping values are not allowed": "; put a text that holds ': ' in quotes",
    "',' or '}'": "; inside { } put a name that holds [ or ] in quotes",
}


def _remedy(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark
    lines = text.split("\n")
    if mark and mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        return "; indent with spaces, not tabs"
    return next((hint for part, hint in _REMEDIES.items() if part in (error.problem or "")), "")


_MARK = re.compile(r"[*>%@`&|][^,\]}#]*")
"""A figure that begins with a sign of YAML's own: a star, or a bound such as >=3."""


def _unquoted(error: yaml.MarkedYAMLError, text: str) -> str:
    """Say that a figure must stand in quotes, if that is what is wrong."""
    scanning = ("scanning an alias", "scanning an anchor", "scanning a block scalar", "next token")
    lines = text.split("\n")
    if (error.context or "").endswith(scanning):
        for mark in filter(None, (error.context_mark, error.problem_mark)):
            found = _MARK.match(lines[mark.line], mark.column) if mark.line < len(lines) else None
            if found:
                return _in_quotes(found.group())
    return ""


def _in_quotes(figure: str) -> str:
    plain = shown(figure.strip())
    return f"{plain[:1]} has a meaning of its own in YAML; put the figure in quotes: '{plain}'"


class _Builder:
    """Turns YAML nodes into plain values, counting what aliases expand to."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = 0

    @cached_property
    def _source(self) -> list[str]:
        return self.document.source.decode("utf-8-sig").split("\n")

    def build(self, node: yaml.Node, path: Path, depth: int) -> Any:
        self.nodes += 1
        self.document.lines[path] = node.start_mark.line + 1
        if self.nodes > MAX_NODES:
            raise self.document.error(
                [Fault(path[:1], f"more than {MAX_NODES:,} nodes once its aliases are expanded")]
            )
        if depth > MAX_DEPTH:
            raise self.document.error([Fault(path[:1], f"nested deeper than {MAX_DEPTH} levels")])
        if isinstance(node, yaml.ScalarNode):
            if node.style == ">" and not node.value.strip():
                figure = self._source[node.start_mark.line][node.start_mark.column :].strip()
                fault = Fault(path, f"nothing follows; {_in_quotes(figure)}")
                self.document.faults.append((node.start_mark.line + 1, fault))
                return figure
            if node.style == "|":
                self.document.blocks[path] = node.start_mark.line + 2
            empty = not node.style and node.value in {"", "~", "null", "Null", "NULL"}
            return None if empty else node.value
        if isinstance(node, yaml.SequenceNode):
            return [
                self.build(item, (*path, index), depth + 1) for index, item in enumerate(node.value)
            ]
        return self._mapping(node, path, depth)

    def _mapping(self, node: yaml.Node, path: Path, depth: int) -> dict[Hashable, Any]:
        built: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                fault = Fault(path, "a key must be a name or a code")
                self.document.faults.append((line, fault))
                continue
            key = key_node.value
            here = (*path, key)
            if key in built:
                first = self.document.lines[here]
                message = f"stands twice in the same mapping (first in line {first}); remove one"
                self.document.faults.append((line, Fault(here, message)))
                continue
            built[key] = self.build(value_node, here, depth + 1)
            self.document.lines[here] = line
        return built
