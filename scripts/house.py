#!/usr/bin/env python3
"""Checks the rules of the house that no compiler checks.

    scripts/house.py               checks this checkout
    scripts/house.py --self-test   proves that each check fails on a tree that breaks its rule

Each check is one function that takes a Tree and yields Problems; CHECKS lists them. Python 3.11 or
later, nothing but the standard library.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_LINES = 800
AIM_LINES = 400

# Which crate may depend on which. Arrows point down the house and never back.
#   remit -> exec, handlers, store -> engine -> manifest -> model;  exec, remit -> seal
ARROWS: dict[str, set[str]] = {
    "remit-model": set(),
    "remit-seal": set(),
    "remit-organiser": set(),
    "remit-manifest": {"remit-model"},
    "remit-engine": {"remit-manifest", "remit-model"},
    "remit-testkit": {"remit-engine", "remit-manifest", "remit-model", "remit-organiser"},
    "remit-exec": {"remit-engine", "remit-manifest", "remit-model", "remit-seal"},
    "remit-mcp": {"remit-engine", "remit-manifest", "remit-model"},
    "remit-handlers": {"remit-engine", "remit-manifest", "remit-model"},
    "remit-store": {"remit-engine", "remit-manifest", "remit-model", "remit-organiser"},
    "remit-server": {
        "remit-engine", "remit-manifest", "remit-model", "remit-organiser",
    },
    "remit": {
        "remit-server", "remit-exec", "remit-handlers", "remit-mcp", "remit-organiser", "remit-store", "remit-seal",
        "remit-engine", "remit-manifest", "remit-model",
    },
}
# What tests may use on top of that.
TEST_ARROWS: dict[str, set[str]] = {
    "remit-engine": {"remit-testkit"},
    "remit-exec": {"remit-testkit"},
    "remit-mcp": {"remit-testkit"},
    "remit-store": {"remit-testkit"},
    # A server is tested with a real database behind it.
    "remit-server": {"remit-store", "remit-testkit"},
    "remit": {"remit-testkit"},
}

RUNNER = "crates/manifest/tests/it/fixtures.rs"
RULES = "crates/manifest/src/rules.rs"
CHANGE_RULES = "crates/manifest/src/diff/rules.rs"
RULE_PAGE = "docs/rules.md"

# What each kind of fixture holds: the inputs its author writes, and the golden files that the test
# runner compares with. Of each tuple one file must be there.
FORMATS = ("json", "yaml", "yml")
FIXTURE_FILES: dict[str, tuple[tuple[str, ...], ...]] = {
    "valid": (tuple(f"input.{f}" for f in FORMATS), ("model.json",)),
    "invalid": (tuple(f"input.{f}" for f in FORMATS), ("diagnostics.txt",)),
    "diff": (tuple(f"old.{f}" for f in FORMATS), tuple(f"new.{f}" for f in FORMATS), ("diff.json",)),
}


@dataclass(frozen=True)
class Problem:
    """Is one broken rule: where, what, and what to do about it."""

    file: str
    what: str
    todo: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}\n    {self.todo}"


class Tree:
    """Is a checkout: its root and the files that are, or are about to be, tracked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = sorted(self._list())

    def _list(self) -> list[str]:
        asked = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
        )
        if asked.returncode == 0:
            names = [name for name in asked.stdout.decode().split("\0") if name]
            return [name for name in names if (self.root / name).is_file()]
        found = (path for path in self.root.rglob("*") if path.is_file())
        return [path.relative_to(self.root).as_posix() for path in found]

    def text(self, file: str) -> str:
        """Gives a file's text, or nothing if it is missing or not text."""
        try:
            return (self.root / file).read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def toml(self, file: str) -> dict:
        """Gives a manifest of cargo."""
        return tomllib.loads(self.text(file))

    def under(self, folder: str, suffix: str = "") -> list[str]:
        """Lists the files below a folder."""
        return [f for f in self.files if f.startswith(folder + "/") and f.endswith(suffix)]

    def crates(self) -> list[str]:
        """Lists the manifests of the crates of the workspace."""
        return [f for f in self.files if re.fullmatch(r"crates/[^/]+/Cargo\.toml", f)]


