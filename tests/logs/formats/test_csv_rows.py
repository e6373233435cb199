"""Rows of comma-separated values: lines that are no row are reported, and cost nothing else."""

import hsb
import hsb.logs

NUMERIC = {"context": ["age"], "arm": "shown", "propensity": "p", "reward": "click"}


def test_csv_rows_that_are_none(tmp_path):
    path = tmp_path / "log.csv"
    head = b"\xef\xbb\xbfage,shown,p,click\n"
    path.write_bytes(head + b'1,a,0.5,1\n2,a,0.5\n3,a,0.5,1,9\n\n4,"a"x,0.5,1\n5,\xff,0.5,1\n6,a,0.5,1\n7,"a,0.5,1\n')
    log = hsb.logs.open(path, **NUMERIC)
    [batch] = log
    assert batch.contexts.ravel().tolist() == [1, 6]
    assert [problem.line for problem in log.problems.first] == [3, 4, 6, 7, 9]
    path.write_bytes(head + b'1,"a\nb",0.5,1\n2,x,0.5,1')
    [batch] = hsb.logs.open(path, **NUMERIC)
    assert batch.labels().tolist() == ["a\nb", "x"]
    (tmp_path / "two.csv").write_bytes(b"click,p,shown,age\n1,0.5,x,9\n")
    log = hsb.logs.open([path, tmp_path / "two.csv"], **NUMERIC)
    assert [len(batch) for batch in log] == [2, 1]
