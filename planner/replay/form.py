"""The file: who answered, what it was made with, and each exchange with its bodies as readable values."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from planner.errors import InputError

_NOT_ONE = InputError("cassette", "another file", "a file that `planner replay record` wrote")
HOST = "http://replay.invalid"


class Exchanges:
    """vcr's serializer for the exchanges alone, as JSON values."""

    @staticmethod
    def serialize(cassette: dict[str, Any]) -> list[dict[str, Any]]:
        """vcr's value → a value an exchange."""
        return [_exchange(item) for item in cassette["interactions"]]

    @staticmethod
    def deserialize(values: list[dict[str, Any]]) -> dict[str, Any]:
        """A value an exchange → vcr's value."""
        try:
            return {"version": 1, "interactions": [_interaction(item) for item in values]}
        except (LookupError, TypeError, AttributeError):
            raise _NOT_ONE from None


class Form:
    """vcr's serializer for it. `notes` are written as they are, and filled when a file is read."""

    def __init__(self, notes: dict[str, Any]) -> None:
        self._notes = notes

    def serialize(self, cassette: dict[str, Any]) -> str:
        """vcr's value → the file's text."""
        return dump({**self._notes, "exchanges": Exchanges.serialize(cassette)})

    def deserialize(self, text: str) -> dict[str, Any]:
        """The file's text → vcr's value."""
        value = load(text)
        self._notes.update({k: v for k, v in value.items() if k != "exchanges"})
        return Exchanges.deserialize(value["exchanges"])


def load(text: str) -> dict[str, Any]:
    """The file's content. Raises InputError when it is no recording."""
    import yaml

    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _NOT_ONE from None
    if not isinstance(value, dict) or not isinstance(value.get("exchanges"), list):
        raise _NOT_ONE
    return value


def dump(value: dict[str, Any]) -> str:
    """YAML in the given order, long texts as blocks."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        block = "\n" in value and not any(line.endswith(" ") for line in value.split("\n"))
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if block else None)

    Dumper.add_representer(str, text)
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)


def _exchange(item: dict[str, Any]) -> dict[str, Any]:
    request, response = item["request"], item["response"]
    return {
        "request": {
            "method": request["method"],
            "path": urlsplit(request["uri"]).path,
            "body": _value(request["body"]),
        },
        "response": {
            "status": response["status"]["code"],
            "headers": {name.lower(): values[0] for name, values in response["headers"].items() if values},
            "body": _value(response["body"]["string"]),
        },
    }


def _interaction(item: dict[str, Any]) -> dict[str, Any]:
    request, response = item["request"], item["response"]
    return {
        "request": {
            "method": request["method"],
            "uri": HOST + request["path"],
            "body": _text(request["body"]),
            "headers": {},
        },
        "response": {
            "status": {"code": response["status"], "message": ""},
            "headers": {name: [str(value)] for name, value in response["headers"].items()},
            "body": {"string": _text(response["body"])},
        },
    }


def _value(body: bytes | str | None) -> Any:
    text = body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else body or ""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
