from __future__ import annotations

import pytest

from gradledger.audit.selector import UnknownRuleError, exact, expand, nearest
from gradledger.rules.catalogue import catalogue


def test_codes_names_and_prefixes() -> None:
    assert expand(["gl105"]) == {"GL105"}
    assert expand([" Repeated-Step "]) == {"GL105"}
    assert expand(["GL1"]) == {rule.code for rule in catalogue() if rule.code.startswith("GL1")}
    assert expand(["GL105", "GL10"]) >= {"GL105"}
    assert expand(["all"]) == {rule.code for rule in catalogue()}
    assert expand([]) == frozenset()


@pytest.mark.parametrize("word", ["GL999", "GL9", "", "1", "g", "repeated", "GL1055"])
def test_a_word_that_means_nothing_is_an_error(word: str) -> None:
    with pytest.raises(UnknownRuleError, match="unknown rule"):
        expand(["GL105", word])


def test_the_error_offers_what_was_probably_meant() -> None:
    assert "repeated-step" in str(UnknownRuleError("repeted-step"))
    assert "GL105" in nearest("GL1O5")
    assert nearest("§§§§") == ()


def test_exact_leaves_prefixes_out() -> None:
    assert exact(["GL1", "repeated-step", "nonsense"]) == {"GL105"}
