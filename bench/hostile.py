"""Makes inputs that mean harm: each must be refused quickly and in little memory.

`inputs()` gives them one by one as (name, file name, bytes or size of an empty file). Sizes sit just
below a cap where that makes a reader do the most work, and above it where the cap itself is tried.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

JSON_CAP = 1 << 19
YAML_CAP = 1 << 19
CAPABILITY_CAP = 1 << 17
DOCUMENT_CAP = 8 << 20


def dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def filled(item: bytes, size: int, before: bytes = b"", after: bytes = b"") -> bytes:
    """Repeats an item between two ends up to a size."""
    return before + item * ((size - len(before) - len(after)) // len(item)) + after


def listed(make, size: int) -> list:
    """Makes numbered items until their JSON fills a size."""
    items, length = [], 0
    while length < size:
        item = make(len(items))
        length += len(dumps(item)) + 1
        items.append(item)
    return items


def capability(tools: list, scopes: list | None = None) -> dict:
    scopes = scopes or [{"id": "network:http", "label_i18n_key": "k", "sensitivity": "medium"}]
    flags = {f"supports_{flag}": False for flag in ("streaming", "artifacts", "voice", "group_chat")}
    return {"schema_version": "1.0", "agent_version": "1.0.0", "tools": tools,
            "permission_scopes": scopes, "capability_flags": flags}


def capability_tool(number: int, schema: dict | None = None, scope: str = "network:http") -> dict:
    schema = schema or {"type": "object", "additionalProperties": False}
    return {"name": f"tool_{number}", "description_i18n_key": "k", "input_schema": schema, "permission_scope": scope}


def schema_of(properties: dict, **more: object) -> dict:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def tool(**fields: object) -> dict:
    return {"manifest_version": "1.0.0", "name": "t", "display_name": "T", "description": "d",
            "entry": "t.py", "commands": [], **fields}


def command(number: int, **fields: object) -> dict:
    return {"name": f"c{number}", "description": "d", **fields}


def agent(**fields: object) -> dict:
    return {"name": "a", "version": "1.0.0", "description": "d", "mcpServers": {}, "tools": [], "allowedTools": [], **fields}


def skill(**fields: object) -> dict:
    return {"id": "com.example.s-v1", "name": "s", "version": "1.0.0", "capability_type": "api", "description": "d",
            "endpoint": {"url": "https://example.com/s"}, "inputs": [], "output": {"type": "object"}, **fields}


def texts() -> Iterator[tuple[str, str, bytes | int]]:
    """What is wrong before there is any tree."""
    yield "1 GiB of zeros, JSON", "huge.json", 1 << 30
    yield "1 GiB of zeros, YAML", "huge.yaml", 1 << 30
    yield "binary", "binary.json", random.Random(1).randbytes(JSON_CAP)
    yield "invalid UTF-8 at the end", "utf8.json", filled(b" ", JSON_CAP, b"{", b"\xff")
    yield "one newline after another", "newlines.yaml", b"\n" * YAML_CAP
    yield "512 KiB of [", "open.json", b"[" * JSON_CAP
    yield "512 KiB of {\"a\":", "open_objects.json", filled(b'{"a":', JSON_CAP)
    yield "512 KiB of ] after [", "close.json", filled(b"]", JSON_CAP, b"[")
    yield "YAML flow, all [", "flow.yaml", b"[" * YAML_CAP
    yield "YAML flow, all {a: ", "flow_maps.yaml", filled(b"{a: ", YAML_CAP)
    yield "YAML, each line deeper", "deep.yaml", b"".join(b" " * i + b"a:\n" for i in range(1000))
    yield "YAML, all - on one line", "dashes.yaml", b"- " * (YAML_CAP // 2)
    yield "YAML, all ? on one line", "questions.yaml", b"? " * (YAML_CAP // 2)
    yield "duplicate keys", "duplicates.json", filled(b'"a":1,', JSON_CAP, b"{", b'"a":1}')
    yield "pairs of duplicate keys", "pairs.json", dumps({"tools": []})[:-1] + b"," + b",".join(
        b'"k%d":1' % (i % 40_000) for i in range(80_000)) + b"}"
    yield "duplicate keys, YAML", "duplicates.yaml", filled(b"a: 1\n", YAML_CAP)
    yield "more values than the cap", "values.json", filled(b"1,", JSON_CAP, b"[", b"1]")
    yield "empty objects", "objects.json", filled(b"{},", JSON_CAP, b"[", b"{}]")
    yield "non-finite numbers", "infinite.json", filled(b"1e999,", JSON_CAP, b"[", b"1]")
    yield "integers beyond 2^53", "integers.json", filled(b"9007199254740993,", JSON_CAP, b"[", b"1]")
    yield "one number of 512 KiB", "digits.json", b"1" * JSON_CAP
    yield "one exponent of 512 KiB", "exponent.json", b"1e" + b"0" * (JSON_CAP - 3) + b"1"
    yield "lone surrogates", "surrogates.json", filled(b"\\ud800", JSON_CAP, b'["', b'"]')
    yield "lone surrogates, one a string", "surrogate_strings.json", filled(b'"\\udfff",', JSON_CAP, b"[", b"1]")
    yield "trailing commas", "commas.json", filled(b"[1,],", JSON_CAP, b"[", b"1]")
    yield "a string that never ends", "string.json", b'{"name":"' + b"a" * (JSON_CAP - 9)
    for name, item in (("numbers", b"1,"), ("tiny objects", b'{"a":1},'), ("tiny arrays", b"[1],"), ("texts", b'"a",'),
                       ("long keys", b'{"' + b"k" * 300 + b'":{}},'), ("escapes", b'"\\u0041\\u00e9\\ud83d\\ude00",')):
        yield f"8 MiB of {name} to hash", "document.json", filled(item, DOCUMENT_CAP, b"[", b"]")
    yield "8 MiB of one text to hash", "document_text.json", filled(b"\\n", DOCUMENT_CAP, b'["', b'",]')
    values = filled(b'{"a":1},', 2 * 124_990, b"[", b"]")
    yield "as many values as there may be to hash", "document_values.json", values * 8
    yield "JSON on one line of YAML", "line.yaml", filled(b'{"name":1,"x":"\xe6\x96\x87"},', YAML_CAP - 200, b'{"commands":[', b"1]}")
    yield "escapes", "escapes.json", filled(b"\\u0041", JSON_CAP, b'{"name":"', b'"}')
    yield "control characters, YAML", "controls.yaml", filled(b"\x01", YAML_CAP, b"name: ")
    yield "tabs, YAML", "tabs.yaml", filled(b"\t\n", YAML_CAP, b"name:\n")
    yield "not JSON, not YAML", "words.txt.yaml", filled(b"]}:,[ ", YAML_CAP)
    yield "documents, YAML", "documents.yaml", filled(b"--- a\n", YAML_CAP)
    yield "tags, YAML", "tags.yaml", filled(b"- !!str a\n", YAML_CAP)
    yield "complex keys, YAML", "complex.yaml", filled(b"? [a, b]\n: c\n", YAML_CAP)
    yield "a plain scalar over many lines", "plain.yaml", filled(b"  word\n", YAML_CAP, b"name:\n")
    yield "a quoted scalar over many lines", "quoted.yaml", filled(b"  word\n", YAML_CAP, b'name: "')
    yield "a long key, YAML", "key.yaml", b"a" * (YAML_CAP - 4) + b": 1"
    yield "comments, YAML", "comments.yaml", filled(b"# a\n", YAML_CAP)
    yield "directives, YAML", "directives.yaml", filled(b"%TAG !e! tag:e,2000:\n", YAML_CAP, b"", b"--- a\n")


def aliases() -> Iterator[tuple[str, str, bytes]]:
    """What grows when it is read."""
    laughs = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    laughs += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    yield "billion laughs", "laughs.yaml", "\n".join(laughs).encode()
    wide = "a: &a [" + "x, " * 60_000 + "x]\nb: [" + "*a, " * 60_000 + "*a]\n"
    yield "a wide alias, many times", "wide.yaml", wide.encode()
    long = "a: &a " + "x" * 200_000 + "\nb: [" + "*a, " * 70_000 + "*a]\n"
    yield "a long alias, many times", "long.yaml", long.encode()
    yield "an alias of itself", "itself.yaml", b"a: &a [*a, *a]\n"
    yield "anchors without end", "anchors.yaml", b"".join(b"- &a%d x\n" % i for i in range(40_000))
    yield "aliases without anchors", "unknown.yaml", filled(b"- *a\n", YAML_CAP)
    merge = ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} {{<<: *a{i - 1}, y{i}: 1}}" for i in range(1, 5000)]
    yield "merge keys", "merge.yaml", "\n".join(merge).encode()


def schemas() -> Iterator[tuple[str, str, bytes]]:
    """What is wrong inside schemas: as large as a capability manifest may be, and as a tool may be."""
    for size, label in ((CAPABILITY_CAP - 600, "128 KiB"), (JSON_CAP - 600, "512 KiB")):
        kilo = f"{size >> 10}k"

        # Two of one name, so that even a schema with nothing but warnings is refused.
        def one(properties: dict, **more: object) -> bytes:
            schema = schema_of(properties, **more)
            if size < CAPABILITY_CAP:
                return dumps(capability([capability_tool(0, schema), capability_tool(0)]))
            return dumps(tool(commands=[command(0, parameters=schema), command(0)]))

        def numbered(make, most: int = size - 4096) -> dict:
            items, length = {}, 0
            while length < most:
                name, item = f"p{len(items)}", make(len(items))
                length += len(name) + 4 + len(dumps(item))
                items[name] = item
            return items

        yield f"patterns, {label}", f"patterns_{kilo}.json", one(numbered(lambda i: {"pattern": f"^(a|b){{1,9}}x{i}+$"}))
        yield f"patterns that grow, {label}", f"grow_{kilo}.json", one(
            numbered(lambda i: {"pattern": f"((\\w{{1,50}}){{1,50}}){{1,{50 + i % 9}}}"}))
        yield f"patterns with look-around, {label}", f"look_{kilo}.json", one(numbered(lambda i: {"pattern": f"(?=a)\\1{i}"}))
        yield f"one pattern of {label}", f"one_pattern_{kilo}.json", one({"p": {"pattern": "(" * (size // 2) + ")" * (size // 3)}})
        yield f"one pattern, classes, {label}", f"classes_{kilo}.json", one({"p": {"pattern": "[\\p{L}\\d]" * (size // 12)}})
        yield f"references to nothing, {label}", f"refs_{kilo}.json", one(numbered(lambda i: {"$ref": f"#/$defs/x{i}"}))
        yield f"references outside, {label}", f"outside_{kilo}.json", one(numbered(lambda i: {"$ref": f"https://e.com/{i}"}))
        chain = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(size // 40)}
        yield f"a chain of references, {label}", f"chain_{kilo}.json", one({"p": {"$ref": "#/$defs/d0"}}, **{"$defs": chain})
        ring = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{(i * 7 + j) % 300}"} for j in range(size // 9000)]} for i in range(300)}
        yield f"a web of references, {label}", f"web_{kilo}.json", one({"p": {"$ref": "#/$defs/d0"}}, **{"$defs": ring})
        double = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(200)}
        yield f"references that double, {label}", f"double_{kilo}.json", one(
            {"p": {"$ref": "#/$defs/d0"}, **numbered(lambda i: {"$ref": "#/$defs/d0", "default": i}, size // 2)}, **{"$defs": double})
        yield f"unknown keywords, {label}", f"keywords_{kilo}.json", one(numbered(lambda i: {f"propertees{i}": 1}))
        yield f"wrong keywords, {label}", f"wrong_{kilo}.json", one(numbered(lambda i: {"type": "strin", "minimum": "1"}))
        yield f"bad defaults, {label}", f"defaults_{kilo}.json", one(numbered(lambda i: {"type": "string", "default": i}))
        slow = {"type": "array", "uniqueItems": True, "default": list(range(size // 8)) + [0]}
        yield f"a default that is slow to judge, {label}", f"slow_{kilo}.json", one({"p": slow})
        yield f"an enum, {label}", f"enum_{kilo}.json", one({"p": {"enum": listed(lambda i: {"a": i % 9000}, size - size // 5)}})
        yield f"required without end, {label}", f"required_{kilo}.json", one({}, required=listed(lambda i: f"r{i}", size - size // 5))
        yield f"anchors in schemas, {label}", f"schema_anchors_{kilo}.json", one(numbered(lambda i: {"$anchor": "a", "$id": f"x{i}"}))
        yield f"tools with one name, {label}", f"tools_{kilo}.json", dumps(
            capability(listed(lambda i: capability_tool(i % 7), size - size // 9)))
        yield f"tools without their scope, {label}", f"scopes_{kilo}.json", dumps(capability(
            listed(lambda i: capability_tool(i, scope=f"netwrk:htp{i}"), size // 2),
            listed(lambda i: {"id": f"network:http{i}", "label_i18n_key": "k", "sensitivity": "hihg"}, size // 3)))
    deep: dict = {}
    for _ in range(28):
        deep = {"type": "object", "properties": {"a": deep}}
    yield "schemas as deep as they may be", "deep_schema.json", dumps(
        capability(listed(lambda i: capability_tool(0, deep), CAPABILITY_CAP - 2000)))


def manifests() -> Iterator[tuple[str, str, bytes]]:
    """What is wrong with a whole manifest of 512 KiB."""
    most = JSON_CAP - 4096
    nine = listed(lambda i: command(i % 9), most)
    yield "unknown fields", "fields.json", dumps({**tool(entry=5), **{f"nmae{i}": 1 for i in range(60_000)}})
    yield "unknown fields, YAML", "fields.yaml", b"name: a\nentry: b.py\ncommands: []\n" + b"".join(
        b"comands%d: 1\n" % i for i in range(30_000))
    yield "nothing but unknown fields", "strange.json", dumps({f"k{i}": 1 for i in range(70_000)})
    yield "commands with one name", "commands.json", dumps(tool(commands=nine))
    yield "commands of the wrong type", "types.json", dumps(tool(commands=list(range(150_000))))
    yield "empty commands", "empty.json", dumps(tool(commands=[{}] * 90_000))
    yield "bad names", "names.json", dumps(tool(commands=listed(lambda i: command(i, name=f"ü {i}"), most)))
    yield "names of 512 KiB", "name.json", dumps(tool(name="n" * most, timeout="x"))
    yield "dependencies", "dependencies.json", dumps(tool(dependencies=listed(lambda i: f"t{i % 5000}", most)))
    yield "settings", "settings.json", dumps(tool(config_schema={f"s{i}": {"type": "strng"} for i in range(35_000)}))
    yield "an entry of 512 KiB", "entry.json", dumps(tool(entry="../" * (most // 3)))
    yield "a version of 512 KiB", "version.json", dumps(tool(version="1." * (most // 2), timeout="x"))
    patterns = {f"p{i}": {"type": "string", "pattern": f"^[a-z]{{1,40}}{i}$"} for i in range(14_000)}
    yield "patterns in a tool", "tool_patterns.json", dumps(tool(name="N N", commands=[
        command(0, parameters=schema_of(patterns))]))
    schema_commands = listed(lambda i: command(i % 50, parameters=schema_of({"a": {"$ref": "#/$defs/b"}})), most)
    yield "schemas in a tool", "tool_schemas.json", dumps(tool(commands=schema_commands))
    yield "references in an agent", "agent_tools.json", dumps(agent(tools=listed(lambda i: f"@gti{i}/x", most)))
    servers = {f"git.hub.{i}": {"command": "x", "transport": "stdio"} for i in range(4_000)}
    yield "references and servers in an agent", "agent_servers.json", dumps(
        agent(mcpServers=servers, tools=listed(lambda i: f"@git.hubb.{i}.x", most // 2)))
    yield "wildcards in an agent", "agent_wild.json", dumps(agent(tools=listed(lambda i: "@g/" + "*?" * 40 + str(i), most)))
    long_names = {"a" * 396 + f"{i:03}": {"command": "x", "transport": "stdio"} for i in range(64)}
    yield "wildcards and long names in an agent", "agent_long.json", dumps(
        agent(mcpServers=long_names, tools=listed(lambda i: f"@*a*a*a*b{i}", most - (1 << 15))))
    yield "globs in an agent", "agent_globs.json", dumps(agent(toolsSettings={
        "fs-read": {"allowedPaths": listed(lambda i: "{a,{b,[c" * 9 + str(i), most)}}))
    yield "templates in an agent", "agent_templates.json", dumps(agent(description="${" * (most // 2), tools="x"))
    yield "bare templates outside an agent", "bare.json", filled(b"${a},", JSON_CAP, b'{"commands":[', b"1]}")
    yield "resources in an agent", "agent_resources.json", dumps(agent(tools="x", resources=listed(lambda i: f"file://[{i}", most)))
    yield "inputs of a skill", "skill_inputs.json", dumps(skill(inputs=listed(lambda i: {"name": f"i{i % 99}", "type": "strin"}, most)))
    yield "URLs of a skill", "skill_urls.json", dumps(skill(endpoint={"url": "https://" + "a." * (most // 2)}))
    mcp = listed(lambda i: {"name": f"t{i % 9}", "inputSchema": {"type": "objct"}}, most)
    yield "a tools/list result", "mcp.json", dumps({"tools": mcp})


def inputs() -> Iterator[tuple[str, str, bytes | int]]:
    """Gives every input: what it is, its file name, its bytes (or how large an empty file)."""
    yield from texts()
    yield from aliases()
    yield from schemas()
    yield from manifests()
