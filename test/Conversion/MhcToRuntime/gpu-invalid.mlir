// RUN: mhc-opt %s -verify-diagnostics -convert-mhc-to-runtime=target=cuda:sm_90a

func.func @load(%a: memref<4xf32> {mhc.name = "a", mhc.dims = ["4"]},
                %b: memref<4xf32> {mhc.name = "b", mhc.dims = ["4"], mhc.result}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.load' needs a value of the GPU on the host}}
  %0 = memref.load %a[%c0] : memref<4xf32>
  return
}