def dependency_tables(manifest: dict) -> Iterator[tuple[str, dict]]:
    """Gives each table of dependencies of a crate, with its name."""
    places = [manifest, *manifest.get("target", {}).values()]
    for place in places:
        for table in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield table, place.get(table, {})


def check_direction(tree: Tree) -> Iterator[Problem]:
    """Dependencies between crates follow the arrows of the house."""
    for file in tree.crates():
        manifest = tree.toml(file)
        name = manifest["package"]["name"]
        if name not in ARROWS:
            todo = "add it to ARROWS in scripts/house.py, with the crates it may depend on"
            yield Problem(file, f"the crate {name} is not in the table of arrows", todo)
            continue
        for table, dependencies in dependency_tables(manifest):
            allowed = set(ARROWS[name])
            if table == "dev-dependencies":
                allowed |= TEST_ARROWS.get(name, set())
            for other in dependencies:
                if (other == "remit" or other.startswith("remit-")) and other not in allowed:
                    may = ", ".join(sorted(allowed)) or "no other crate of the workspace"
                    todo = f"{name} may depend on {may}; move the code, or draw the arrow in a design note first"
                    yield Problem(file, f"{table} has {other}, against the direction of the house", todo)


def check_versions(tree: Tree) -> Iterator[Problem]:
    """Versions of dependencies are written in the manifest of the workspace only."""
    for file in tree.crates():
        for table, dependencies in dependency_tables(tree.toml(file)):
            for name, wanted in dependencies.items():
                if not (isinstance(wanted, dict) and wanted.get("workspace") is True):
                    todo = f"write `{name}.workspace = true` here and the version in the root Cargo.toml"
                    yield Problem(file, f"{table} gives {name} a version or a path of its own", todo)


def locked(tree: Tree, file: str) -> dict[str, set[str]]:
    """Gives the versions of each package in a lock file."""
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads(tree.text(file)).get("package", []):
        versions.setdefault(package["name"], set()).add(package["version"])
    return versions


def check_locks(tree: Tree) -> Iterator[Problem]:
    """Benchmarks and fuzz targets are built with the versions that are shipped."""
    main = locked(tree, "Cargo.lock")
    for file in tree.files:
        if not file.endswith("/Cargo.lock"):
            continue
        for name, versions in locked(tree, file).items():
            if name in main and not versions <= main[name]:
                what = f"{name} is {', '.join(sorted(versions))} here and {', '.join(sorted(main[name]))} in Cargo.lock"
                yield Problem(file, what, "run scripts/locks.sh")


def check_size(tree: Tree) -> Iterator[Problem]:
    """Source files stay short enough to be read."""
    for file in tree.files:
        lines = tree.text(file).count("\n") if file.endswith(".rs") else 0
        if lines > MOST_LINES:
            todo = f"split it by what its parts are for; {AIM_LINES} lines is the aim"
            yield Problem(file, f"has {lines} lines, more than {MOST_LINES}", todo)


def long_files(tree: Tree) -> list[str]:
    """Lists the files that are over the aim but within the cap."""
    sizes = ((f, tree.text(f).count("\n")) for f in tree.files if f.endswith(".rs"))
    return [f"{file}: {lines} lines" for file, lines in sizes if AIM_LINES < lines <= MOST_LINES]


def check_fixtures(tree: Tree) -> Iterator[Problem]:
    """Every fixture folder is complete and is picked up by the test runner."""
    fixtures = tree.under("fixtures")
    runner = tree.text(RUNNER)
    if fixtures and not runner:
        yield Problem(RUNNER, "is missing, so no fixture is tested", "write the test runner")
        return
    cases: dict[tuple[str, str, str], set[str]] = {}
    for file in fixtures:
        parts = file.split("/")
        if file == "fixtures/README.md":
            continue
        if len(parts) != 5:
            yield Problem(file, "lies where no test looks", "fixtures are fixtures/<dialect>/<kind>/<case>/<file>")
            continue
        _, dialect, kind, case, name = parts
        cases.setdefault((dialect, kind, case), set()).add(name)
    for word in sorted({word for dialect, kind, _ in cases for word in (dialect, kind)}):
        if f'"{word}"' not in runner:
            todo = f'add "{word}" to the table of the runner, or correct the name of the folder'
            yield Problem(RUNNER, f"does not know the fixtures under `{word}`", todo)
    for (dialect, kind, case), names in sorted(cases.items()):
        yield from check_case(f"fixtures/{dialect}/{kind}/{case}", kind, names)


