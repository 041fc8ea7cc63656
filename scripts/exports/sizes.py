"""Sizes of the corpus.

No size of the streams or of their coefficients is also one of the sublayer's or a number of tokens: summarise.py tells
by sizes whether an op belongs to the chain.
"""

N, C = 4, 48
ROWS = 2 * N + N * N
SIZES = {"B": 3, "T": 10, "W": 7, "n": N, "C": C, "nC": N * C, "Bn": 3 * N}
# Sizes that only streams and their coefficients have.
CHAIN = {N, N + 1, N * N, N + N ** 2, ROWS, 2 * N + ROWS, N * C, N * SIZES["B"]}

# A gated delta net layer: heads of q and k, of v, their sizes, and the channels of all parts.
KEY_HEADS, HEADS, KEY_SIZE, VALUE_SIZE, TAPS = 2, 6, 16, 8, 4
CONVOLVED = 2 * KEY_HEADS * KEY_SIZE + HEADS * VALUE_SIZE
QKVZBA = CONVOLVED + HEADS * VALUE_SIZE + 2 * HEADS
SIZES |= {"D": QKVZBA, "E": CONVOLVED, "L": TAPS - 1, "one": 1}
# Sizes that only the front end of such a layer has, and no projection before it.
FRONT = {KEY_HEADS, KEY_SIZE, VALUE_SIZE, CONVOLVED}


def header(streams, fused, chain=CHAIN):
    """The first line of an export: how many arguments are streams, what is to be found, and the sizes of the chain."""
    return f"// streams: {streams}; fused: {' '.join(fused)}; chain: {' '.join(map(str, sorted(chain)))}\n"
