import os
import stat

import pytest

from planner.paths import PUBLIC, write_whole


@pytest.mark.parametrize(("mode", "expected"), [((), 0o600), ((PUBLIC,), 0o644)])
def test_a_file_is_written_with_its_folder_and_mode(tmp_path, mode, expected):
    path = tmp_path / "deep" / "a.txt"
    write_whole(path, "一\n", *mode)
    assert path.read_bytes() == "一\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == expected


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_it_is_on_the_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    path, seen = tmp_path / "a.txt", []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (seen.append(path.exists()), sync(handle)))
    write_whole(path, "new")
    assert seen == [False]