def check_case(folder: str, kind: str, names: set[str]) -> Iterator[Problem]:
    if kind not in FIXTURE_FILES:
        todo = "add the kind to FIXTURE_FILES in scripts/house.py, and to the runner"
        yield Problem(folder, f"`{kind}` is not a kind of fixture", todo)
        return
    for choice in FIXTURE_FILES[kind]:
        found = names.intersection(choice)
        if len(found) != 1:
            golden = choice[0] in ("model.json", "diagnostics.txt", "diff.json")
            todo = "run the tests with REMIT_BLESS=1 and read what they wrote" if golden else "write exactly one"
            have = ", ".join(sorted(found)) or "none"
            yield Problem(folder, f"needs {' or '.join(choice)}, has {have}", todo)
    known = {name for choice in FIXTURE_FILES[kind] for name in choice} | {"diagnostics.txt"}
    for name in sorted(names - known):
        yield Problem(f"{folder}/{name}", "is read by no test", "remove it, or correct its name")


# Written so that this file does not match itself.
MACHINE = re.compile(
    r"(?<![\w.:/~$}*-])/(?:root|Users|work)/[\w.]|"
    r'"resolved":\s*"https?:'
)


def check_machine(tree: Tree) -> Iterator[Problem]:
    """Nothing says on which machine, or from which host, it was made."""
    for file in tree.files:
        for number, line in enumerate(tree.text(file).splitlines(), 1):
            if found := MACHINE.search(line):
                todo = "use a path inside the checkout, a temporary folder, or a package's name"
                yield Problem(f"{file}:{number}", f"names a place of one machine, `{found[0]}`", todo)


def rule_ids(tree: Tree, file: str) -> dict[str, str]:
    """Gives the rules of a table, id by constant."""
    lines = re.findall(r'^    ([A-Z][A-Z0-9_]+) "([a-z0-9-]+)" [A-Z]', tree.text(file), re.MULTILINE)
    return {constant: rule for constant, rule in lines}


def test_text(tree: Tree) -> str:
    """Gives all that tests say: test files, test modules, golden files."""
    parts = []
    for file in tree.files:
        if file.startswith("fixtures/") and file.endswith(("diagnostics.txt", "diff.json")):
            parts.append(tree.text(file))
        elif file.endswith(".rs") and file not in (RULES, CHANGE_RULES):
            whole = tree.text(file)
            is_test = re.search(r"^crates/[^/]+/tests/|/tests\.rs$|_tests\.rs$|/tests/", file)
            parts.append(whole if is_test else whole.partition("#[cfg(test)]")[2])
        elif re.match(r"crates/[^/]+/tests/", file):
            parts.append(tree.text(file))
    return "\n".join(parts)


def check_rules_tested(tree: Tree) -> Iterator[Problem]:
    """Every rule is reported by a test at least once."""
    words = set(re.findall(r"[A-Za-z0-9_-]+", test_text(tree)))
    for file in (RULES, CHANGE_RULES):
        ids = rule_ids(tree, file).items()
        if missing := [rule for constant, rule in ids if rule not in words and constant not in words]:
            todo = "for each add a fixture or a test that fails without the rule, or remove the rule"
            yield Problem(file, f"no test and no golden file has {listing(missing)}", todo)


def listing(ids: list[str]) -> str:
    return ", ".join(f"`{rule}`" for rule in ids)


