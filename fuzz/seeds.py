#!/usr/bin/env python3
"""Lays the seeds of every fuzz target, made from the fixtures, and a dictionary of the words in them.

    seeds.py FOLDER     writes FOLDER/<target>/* and FOLDER/words.dict
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# In the order of Dialect::ALL: the diff target takes the first byte modulo five.
DIALECTS = ["capability", "tool", "skill", "agent", "mcp-tools"]
FIRST_BYTE = b"defgh"
MOST_WORDS = 400
MARKS = ['"${', '"*a', '"&a ', "\\\\ud800", "1e999", "9007199254740993", "\\\\x00", "---", "!!str ", "<<: ", "$ref", "#/$defs/"]


def target_of(dialect: str) -> str:
    return dialect.replace("-", "_")


def dialect_of(folder: str) -> str | None:
    return next((dialect for dialect in DIALECTS if target_of(dialect) == target_of(folder)), None)


def schemas_in(value: object) -> list[object]:
    """Finds the schemas in a manifest of any dialect."""
    if isinstance(value, list):
        return [schema for item in value for schema in schemas_in(item)]
    if not isinstance(value, dict):
        return []
    names = ("input_schema", "inputSchema", "parameters", "output_schema", "outputSchema", "schema")
    found = [value[name] for name in names if isinstance(value.get(name), dict)]
    return found + [schema for item in value.values() for schema in schemas_in(item)]


class Seeds:
    """Writes seeds, each under the hash of its bytes so that none is there twice."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        for target in ("read", "yaml", "canonical", "diff", "schema", *map(target_of, DIALECTS)):
            (folder / target).mkdir(parents=True)

    def add(self, target: str, data: bytes) -> None:
        (self.folder / target / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def main() -> None:
    seeds = Seeds(Path(sys.argv[1]))
    words: Counter[str] = Counter()
    schemas: list[bytes] = []
    scaffolds = ROOT.glob("crates/manifest/src/dialect/*/scaffold.yaml")
    inputs = [path for path in ROOT.glob("fixtures/**/*") if re.match(r"(input|old|new|model)\.(json|ya?ml)$", path.name)]
    for path in sorted([*inputs, *scaffolds]):
        data = path.read_bytes()
        text = data.decode(errors="replace")
        words.update(re.findall(r'(?m)(?:^[\s-]*|["{, ])([A-Za-z$][\w$-]{2,30})"?:', text))
        if path.suffix == ".json":
            try:
                schemas += [json.dumps(schema).encode() for schema in schemas_in(json.loads(data))]
            except ValueError:
                pass
        if path.name == "model.json":
            continue
        seeds.add("read", data)
        if path.suffix != ".json":
            seeds.add("yaml", data)
        seeds.add("canonical", data)
        parts = path.relative_to(ROOT).parts
        dialect = dialect_of(parts[1] if parts[0] == "fixtures" else parts[-2])
        if dialect:
            first = FIRST_BYTE[DIALECTS.index(dialect) : DIALECTS.index(dialect) + 1]
            seeds.add(target_of(dialect), data)
            if path.stem == "old":
                new = next(path.parent.glob("new.*"))
                seeds.add("diff", first + data + b"\0" + new.read_bytes())
            else:
                seeds.add("diff", first + data + b"\0" + data)
    schemas = sorted(set(schemas)) or [b'{"type":"object"}']
    for one, other in zip(schemas, [*schemas[1:], schemas[0]]):
        seeds.add("schema", one + b"\0" + other)
    common = [f'"{word}"' for word, _ in words.most_common(MOST_WORDS)]
    marks = ['"{}"'.format(mark.lstrip('"')) for mark in MARKS]
    (seeds.folder / "words.dict").write_text("\n".join([*common, *marks]) + "\n")


if __name__ == "__main__":
    main()
