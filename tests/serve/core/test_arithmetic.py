"""Does this machine compute as another one did?"""

from hsb.serve.core import arithmetic


def test_the_digest_is_the_same_each_time():
    assert arithmetic.arithmetic() == arithmetic.arithmetic()


def test_other_arithmetic_has_another_digest(monkeypatch):
    usual = arithmetic.arithmetic()
    monkeypatch.setattr(arithmetic, "UPDATES", arithmetic.UPDATES + 1)
    getattr(arithmetic.arithmetic, "cache_clear", lambda: None)()
    result = arithmetic.arithmetic()
    getattr(arithmetic.arithmetic, "cache_clear", lambda: None)()
    assert result != usual
