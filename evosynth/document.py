"""Reads YAML from strangers: text of every scalar kept, line of every node kept, size bounded."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import yaml

from evosynth.errors import Fault, Path, SpecError, shown
from evosynth.yaml_faults import explain, in_quotes

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
    misread: set[Path] = field(default_factory=set)
    """What stands otherwise than it was meant, of which nothing more is told."""

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
        located = [
            (self.line(fault.path), fault)
            for fault in faults
            if not (self.misread and (fault.clash or self._misread(fault.path)))
        ]
        return SpecError(self.file, [*self.faults, *located])

    def _misread(self, path: Path) -> bool:
        return any(path[:end] in self.misread for end in range(len(path) + 1))


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
        line, problem = explain(error, text, _LOADER)
        raise SpecError(file, [(line, Fault((), problem))]) from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        problem = f"a character that no text holds ({error.character:#06x}); remove it"
        raise SpecError(file, [(line, Fault((), problem))]) from error
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


_WHOLE = re.compile(r"[-+\u2212]?\d+")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def _plain(node: yaml.Node) -> bool:
    """Whether a node is a text without quotes."""
    return isinstance(node, yaml.ScalarNode) and not node.style


def _comma(before: str, after: str) -> str:
    """Say what to do about a comma within brackets that was meant to be part of a text."""
    whole, text = shown(before + after), after[1:]
    if not (_WHOLE.fullmatch(before) and _DIGITS.fullmatch(text)):
        return f"within brackets a comma parts entries; put the text in quotes: '{whole}'"
    thousands = len(text.partition(".")[0]) == 3 and before not in {"0", "-0"}
    meant = shown(before + text if thousands else f"{before}.{text}")
    return f"within brackets a comma parts entries; write {meant} for {whole}"


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
                fault = Fault(path, f"nothing follows; {in_quotes(figure)}")
                self.document.faults.append((node.start_mark.line + 1, fault))
                return figure
            if node.style == "|":
                self.document.blocks[path] = node.start_mark.line + 2
            empty = not node.style and node.value in {"", "~", "null", "Null", "NULL"}
            return None if empty else node.value
        if isinstance(node, yaml.SequenceNode):
            self._run_together(node, path)
            return [
                self.build(item, (*path, index), depth + 1) for index, item in enumerate(node.value)
            ]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, path, depth)

    def _misreading(self, node: yaml.Node, path: Path, message: str) -> None:
        self.document.faults.append((node.start_mark.line + 1, Fault(path, message)))
        self.document.misread.add(path)

    def _run_together(self, node: yaml.SequenceNode, path: Path) -> None:
        """Tell of numbers whose commas were taken for those between items: [1,040, 2,200]."""
        items = node.value if node.flow_style and all(map(_plain, node.value)) else []
        groups = [items[:1]]
        for before, item in pairwise(items):
            if self._between(before, item) == ",":
                groups[-1].append(item)
            else:
                groups.append([item])
        pairs = [[item.value for item in group] for group in groups if len(group) > 1]
        if len(groups) < 2 or not all(
            len(pair) == 2 and _WHOLE.fullmatch(pair[0]) and _DIGITS.fullmatch(pair[1])
            for pair in pairs
        ):
            return
        thousands = all(re.fullmatch(r"\d{3}(?:\.\d+)?", end) for _, end in pairs)
        if pairs and (thousands or len(pairs) == len(groups)):
            first = next(group[0] for group in groups if len(group) > 1)
            self._misreading(first, path, _comma(pairs[0][0], f",{pairs[0][1]}"))

    def _between(self, one: yaml.Node, other: yaml.Node) -> str:
        """Return what stands between two nodes of the same line."""
        end, start = one.end_mark, other.start_mark
        return self._source[end.line][end.column : start.column] if end.line == start.line else "\n"

    def _entries(
        self, node: yaml.MappingNode, path: Path
    ) -> Iterator[tuple[yaml.Node, Any, yaml.Node]]:
        """List keys and values; tell where a comma or a colon was taken for another."""
        last: tuple[yaml.Node, yaml.Node] | None = None
        for key_node, value_node in node.value:
            if node.flow_style and _plain(key_node) and _plain(value_node) and not value_node.value:
                key, colon, value = key_node.value.partition(":")
                if key and colon and value:
                    message = f"write a space after the colon: {shown(key)}: {shown(value)}"
                    self._misreading(key_node, (*path, key), message)
                    yield (
                        key_node,
                        key,
                        yaml.ScalarNode("", value, key_node.start_mark, key_node.end_mark),
                    )
                    continue
                rest = self._source[key_node.end_mark.line][key_node.end_mark.column :]
                if last and _plain(last[1]) and last[1].value and not rest.lstrip().startswith(":"):
                    gap = self._between(last[1], key_node)
                    message = _comma(last[1].value, gap + key_node.value)
                    self._misreading(last[1], (*path, last[0].value), message)
                    continue
            last = (key_node, value_node)
            yield key_node, key_node.value, value_node

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[Hashable, Any]:
        built: dict[Hashable, Any] = {}
        for key_node, key, value_node in self._entries(node, path):
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                fault = Fault(path, "a key must be a name or a code")
                self.document.faults.append((line, fault))
                continue
            here = (*path, key)
            if key in built:
                first = self.document.lines[here]
                message = f"stands twice in the same mapping (first in line {first}); remove one"
                self.document.faults.append((line, Fault(here, message)))
                continue
            built[key] = self.build(value_node, here, depth + 1)
            several = value_node.end_mark.line > value_node.start_mark.line
            if key == "table" and _plain(value_node) and several:
                message = "write `table: |`, so that the lines of the table are kept"
                self._misreading(key_node, here, message)
            self.document.lines[here] = line
        return built
