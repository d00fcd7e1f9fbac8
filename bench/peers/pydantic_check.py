"""The peer of `remit check`: pydantic v2 models after the tool format's own, with PyYAML's C loader.

    pydantic_check.py FOLDER

Does what a careful person would do to accept or refuse a folder of tool manifests: refuses duplicate
keys, checks fields, enums, names, SemVer, that the entry stays inside the tools directory, that
commands are unique, that parameter schemas hang together and that patterns compile; then that names
are unique over the folder and that dependencies exist. It gives no lines or columns.
"""

from __future__ import annotations

import os
import re
import sys
from enum import Enum
from multiprocessing import Pool
from pathlib import Path
from typing import Annotated, Any, Optional, Union

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

SEMVER = (r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
          r"(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$")
Version = Annotated[str, StringConstraints(pattern=SEMVER)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1)]


class UniqueKeyLoader(yaml.CSafeLoader):
    """PyYAML keeps the last of equal keys; this refuses them."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key.value}", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class SchemaType(str, Enum):
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    NULL = "null"


PYTHON_TYPES = {SchemaType.STRING: str, SchemaType.INTEGER: int, SchemaType.NUMBER: (int, float),
                SchemaType.BOOLEAN: bool, SchemaType.ARRAY: list, SchemaType.OBJECT: dict}


class Schema(BaseModel):
    """The keywords of JSON Schema that tool authors use."""

    model_config = ConfigDict(extra="allow")
    type: Optional[Union[SchemaType, list[SchemaType]]] = None
    description: Optional[str] = None
    properties: Optional[dict[str, "Schema"]] = None
    required: Optional[list[str]] = None
    items: Optional[Union["Schema", bool]] = None
    enum: Optional[list[Any]] = None
    default: Any = None
    pattern: Optional[str] = None
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    minLength: Optional[Annotated[int, Field(ge=0)]] = None
    maxLength: Optional[Annotated[int, Field(ge=0)]] = None
    minItems: Optional[Annotated[int, Field(ge=0)]] = None
    maxItems: Optional[Annotated[int, Field(ge=0)]] = None

    @field_validator("pattern")
    @classmethod
    def compiles(cls, pattern):
        if pattern is not None:
            re.compile(pattern)
        return pattern

    @field_validator("required", "enum")
    @classmethod
    def without_repeats(cls, values):
        if values is not None and len({repr(value) for value in values}) != len(values):
            raise ValueError("values repeat")
        return values

    @model_validator(mode="after")
    def default_fits(self):
        if self.default is not None:
            if isinstance(self.type, SchemaType) and not isinstance(self.default, PYTHON_TYPES.get(self.type, object)):
                raise ValueError("the default is of another type")
            if self.enum is not None and self.default not in self.enum:
                raise ValueError("the default is not in the enum")
        return self

    @model_validator(mode="after")
    def required_is_declared(self):
        if self.required and self.properties is not None:
            for name in self.required:
                if name not in self.properties:
                    raise ValueError(f"{name} is required but not declared")
        return self


class Setting(Schema):
    """In config_schema `required` is a mark on the setting itself."""

    required: Optional[bool] = None
    secret: Optional[bool] = None

    @field_validator("required", mode="before")
    @classmethod
    def without_repeats(cls, values):
        return values

    @model_validator(mode="after")
    def required_is_declared(self):
        return self


class ToolType(str, Enum):
    SYNC = "sync"
    ASYNC = "async"
    SERVICE = "service"


class RuntimeType(str, Enum):
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    NATIVE = "native"


class InvocationCommand(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Name
    description: Text
    parameters: Optional[Schema] = None
    required: Optional[list[str]] = None
    example: Optional[str] = None


class ToolManifest(BaseModel):
    model_config = ConfigDict(extra="forbid", use_enum_values=True)
    manifest_version: Version = "1.0.0"
    name: Name
    display_name: Text
    description: Text
    author: Optional[str] = None
    version: Version = "1.0.0"
    type: ToolType = ToolType.SYNC
    runtime: RuntimeType = RuntimeType.PYTHON
    entry: Text
    timeout: Annotated[int, Field(gt=0)] = 30000
    config_schema: Optional[dict[str, Setting]] = None
    commands: list[InvocationCommand] = Field(default_factory=list)
    tags: Optional[list[str]] = None
    dependencies: Optional[list[str]] = None
    enabled: bool = True

    @field_validator("entry")
    @classmethod
    def stays_inside(cls, entry):
        normal = os.path.normpath(entry)
        if os.path.isabs(normal) or normal.startswith(".."):
            raise ValueError("leaves the tools directory")
        return entry

    @field_validator("commands")
    @classmethod
    def unique(cls, commands):
        folded = {re.sub(r"[-_.]", "", command.name).lower() for command in commands}
        if len(folded) != len(commands):
            raise ValueError("two commands have one name")
        return commands


def check(path: str) -> tuple[str, str | None, list[str], str | None]:
    """Judges one file: path, name, dependencies, error."""
    try:
        with open(path, "rb") as file:
            data = yaml.load(file.read().decode(), UniqueKeyLoader)
        manifest = ToolManifest.model_validate(data)
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError, re.error) as error:
        return path, None, [], str(error)
    return path, manifest.name, manifest.dependencies or [], None


def main() -> int:
    paths = sorted(str(path) for path in Path(sys.argv[1]).rglob("*.yaml"))
    with Pool(2) as pool:
        results = pool.map(check, paths, chunksize=100)
    errors = [(path, error) for path, _, _, error in results if error]
    names: dict[str, str] = {}
    for path, name, _, _ in results:
        if name:
            other = names.setdefault(re.sub(r"[-_.]", "", name).lower(), path)
            if other != path:
                errors.append((path, f"has the name of {other}"))
    for path, _, dependencies, _ in results:
        errors += [(path, f"needs {d}") for d in dependencies if re.sub(r"[-_.]", "", d).lower() not in names]
    for path, error in errors:
        print(f"{path}: {error}")
    print(f"{len(paths)} files, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