def check_rules_documented(tree: Tree) -> Iterator[Problem]:
    """Every rule is explained to users."""
    page = tree.text(RULE_PAGE)
    for file in (RULES, CHANGE_RULES):
        if missing := [rule for rule in rule_ids(tree, file).values() if f"`{rule}`" not in page]:
            todo = f"say what each asks and how to fix it; they are in {file}"
            yield Problem(RULE_PAGE, f"does not mention {listing(missing)}", todo)


UNFINISHED = re.compile(r"\b(?:todo|unimplemented)!\s*[(\[{]|#\[ignore\b")


def check_finished(tree: Tree) -> Iterator[Problem]:
    """Nothing is left for later, and no test is switched off."""
    for file in tree.files:
        if not file.endswith(".rs"):
            continue
        for number, line in enumerate(tree.text(file).splitlines(), 1):
            if found := UNFINISHED.search(line.partition("//")[0]):
                yield Problem(f"{file}:{number}", f"has `{found[0]}`", "finish it, or take it out")


CHECKS: tuple[Callable[[Tree], Iterator[Problem]], ...] = (
    check_direction,
    check_versions,
    check_locks,
    check_size,
    check_fixtures,
    check_machine,
    check_rules_tested,
    check_rules_documented,
    check_finished,
)


# A small checkout without a fault, and for each check what breaks it: file, new text, and a word of
# the message that must come. A text of None removes the file.
GOOD = {
    "Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0.1"\n',
    "fuzz/Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0.1"\n',
    "crates/model/Cargo.toml": '[package]\nname = "remit-model"\n[dependencies]\nserde.workspace = true\n',
    "crates/manifest/Cargo.toml": (
        '[package]\nname = "remit-manifest"\n[dependencies]\nremit-model.workspace = true\n'
    ),
    "crates/model/src/lib.rs": "// todo!() in a comment is nothing\n",
    RULES: 'rules! {\n    BAD_NAME "bad-name" Error "Names are good."\n}\n',
    CHANGE_RULES: 'change_rules! {\n    TOOL_GONE "tool-gone" Breaking silent "="\n}\n',
    RUNNER: 'const TABLE: [&str; 4] = ["tool", "valid", "invalid", "diff"];\n',
    RULE_PAGE: "- `bad-name`\n- `tool-gone`\n",
    "fixtures/tool/valid/small/input.yaml": "name: a\n",
    "fixtures/tool/valid/small/model.json": "{}\n",
    "fixtures/tool/invalid/bad/input.json": "{}\n",
    "fixtures/tool/invalid/bad/diagnostics.txt": "1:1 error bad-name /name no\n",
    "fixtures/tool/diff/gone/old.json": "{}\n",
    "fixtures/tool/diff/gone/new.yaml": "{}\n",
    "fixtures/tool/diff/gone/diff.json": '{"rule": "tool-gone"}\n',
}
BAD: tuple[tuple[Callable, str, str | None, str], ...] = (
    (check_direction, "crates/model/Cargo.toml",
     '[package]\nname = "remit-model"\n[dependencies]\nremit-manifest.workspace = true\n', "direction"),
    (check_direction, "crates/model/Cargo.toml",
     '[package]\nname = "remit-model"\n[target.x.build-dependencies]\nremit.workspace = true\n', "direction"),
    (check_direction, "crates/manifest/Cargo.toml",
     '[package]\nname = "remit-manifest"\n[dev-dependencies]\nremit-testkit.workspace = true\n', "direction"),
    (check_direction, "crates/new/Cargo.toml", '[package]\nname = "remit-new"\n', "table of arrows"),
    (check_versions, "crates/model/Cargo.toml",
     '[package]\nname = "remit-model"\n[dependencies]\nserde = "1"\n', "version"),
    (check_versions, "crates/model/Cargo.toml",
     '[package]\nname = "remit-model"\n[dev-dependencies]\nserde = { path = "../x" }\n', "version"),
    (check_locks, "fuzz/Cargo.lock", '[[package]]\nname = "serde"\nversion = "1.0.2"\n', "serde is 1.0.2"),
    (check_size, "crates/model/src/lib.rs", "//\n" * (MOST_LINES + 1), "801 lines"),
    (check_fixtures, RUNNER, None, "is missing"),
    (check_fixtures, RUNNER, '["tool", "valid", "diff"]', "`invalid`"),
    (check_fixtures, "fixtures/tool/odd/a/input.json", "{}", "`odd`"),
    (check_fixtures, "fixtures/toool/valid/a/input.json", "{}", "`toool`"),
    (check_fixtures, "fixtures/tool/stray.json", "{}", "where no test looks"),
    (check_fixtures, "fixtures/tool/valid/small/model.json", None, "model.json"),
    (check_fixtures, "fixtures/tool/valid/small/input.json", "{}", "has input.json, input.yaml"),
    (check_fixtures, "fixtures/tool/diff/gone/old.json", None, "old.json"),
    (check_fixtures, "fixtures/tool/invalid/bad/inptu.json", "{}", "read by no test"),
    (check_machine, "notes.md", "see /" + "root/x\n", "one machine"),
    (check_machine, "notes.md", "cd /" + "work/x\n", "one machine"),
    (check_machine, "package-lock.json", '"resolved": ' + '"https://host.example/x"', "one machine"),
    (check_rules_tested, "fixtures/tool/invalid/bad/diagnostics.txt", "", "`bad-name`"),
    (check_rules_tested, "fixtures/tool/diff/gone/diff.json", "{}", "`tool-gone`"),
    (check_rules_documented, RULE_PAGE, "- `tool-gone`\n", "`bad-name`"),
    (check_rules_documented, RULE_PAGE, None, "`tool-gone`"),
    (check_finished, "crates/model/src/lib.rs", "fn f() { todo" + "!() }\n", "todo"),
    (check_finished, "crates/model/src/lib.rs", "fn f() { unimplemented" + '!("x") }\n', "unimplemented"),
    (check_finished, "crates/model/src/lib.rs", "#[test]\n#[ignore" + " = \"slow\"]\nfn f() {}\n", "ignore"),
)
# What looks broken and is not.
FINE: tuple[tuple[str, str], ...] = (
    ("crates/manifest/src/x.rs", '#[cfg(test)]\nmod tests { const X: &str = "bad-name"; }\n'),
    ("notes.md", "https://example.com/work/x and ./work/x and ~/root/y\n"),
    ("fixtures/README.md", "What the folders are.\n"),
    ("crates/store/Cargo.toml",
     '[package]\nname = "remit-store"\n[dev-dependencies]\nremit-testkit.workspace = true\n'),
)


