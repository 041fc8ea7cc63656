"""An entry with a hundred launches; with the argument "lists", of a kernel that takes lists."""

import sys

LAUNCH = """  mhc.launch "mhc.contract" ins(%x : memref<?x4x8xf32>) outs(%out : memref<?x8xf32>) counts = [1, 1]
    config = {layout = #mhc.layout<nC>, mode = #mhc.contract_mode<sum>}
"""
LISTS = """  mhc.launch "mhc.rebuild" ins(%x, %out, %h, %a : memref<?x4x8xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x4x4xf32>)
    outs(%x : memref<?x4x8xf32>) counts = [1, 0, 1, 0, 1, 1, 0, 0, 1]
    config = {layout = #mhc.layout<nC>, orient = #mhc.orient<oi>}
"""
print("""func.func @deep(%x: memref<?x4x8xf32> {mhc.name = "x", mhc.dims = ["M", "4", "8"]},
                %h: memref<?x4xf32> {mhc.name = "h", mhc.dims = ["M", "4"]},
                %a: memref<?x4x4xf32> {mhc.name = "a", mhc.dims = ["M", "4", "4"]},
                %out: memref<?x8xf32> {mhc.name = "out", mhc.dims = ["M", "8"], mhc.result}) {
""" + 100 * (LISTS if "lists" in sys.argv else LAUNCH) + "  return\n}")
