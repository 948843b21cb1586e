import json

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from tests.server.calls import EN, good_calls

pytestmark = [pytest.mark.anyio, pytest.mark.rule("MCP-2.1", "MCP-1.13")]


async def read(client, uri):
    return json.loads((await client.read_resource(uri)).contents[0].text)


async def test_channels_are_listed_without_the_value_of_any_key(connect, planner):
    async with connect() as client:
        told = await read(client, "catalog://channels")
    assert len(told["channels"]) == 41
    assert told["version"] == planner.catalog.version
    labels = {row["channel"]: row["auth"] for row in told["channels"]}
    assert labels["xiaohongshu"] == "paid (TIKHUB_API_KEY set)"


async def test_a_group_tells_its_channels(connect):
    async with connect() as client:
        group = await read(client, "catalog://groups/channels-academic")
    assert "arxiv" in [row["channel"] for row in group["channels"]]


async def test_an_unknown_group_says_which_was_meant(connect):
    async with connect() as client:
        with pytest.raises(MCPError, match="did you mean channels-academic"):
            await client.read_resource("catalog://groups/channels-acadmic")
        with pytest.raises(MCPError, match="known: channels-chinese-ugc"):
            await client.read_resource("catalog://groups/9")


async def test_plans_fit_their_published_schemas(connect, planner):
    async with connect() as client:
        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        schemas = {uri: await read(client, uri) for uri in uris if uri.startswith("plan-schema://")}
        answers = await good_calls(client.call_tool)
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    valid = {uri: jsonschema.Draft202012Validator(schema) for uri, schema in schemas.items()}
    valid["plan-schema://source-plan"].validate(answers["route_sources_tool"].structured_content)
    valid["plan-schema://combined-plan"].validate(answers["plan_tool"].structured_content)
    valid["plan-schema://track-state"].validate(answers["next_step_tool"].structured_content["state"])
    valid["plan-schema://channel-plan"].validate(planner.select(EN).model_dump(mode="json"))
