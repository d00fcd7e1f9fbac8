"""Makes what the benchmarks read: many tool manifests, large capability manifests, and two versions
of one. The same seed gives the same bytes, so that two runs measure the same thing.
"""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

NOUNS = ["file", "mail", "note", "image", "report", "invoice", "ticket", "event", "contact", "page",
         "branch", "build", "sensor", "recipe", "route", "table", "queue", "policy", "device", "label"]
VERBS = ["read", "write", "list", "search", "convert", "merge", "split", "send", "fetch", "index",
         "archive", "rename", "compare", "render", "export", "import", "watch", "count", "tag", "check"]
PHRASES = ["Looks at every part of it and says what it found.", "支持多种格式,自动识别编码。",
           "Never overwrites; picks a new name and says which.", "结果按相关性排序。",
           "Takes a path inside the allowed folders.", "Answers within the time the caller gives.",
           "大文件会被分段处理。", "Gives the number of items it has touched."]
TYPES = ["string", "integer", "number", "boolean", "array"]


def property_lines(rng: random.Random, name: str, indent: str) -> list[str]:
    """Writes one property of a schema the way a person writes YAML."""
    kind = rng.choice(TYPES)
    lines = [f"{indent}{name}:", f"{indent}  type: {kind}"]
    if rng.random() < 0.7:
        lines.append(f"{indent}  description: {rng.choice(PHRASES)}")
    if kind == "string":
        extra = rng.choice(["default: utf8", "format: date-time", "pattern: '^[a-z][a-z0-9_]{0,31}$'",
                            "enum: [none, gzip, zstd]", "minLength: 1"])
        lines.append(f"{indent}  {extra}")
    elif kind in ("integer", "number"):
        lines += [f"{indent}  minimum: {rng.randrange(3)}", f"{indent}  maximum: {rng.randrange(10, 5000)}"]
    elif kind == "boolean":
        lines.append(f"{indent}  default: {rng.choice(['true', 'false'])}")
    else:
        lines += [f"{indent}  items:", f"{indent}    type: {rng.choice(TYPES[:4])}", f"{indent}  maxItems: 64"]
    return lines


def command_lines(rng: random.Random, name: str) -> list[str]:
    """Writes one command of a tool."""
    fields = rng.sample(NOUNS, rng.randrange(2, 5))
    lines = [f"  - name: {name}", "    description: |"]
    lines += [f"      {rng.choice(PHRASES)}" for _ in range(rng.randrange(1, 4))]
    lines += ["    parameters:", "      type: object", "      properties:"]
    for field in fields:
        lines += property_lines(rng, f"{field}_{rng.choice(['id', 'path', 'name', 'count'])}", "        ")
    # What is required has no default: leave those out that got one.
    needed, name_line = [], ""
    for line in lines + ["        end:"]:
        if line.startswith("        ") and line[8] != " ":
            if name_line:
                needed.append(name_line)
            name_line = line.strip(" :")
        elif "default:" in line:
            name_line = ""
    if needed:
        lines.append(f"      required: [{', '.join(needed[: rng.randrange(1, len(needed) + 1)])}]")
    if rng.random() < 0.5:
        lines.append(f"    example: '{name} with {fields[0]} 17'")
    return lines


def tool_manifest(rng: random.Random, number: int, size: int) -> str:
    """Writes a valid tool manifest of about `size` bytes."""
    runtime, ending = rng.choice([("python", ".py"), ("javascript", ".js"), ("native", "")])
    name = f"{rng.choice(NOUNS)}_{rng.choice(VERBS)}_{number:05}"
    lines = [
        "# Checked before it is loaded; see the tool's own page for examples.",
        'manifest_version: "1.0.0"',
        f"name: {name}",
        f"display_name: {rng.choice(['文件工具', '搜索助手', 'Mail helper', 'Report maker'])} {number}",
        f"description: {rng.choice(PHRASES)}",
        "author: Example Works",
        f'version: "{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(99)}"',
        "",
        f"type: {rng.choice(['sync', 'async', 'service'])}",
        f"runtime: {runtime}",
        f"entry: implementations/{name}{ending}",
        f"timeout: {rng.randrange(1, 120) * 1000}",
        "",
        "config_schema:",
        "  api_key:",
        "    type: string",
        "    description: Key of the service behind it",
        "    required: true",
        "    secret: true",
        "  max_results:",
        "    type: integer",
        f"    default: {rng.randrange(1, 100)}",
        "",
        "commands:",
    ]
    tail = [f"tags: [{', '.join(rng.sample(NOUNS, 3))}]", "enabled: true", ""]
    verbs = rng.sample(VERBS, len(VERBS))
    length = sum(len(line.encode()) + 1 for line in lines + tail)
    while verbs and length < size - 250:
        more = command_lines(rng, f"{verbs.pop()}_{rng.choice(NOUNS)}")
        length += sum(len(line.encode()) + 1 for line in more)
        lines += more
    return "\n".join(lines + tail)


def tool_folder(folder: Path, count: int, size: int = 3072) -> int:
    """Writes `count` tool manifests into a folder of their own; gives their bytes."""
    folder.mkdir(parents=True)
    rng = random.Random(1)
    total = 0
    for number in range(count):
        text = tool_manifest(rng, number, size).encode()
        (folder / f"tool_{number:05}.yaml").write_bytes(text)
        total += len(text)
    return total


