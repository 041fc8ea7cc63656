// RUN: mhc-opt %s -convert-mhc-to-runtime | FileCheck %s

// CHECK-LABEL: func.func @mhc_entry_sinkhorn
// CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr) -> i32
// CHECK-SAME: passthrough = ["noinline", "optnone"]
func.func @sinkhorn(%logits: memref<?x4x4xf32> {mhc.name = "logits", mhc.dims = ["M", "4", "4"]},
                    %mix: memref<?x4x4xf32> {mhc.name = "mix", mhc.dims = ["M", "4", "4"], mhc.result}) {
  // CHECK-DAG: %[[F32:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[ITERS:.*]] = arith.constant 20 : i64
  // CHECK-DAG: %[[FORMAT:.*]] = arith.constant 1 : i64
  // CHECK-DAG: %[[EPS:.*]] = arith.constant 0.000000e+00 : f64
  // CHECK-DAG: %[[N:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[IN:.*]] = llvm.load %[[ARGS]] invariant {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  // CHECK-DAG: %[[DIMS:.*]] = llvm.getelementptr %[[ARGS]][16]
  // CHECK-DAG: %[[SIZE:.*]] = llvm.load %[[DIMS]]
  // CHECK-DAG: %[[M:.*]] = arith.index_cast %[[SIZE]]
  // CHECK-DAG: %[[OUT:.*]] = llvm.load %[[RESULTS]]
  // CHECK: call @mhcrt_sinkhorn_call(%[[CTX]], %[[IN]], %[[F32]], %[[OUT]], %[[F32]], %[[M]], %[[N]],
  // CHECK-SAME: %[[EPS]], %[[ITERS]], %[[FORMAT]], %{{[^,]*}})
  mhc.launch "mhc.sinkhorn" ins(%logits : memref<?x4x4xf32>) outs(%mix : memref<?x4x4xf32>)
    counts = [1, 1] config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>,
    eps = 0.0 : f64, iters = 20 : i64, format = #mhc.format<bf16>}
  // CHECK: %[[STATUS:.*]] = call @mhcrt_last_status(%[[CTX]])
  // CHECK: return %[[STATUS]]
  return
}

