// One program in each phase.
// RUN: mhcc %s --compile-to=input | FileCheck %s --check-prefix=INPUT
// RUN: mhcc %s --compile-to=fuse | FileCheck %s --check-prefix=FUSE
// RUN: mhcc %s --compile-to=bufferize | FileCheck %s --check-prefix=BUFFERIZE
// RUN: mhcc %s --compile-to=lower | FileCheck %s --check-prefix=LOWER
// RUN: mhcc %s --compile-to=llvm | FileCheck %s --check-prefix=LLVM
// RUN: mhcc %s --compile-to=object -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: mhcc %s --compile-to=bufferize --fuse=none | FileCheck %s --check-prefix=NONE

// Calls are inlined.
// INPUT-NOT: @twice
// INPUT: @model
// INPUT: mhc.reduce
func.func private @twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %x, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// FUSE: mhc.contract
// FUSE-NOT: mhc.reduce

// BUFFERIZE: func.func @model
// BUFFERIZE-SAME: mhc.memory = [{all = 32 : i64, arena = 32 : i64, live = 32 : i64, per = "M"}]
// BUFFERIZE: memref.alloc
// BUFFERIZE: mhc.launch "mhc.contract"
// BUFFERIZE: linalg.generic

// Without fusion every op is a loop nest.
// NONE-NOT: mhc.launch
// NONE-COUNT-2: linalg.generic

// LOWER: llvm.func @mhc_entry_model
// LOWER: llvm.call @mhcrt_contract
// LOWER-NOT: {{memref|arith|func\.call|linalg}}

// LLVM: @mhc_model_manifest = {{.*}}constant
// LLVM: define i32 @mhc_entry_model(ptr

// OBJECT-DAG: T mhc_entry_model
// OBJECT-DAG: U mhcrt_contract
// OBJECT-DAG: R mhc_model_manifest
func.func @model(%x: tensor<?x4x8xf32> {mhc.name = "x"}) -> (tensor<?x8xf32> {mhc.name = "out"}) {
  %sum = mhc.reduce sum %x dims = [1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
  %out = func.call @twice(%sum) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
