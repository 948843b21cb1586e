import pytest

from planner.llm.cache import FileStore, MemoryStore


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "file"])
def store(request, clock, tmp_path):
    if request.param == "memory":
        return MemoryStore(3, 60, clock)
    return FileStore(tmp_path / "deep" / "cache.db", 3, 60, clock)


@pytest.mark.rule("JDG-2.8")
def test_a_value_is_kept_until_its_time_is_over(store, clock):
    store.put("k", "v")
    assert store.get("k") == "v"
    clock.now += 61
    assert store.get("k") is None


def test_the_oldest_goes_when_there_are_too_many(store, clock):
    for n in range(5):
        clock.now += 1
        store.put(str(n), "v")
    assert [store.get(str(n)) for n in range(5)] == [None, None, "v", "v", "v"]


def test_a_dropped_value_is_gone(store):
    store.put("k", "v")
    store.drop("k")
    assert store.get("k") is None


def test_a_file_is_shared(tmp_path):
    FileStore(tmp_path / "c.db", 3, 60).put("k", "v")
    assert FileStore(tmp_path / "c.db", 3, 60).get("k") == "v"


def test_a_broken_file_is_as_good_as_none(tmp_path):
    (tmp_path / "c.db").write_text("not a database " * 100)
    store = FileStore(tmp_path / "c.db", 3, 60)
    store.put("k", "v")
    assert store.get("k") is None