// An absent tensor is null, and its dtype is zero. So are the sizes and numbers that go with it.
// CHECK-LABEL: func.func @mhc_entry_absent
func.func @absent(%f: memref<?x8xbf16> {mhc.name = "f", mhc.dims = ["M", "8"]},
                  %h: memref<?x2xf32> {mhc.name = "h", mhc.dims = ["M", "2"]},
                  %x: memref<?x2x8xbf16> {mhc.name = "x", mhc.dims = ["M", "2", "8"]},
                  %a: memref<?x2x2xf32> {mhc.name = "a", mhc.dims = ["M", "2", "2"]},
                  %out: memref<?x2x8xbf16> {mhc.name = "out", mhc.dims = ["M", "2", "8"], mhc.result}) {
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[BF16:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[NOSIZE:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[NORATE:.*]] = arith.constant 0.000000e+00 : f64
  // CHECK-DAG: %[[NOSTREAM:.*]] = arith.constant 0 : i64
  // CHECK: call @mhcrt_post_call(%{{[^,]*}}, %{{[^,]*}}, %[[BF16]], %[[NULL]], %[[NONE]],
  // CHECK-SAME: %[[NULL]], %[[NONE]], %{{[^,]*}}, %[[BF16]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[NOSIZE]],
  // CHECK-SAME: %[[NORATE]], %[[NOSTREAM]], %[[NOSTREAM]], %[[NOSTREAM]])
  mhc.launch "mhc.post" ins(%f, %h, %x, %a : memref<?x8xbf16>, memref<?x2xf32>, memref<?x2x8xbf16>, memref<?x2x2xf32>)
    outs(%out : memref<?x2x8xbf16>) counts = [1, 0, 1, 1, 1, 0, 1]
    config = {layout = #mhc.layout<nC>, orient = #mhc.orient<oi>}
  return
}

// A list is an array of addresses and its length; an empty one is null.
// CHECK-LABEL: func.func @mhc_entry_lists
func.func @lists(%x: memref<?x2x8xbf16> {mhc.name = "x", mhc.dims = ["M", "2", "8"]},
                 %f0: memref<?x8xbf16> {mhc.name = "f0", mhc.dims = ["M", "8"]},
                 %f1: memref<?x8xbf16> {mhc.name = "f1", mhc.dims = ["M", "8"]},
                 %h: memref<?x2xf32> {mhc.name = "h", mhc.dims = ["M", "2"]},
                 %a: memref<?x2x2xf32> {mhc.name = "a", mhc.dims = ["M", "2", "2"]},
                 %y0: memref<?x2x8xbf16> {mhc.name = "y0", mhc.dims = ["M", "2", "8"], mhc.result},
                 %y1: memref<?x2x8xbf16> {mhc.name = "y1", mhc.dims = ["M", "2", "8"], mhc.result}) {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[BF16:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero
  // CHECK: %[[F:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
  // CHECK: llvm.store %[[F0:.*]], %[[F]] :
  // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[F]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  // CHECK: llvm.store %[[F1:.*]], %[[NEXT]] :
  // CHECK: call @mhcrt_rebuild_call(%{{[^,]*}}, %{{[^,]*}}, %[[BF16]], %[[NULL]], %[[NONE]], %[[ZERO]], %[[F]], %[[BF16]], %[[TWO]],
  mhc.launch "mhc.rebuild" ins(%x, %f0, %f1, %h, %h, %a, %a : memref<?x2x8xbf16>, memref<?x8xbf16>, memref<?x8xbf16>,
      memref<?x2xf32>, memref<?x2xf32>, memref<?x2x2xf32>, memref<?x2x2xf32>)
    outs(%y0, %y1 : memref<?x2x8xbf16>, memref<?x2x8xbf16>) counts = [1, 0, 2, 0, 2, 2, 0, 0, 2]
    config = {layout = #mhc.layout<nC>, orient = #mhc.orient<oi>}
  return
}

// Views are arithmetic on pointers; the arena may be missing.
// CHECK-LABEL: func.func @mhc_entry_arena_and_views
func.func @arena_and_views(%x: memref<?x8xf32> {mhc.name = "x", mhc.dims = ["M", "8"]},
                           %out: memref<?x4xf32> {mhc.name = "out", mhc.dims = ["M", "4"], mhc.result}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %x, %c0 : memref<?x8xf32>
  // CHECK: %[[ARENA:.*]] = call @mhcrt_workspace(
  // CHECK: %[[MISSING:.*]] = llvm.icmp "eq" %[[ARENA]]
  // CHECK: cf.cond_br %[[MISSING]], ^[[FAILED:.*]], ^[[REST:.*]]
  %arena = memref.alloc(%c64) {alignment = 64 : i64} : memref<?xi8>
  // CHECK: ^[[REST]]:
  // CHECK: %[[T:.*]] = llvm.getelementptr %[[ARENA]]
  %t = memref.view %arena[%c64][%M] : memref<?xi8> to memref<?x4xf32>
  // CHECK: %[[PART:.*]] = llvm.getelementptr %{{.*}}[4] : (!llvm.ptr) -> !llvm.ptr, f32
  %part = memref.subview %x[0, 4] [%M, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  %cast = memref.cast %part : memref<?x4xf32, strided<[8, 1], offset: 4>> to memref<?x4xf32, strided<[8, 1], offset: ?>>
  // CHECK: call @loop(%[[PART]], %{{.*}}, %[[T]], %{{.*}}) : (!llvm.ptr, index, !llvm.ptr, index) -> ()
  func.call @loop(%cast, %t) : (memref<?x4xf32, strided<[8, 1], offset: ?>>, memref<?x4xf32>) -> ()
  // CHECK: ^[[FAILED]]:
  // CHECK: call @mhcrt_last_status
  return
}

// An address computation has 29 bits for a constant: no more than 256 MiB.
// CHECK-LABEL: func.func @mhc_entry_large
// CHECK: %[[FAR:.*]] = llvm.mlir.constant(268435456 : i64) : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[FAR]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
func.func @large(%x: memref<?x4xf32> {mhc.name = "x", mhc.dims = ["M", "4"]}) {
  %c0 = arith.constant 0 : index
  %bytes = arith.constant 8589934592 : index
  %far = arith.constant 268435456 : index
  %M = memref.dim %x, %c0 : memref<?x4xf32>
  %arena = memref.alloc(%bytes) {alignment = 64 : i64} : memref<?xi8>
  %t = memref.view %arena[%far][%M] : memref<?xi8> to memref<?x4xf32>
  func.call @far_loop(%x, %t) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}
func.func private @far_loop(%x: memref<?x4xf32>, %y: memref<?x4xf32> {llvm.noalias}) {
  return
}

// A failed kernel may leave a loop's condition true forever: the loop checks the status.
// CHECK-LABEL: func.func @mhc_entry_until
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: scf.while
// CHECK: %[[MORE:.*]] = arith.cmpf
// CHECK-NEXT: %[[STATUS:.*]] = func.call @mhcrt_last_status(
// CHECK-NEXT: %[[GOOD:.*]] = arith.cmpi eq, %[[STATUS]], %[[ZERO]] : i32
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[MORE]], %[[GOOD]] : i1
// CHECK-NEXT: scf.condition(%[[BOTH]])
func.func @until(%x: memref<1xf32> {mhc.name = "x", mhc.dims = ["1"]}) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1.0 : f32
  scf.while : () -> () {
    %number = memref.load %x[%c0] : memref<1xf32>
    %more = arith.cmpf ogt, %number, %limit : f32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func private @loop
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[SIZE:.*]]: index, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index)
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
func.func private @loop(%x: memref<?x4xf32, strided<[8, 1], offset: ?>>, %y: memref<?x4xf32> {llvm.noalias}) {
  // CHECK: llvm.insertvalue %[[P]], %{{.*}}[1]
  // CHECK: builtin.unrealized_conversion_cast
  return
}

// A kernel takes its arguments in a struct, which has its size first. One function fills it in for all calls.
// CHECK-LABEL: func.func private @mhcrt_sinkhorn_call(
// CHECK-SAME: %[[CTX:[^:]*]]: !llvm.ptr, %[[LOGITS:[^:]*]]: !llvm.ptr, %{{[^:]*}}: i32, %{{[^:]*}}: !llvm.ptr, %[[TYPE:[^:]*]]: i32,
// CHECK-SAME: %[[M:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: f64,
// CHECK-SAME: %[[ITERS:[^:]*]]: i64, %[[FORMAT:[^:]*]]: i64, %{{[^:]*}}: i64) -> i32 attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(104 : i64)
// CHECK: %[[STRUCT:.*]] = llvm.alloca %[[BYTES]] x i8 {alignment = 8 : i64}
// CHECK: llvm.store %[[BYTES]], %[[STRUCT]] :
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCT]][8] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: llvm.store %[[LOGITS]], %[[AT]] :
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCT]][32]
// CHECK: llvm.store %[[TYPE]], %[[AT]] : i32,
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCT]][40]
// CHECK: llvm.store %[[WIDE]], %[[AT]] : i64,
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCT]][80]
// CHECK: llvm.store %[[ITERS]], %[[AT]] : i64,
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCT]][88]
// CHECK: llvm.store %[[FORMAT]], %[[AT]] : i64,
// CHECK: %[[STATUS:.*]] = call @mhcrt_sinkhorn(%[[CTX]], %[[STRUCT]]) : (!llvm.ptr, !llvm.ptr) -> i32
// CHECK: return %[[STATUS]]
// CHECK: func.func private @mhcrt_sinkhorn(!llvm.ptr, !llvm.ptr) -> i32

// CHECK: llvm.mlir.global external constant @mhc_model_manifest("mhc-model 1\0Aentry sinkhorn\0Aarg logits f32 M 4 4\0Aresult mix f32 M 4 4\0Aend\0A