SCOPES = [("notification:send", "low"), ("filesystem:read", "medium"), ("clipboard:read", "medium"),
          ("location:read", "high"), ("network:http", "medium"), ("mail:read", "low"), ("mail:send", "high"),
          ("calendar:read", "low")]


def json_property(rng: random.Random) -> dict:
    """Makes one property of an input schema."""
    return rng.choice([
        lambda: {"type": "string", "minLength": 1, "maxLength": rng.randrange(10, 900)},
        lambda: {"type": "string", "format": "uri"},
        lambda: {"type": "string", "pattern": f"^[a-z]{{1,{rng.randrange(2, 60)}}}$", "description": rng.choice(PHRASES)},
        lambda: {"type": "integer", "minimum": 0, "maximum": rng.randrange(1, 100000)},
        lambda: {"type": "number", "exclusiveMinimum": rng.randrange(100) / 8, "default": 17.25},
        lambda: {"enum": rng.sample(NOUNS, 4), "description": "one of a few"},
        lambda: {"type": "array", "items": {"type": "string"}, "maxItems": rng.randrange(1, 50)},
        lambda: {"type": "object", "properties": {"lang": {"type": "string"}, "depth": {"type": "integer"}},
                 "required": ["lang"], "additionalProperties": False},
        lambda: {"oneOf": [{"type": "null"}, {"type": "string", "maxLength": rng.randrange(5, 99)}]},
        lambda: {"type": "boolean", "default": False},
    ])()


def json_tool(rng: random.Random, number: int) -> dict:
    """Makes one tool of a capability manifest."""
    verb, noun = rng.choice(VERBS), rng.choice(NOUNS)
    properties = {f"{field}_{i}": json_property(rng) for i, field in enumerate(rng.sample(NOUNS, rng.randrange(3, 7)))}
    return {
        "name": f"{verb}_{noun}_{number}",
        "description_i18n_key": f"agent.tools.{verb}_{noun}_{number}.desc",
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": sorted(rng.sample(list(properties), 2)),
            "additionalProperties": False,
        },
        "permission_scope": rng.choice(SCOPES)[0],
        "timeout_ms": rng.randrange(1, 60) * 1000,
    }


def written(manifest: dict) -> bytes:
    return json.dumps(manifest, ensure_ascii=False, separators=(",", ":")).encode()


def capability_manifest(size: int) -> dict:
    """Makes a capability manifest of at most `size` bytes, and within one tool of it."""
    rng = random.Random(size)
    manifest: dict = {
        "schema_version": "1.0",
        "agent_version": "1.4.2",
        "tools": [],
        "permission_scopes": [
            {"id": scope, "label_i18n_key": f"agent.scopes.{scope.replace(':', '_')}.label", "sensitivity": level}
            for scope, level in SCOPES
        ],
        "capability_flags": {"supports_streaming": True, "supports_artifacts": True,
                             "supports_voice": False, "supports_group_chat": False},
    }
    length = len(written(manifest))
    while True:
        tool = json_tool(rng, len(manifest["tools"]))
        length += len(written(tool)) + 1
        if length > size:
            return manifest
        manifest["tools"].append(tool)


def changed_tool(tool: dict, way: int, number: int) -> list[dict]:
    """Changes a tool in one of twelve ways; gives what stands in its place."""
    schema = tool["input_schema"]
    properties = schema["properties"]
    first = next(iter(properties))
    match way % 12:
        case 0:
            return []
        case 1:
            tool["name"] += "_v2"
        case 2:
            del properties[first]
            schema["required"] = [name for name in schema["required"] if name != first]
        case 3:
            properties[first] = {"type": "object", "additionalProperties": False}
        case 4:
            schema["required"] = sorted(properties)
        case 5:
            properties["extra"] = {"type": "string", "maxLength": 5}
        case 6:
            properties[first]["enum"] = ["a", "b"]
        case 7:
            tool["permission_scope"] = next(scope for scope, _ in SCOPES if scope != tool["permission_scope"])
        case 8:
            tool["timeout_ms"] += 500
        case 9:
            tool["description_i18n_key"] += ".new"
        case 10:
            properties[first]["description"] = "says something else"
        case 11:
            again = copy.deepcopy(tool)
            again["name"] = f"copied_tool_{number}"
            return [tool, again]
    return [tool]


def next_version(manifest: dict, share: float = 0.05) -> dict:
    """Makes the next version: about `share` of the tools changed, each in another way."""
    rng = random.Random(7)
    new = copy.deepcopy(manifest)
    tools = new["tools"]
    chosen = set(rng.sample(range(len(tools)), max(1, round(len(tools) * share))))
    ways = iter(range(len(tools)))
    new["tools"] = []
    for number, tool in enumerate(tools):
        new["tools"] += changed_tool(tool, next(ways), number) if number in chosen else [tool]
    new["agent_version"] = "1.5.0"
    new["capability_flags"]["supports_voice"] = True
    new["capability_flags"]["supports_streaming"] = False
    return new
