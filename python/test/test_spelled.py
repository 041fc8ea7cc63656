"""Modules whose steps are written in ways drawn at random: every site is found, with the numbers of eager PyTorch."""

import collections

import comparing
import pytest
import spelled
import torch


@pytest.mark.parametrize("seed", range(8))
def test_spelled(seed):
    spelled.check(seed)


def test_rows_of_open_sizes():
    """Rows of a mix that are left for their sizes alone are no mixes of their own, which would read rounded streams as they
    were: the first of four layers was missed."""
    torch.manual_seed(605)
    torch._dynamo.reset()
    comparing.backend.found.clear()
    module = spelled.Model(605, layers=4).bfloat16()
    spelled.compare(module, comparing.compiled(module, True, require="all"), comparing.TOKENS)
    assert module.ways.drawn["map"] == "loop"
    found = sum((collections.Counter(each) for each in comparing.counts()), collections.Counter())
    assert (found["pre"], found["post"]) == (4, 4)