def lay(root: Path, files: dict[str, str]) -> Tree:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    return Tree(root)


def self_test() -> int:
    """Proves that each check finds what it is for, and nothing in a good tree."""
    failures = []
    for file, text in ((None, None), *FINE):
        with tempfile.TemporaryDirectory() as folder:
            tree = lay(Path(folder), GOOD if file is None else {**GOOD, file: text})
            failures += [f"{check.__name__} finds `{p}` in a good tree" for check in CHECKS for p in check(tree)]
    for check, file, text, word in BAD:
        files = {k: v for k, v in {**GOOD, file: text}.items() if v is not None}
        with tempfile.TemporaryDirectory() as folder:
            found = [str(problem) for problem in check(lay(Path(folder), files))]
        if not any(word in problem for problem in found):
            failures.append(f"{check.__name__} does not say `{word}` about a bad {file}: {found}")
    unproved = set(CHECKS) - {check for check, *_ in BAD}
    failures += [f"{check.__name__} has no bad tree in BAD" for check in unproved]
    for failure in failures:
        print(f"self-test: {failure}", file=sys.stderr)
    if not failures:
        print(f"self-test: {len(CHECKS)} checks, {len(BAD)} bad trees found out, {len(FINE) + 1} good ones passed")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--self-test", action="store_true", help="prove the checks instead of running them")
    if parser.parse_args().self_test:
        return self_test()
    tree = Tree(Path(__file__).resolve().parent.parent)
    problems = [problem for check in CHECKS for problem in check(tree)]
    for hint in long_files(tree):
        print(f"hint: {hint}; {AIM_LINES} is the aim")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"house: {len(CHECKS)} checks over {len(tree.files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
