"""One good call of each tool."""

ZH = "小红书有没有人用 Cursor 做编程"
EN = "Compare Kafka and Pulsar for multi-tenant event streaming"
ROUTE = {"task_type": "deep_research", "primary_subject": "AI芯片"}


async def good_calls(call):
    """Every tool's answer, by name. `call`: of a client."""
    plan = await call("plan_tool", {"question": EN, "budget_limit": 6})
    outcomes = [{"channel": "zhihu", "results": 3}, {"channel": "HN", "failure": "timeout"}]
    return {
        "select_channels_tool": await call("select_channels_tool", {"query": ZH, "channel_priority": ["zhihu"]}),
        "route_sources_tool": await call("route_sources_tool", ROUTE),
        "plan_tool": plan,
        "next_step_tool": await call("next_step_tool", {"plan": plan.structured_content}),
        "record_outcome_tool": await call("record_outcome_tool", {"outcomes": outcomes, "query": EN}),
    }
