"""What a heuristic plan may not load, proven in a fresh process."""

import subprocess
import sys

import pytest

HEAVY = (
    "litellm",
    "instructor",
    "mcp",
    "numpy",
    "scipy",
    "sqlalchemy",
    "tenacity",
    "vcr",
    "asyncio",
    "anyio",
    "pydantic_settings",
    "starlette",
    "rich",
)
PLAN = """from planner import channel_selection as select
select(query='小红书有没有人用 Cursor 做编程')
select(query='arxvi on attention')"""


@pytest.mark.parametrize(
    "code",
    [
        "import planner",
        "from planner.cli.main import cli; cli(['--help'], standalone_mode=False)",
        PLAN,
        "from planner.cli.main import cli; cli(['select', 'best laptop', '--json'], standalone_mode=False)",
        "from planner.cli.main import cli; cli(['plan', 'best laptop', '--json'], standalone_mode=False)",
    ],
    ids=["import", "help", "plan", "command", "combined"],
)
def test_no_heavy_module_is_loaded(code):
    check = f"import sys\n{code}\nprint('HEAVY', [m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"
