"""An interrupt while a policy is packed comes out as what it was, whatever the writer of zips is doing, and leaves nothing behind."""

import sys
import zipfile
from typing import Any

import hsb
from hsb.files import policy_file


def interrupt_in_zipfile(work: Any, step: int) -> bool:
    """Do the work, but raise KeyboardInterrupt before that line of Python's own zipfile; False where it has fewer."""
    left = step

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != zipfile.__file__:
            return trace if event == "call" else None
        if event == "line":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_while_packing_is_an_interrupt(tmp_path, monkeypatch):
    # Python says so where one of its own objects was interrupted while it was made
    monkeypatch.setattr(sys, "unraisablehook", lambda each: None)
    policy, path = hsb.Exp3(arms=["a", "b"], seed=0), tmp_path / "policy.hsb"
    policy.save(path)
    before, step = path.read_bytes(), 0
    policy.learn(policy.decide(None), loss=1.0)
    while interrupt_in_zipfile(lambda: policy.save(path), step):
        assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["policy.hsb"]
        step += 3
    assert step > 300
    assert path.read_bytes() == policy_file.pack(policy)
