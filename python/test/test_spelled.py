"""Modules whose steps are written in ways drawn at random: every site is found, with the numbers of eager PyTorch."""

import pytest
import spelled


@pytest.mark.parametrize("seed", range(8))
def test_spelled(seed):
    spelled.check(seed)
