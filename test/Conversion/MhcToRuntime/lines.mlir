// RUN: mhc-opt %s -convert-mhc-to-runtime=lines=true | FileCheck %s
// RUN: mhc-opt %s -convert-mhc-to-runtime=lines=true | FileCheck %s --check-prefix=TEXT
// RUN: mhc-opt %s -convert-mhc-to-runtime | FileCheck %s --check-prefix=NONE

// NONE-NOT: mhcrt_set_location

// TEXT-DAG: llvm.mlir.global private constant @"mhc_line_layer.mlir:7:3"("layer.mlir:7:3\00")
// TEXT-DAG: llvm.mlir.global private constant @"mhc_line_layer.mlir:9-12"("layer.mlir:9-12\00")
// TEXT-DAG: llvm.mlir.global private constant @mhc_line_("\00")

// Each call gets its line, a fused one its first and its last; what comes behind has none.
// CHECK-LABEL: func.func @mhc_entry_lines(
// CHECK-SAME: %[[CTX:[^:]*]]: !llvm.ptr
// CHECK: %[[FIRST:.*]] = llvm.mlir.addressof @"mhc_line_layer.mlir:7:3"
// CHECK: call @mhcrt_set_location(%[[CTX]], %[[FIRST]])
// CHECK: call @mhcrt_sinkhorn_call
// CHECK: %[[SECOND:.*]] = llvm.mlir.addressof @"mhc_line_layer.mlir:9-12"
// CHECK: call @mhcrt_set_location(%[[CTX]], %[[SECOND]])
// CHECK: call @mhc_loop(
// CHECK: %[[LAST:.*]] = llvm.mlir.addressof @mhc_line_
// CHECK: call @mhcrt_set_location(%[[CTX]], %[[LAST]])
// CHECK: call @mhcrt_last_status
func.func @lines(%a: memref<?x4x4xf32> {mhc.name = "a", mhc.dims = ["M", "4", "4"]},
                 %b: memref<?x4x4xf32> {mhc.name = "b", mhc.dims = ["M", "4", "4"], mhc.result}) {
  mhc.launch "mhc.sinkhorn" ins(%a : memref<?x4x4xf32>) outs(%b : memref<?x4x4xf32>)
    counts = [1, 1] config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>,
    eps = 0.0 : f64, iters = 20 : i64} loc("/src/layer.mlir":7:3)
  call @mhc_loop(%b) : (memref<?x4x4xf32>) -> () loc(fused["layer.mlir":10:5, "other.mlir":1:5, "layer.mlir":12:5, "layer.mlir":9:5])
  return
}
func.func private @mhc_loop(%b: memref<?x4x4xf32>) {
  return
}
