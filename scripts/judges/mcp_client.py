"""Lists and calls tools with the public Python client, by both ways of the protocol, answers an approval and
a tool's own question, reads a resource and picks a prompt. Used by `scripts/judges.sh`."""

import asyncio
import sys

from mcp import Client
from mcp_types import ElicitResult


async def answer(_context, params):
    fields = params.requested_schema["properties"]
    content = {"decision": "approve"} if "decision" in fields else {name: "Ann" for name in fields}
    return ElicitResult(action="accept", content=content)


async def beside(client: Client) -> None:
    uris = [str(one.uri) for one in (await client.list_resources()).resources]
    assert "remit://skills/calendar" in uris and "test://static-text" in uris, uris
    document = (await client.read_resource("remit://skills/calendar")).contents[0]
    assert document.mime_type == "text/markdown" and document.text, document
    prompt = await client.get_prompt("use_module", {"module": "calendar", "task": "find a free hour"})
    assert [one.content.type for one in prompt.messages] == ["resource", "text"], prompt


async def look(url: str, mode: str) -> None:
    async with Client(url, mode=mode, elicitation_callback=answer) as client:
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
        told = await client.call_tool("test_elicitation", {"message": "Who are you?"})
        assert not told.is_error and "Ann" in told.content[0].text, told
        await beside(client)
        print(f"{mode}: {len(names)} tools, called, corrected, approved and asking; resources and prompts")


async def main() -> None:
    for mode in ("legacy", "2026-07-28", "auto"):
        await look(sys.argv[1], mode)


asyncio.run(main())
