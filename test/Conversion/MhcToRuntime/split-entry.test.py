"""An entry with a hundred launches."""

LAUNCH = """  mhc.launch "mhc.contract" ins(%x : memref<?x4x8xf32>) outs(%out : memref<?x8xf32>) present = [true, true]
    config = {layout = #mhc.layout<nC>, mode = #mhc.contract_mode<sum>}
"""
print("""func.func @deep(%x: memref<?x4x8xf32> {mhc.name = "x", mhc.dims = ["M", "4", "8"]},
                %out: memref<?x8xf32> {mhc.name = "out", mhc.dims = ["M", "8"], mhc.result}) {
""" + 100 * LAUNCH + "  return\n}")
