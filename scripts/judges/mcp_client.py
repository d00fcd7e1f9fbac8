"""Lists and calls tools with the public Python client, by both ways of the protocol, and answers an
approval. Used by `scripts/judges.sh`."""

import asyncio
import sys

from mcp import Client
from mcp_types import ElicitResult


async def approve(_context, params):
    assert "decision" in params.requested_schema["properties"], params
    return ElicitResult(action="accept", content={"decision": "approve"})


async def look(url: str, mode: str) -> None:
    async with Client(url, mode=mode, elicitation_callback=approve) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "add" in names and "test_simple_text" in names, names
        added = await client.call_tool("add", {"a": 2, "b": 3})
        assert added.structured_content == {"sum": 5} and not added.is_error, added
        picture = (await client.call_tool("test_image_content", {})).content
        assert [block.type for block in picture] == ["image"], picture
        wrong = await client.call_tool("add", {"a": "x"})
        assert wrong.is_error, wrong
        asked = await client.call_tool("test_streaming_elicitation", {})
        assert not asked.is_error, asked
        print(f"{mode}: {len(names)} tools, called, corrected and approved")


async def main() -> None:
    for mode in ("legacy", "2026-07-28", "auto"):
        await look(sys.argv[1], mode)


asyncio.run(main())
