"""Text files, dsjson and VW's cb text: what is refused, and any bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs

EVENT = json.loads(
    '{"_label_cost":-1.0,"_label_probability":0.8166667,"_label_Action":1,"_labelIndex":0,"o":[{"EventId":"e1","v":1.0}],'
    '"Timestamp":"2026-11-15T05:00:00.0000000Z","Version":"1","EventId":"e1","a":[1,2,3],"c":{"GUser":{"age":0.3,"town":"Ulm"},'
    '"_multi":[{"TAction":{"a":"0"}},{"TAction":{"a":"1"}},{"TAction":{"a":"2"}}]},"p":[0.8166667,0.0916667,0.0916667],'
    '"VWState":{"m":"model/1"}}'
)


def test_what_is_refused(tmp_path):
    (tmp_path / "log.vw").write_text("nothing\n")
    (tmp_path / "log.dsjson").write_text("nothing\n")
    for name in ("log.vw", "log.dsjson"):
        with pytest.raises(hsb.FileError, match=r"so it is not (vw|dsjson)"):
            hsb.logs.open(tmp_path / name)
    (tmp_path / "log.vw").write_text("1:0.5:0.5 | x\n")
    for options in ({"arm": "x"}, {"categories": ["x"]}, {"loss_range": (1, 0)}):
        with pytest.raises(hsb.InputError):
            hsb.logs.open(tmp_path / "log.vw", "vw", **options)
    assert hsb.logs.open(tmp_path / "log.vw", loss_range=(0, 1)).count() == 1


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["vw", "dsjson"]))
def test_fuzz_bytes(tmp_path_factory, raw, format):
    path = tmp_path_factory.mktemp("fuzz") / "log"
    good = b"1:0.5:0.5 | x\n" if format == "vw" else json.dumps(EVENT).encode() + b"\n"
    path.write_bytes(good + raw)
    log = hsb.logs.open(path, format)
    total = len((good + raw).removesuffix(b"\n").split(b"\n"))
    assert sum(map(len, log)) + len(log.problems) == total
