"""The model of the examples with the text of its function: outside-functions.test.py MODEL.mlir"""

import sys

BODY = """func.func private @linear(%u: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %f = mhc.matmul %u, %w transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %f : tensor<?x64xf32>
}
"""

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
start, end = text.index("func.func private @linear("), text.index("func.func private @connected")
print(text[:start] + BODY + text[end:])
