"""Sizes of the corpus.

No size of the streams or of their coefficients is also one of the sublayer's or a number of tokens: summarise.py tells
by sizes whether an op belongs to the chain.
"""

N, C = 4, 48
ROWS = 2 * N + N * N
SIZES = {"B": 3, "T": 10, "n": N, "C": C, "nC": N * C, "Bn": 3 * N}


def header(streams, fused):
    """The first line of an export: how many arguments are streams, and what is to be found."""
    return f"// streams: {streams}; fused: {' '.join(fused)}\n"
