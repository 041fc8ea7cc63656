// RUN: mhc-opt %s -mhc-expand-math | FileCheck %s

// CHECK-LABEL: @functions_of_f32
func.func @functions_of_f32(%x: f32) -> (f32, f32, f32, f32, f32) {
  // CHECK-NOT: math.{{exp|tanh|log|log1p|erf}} {{.*}}
  // CHECK: math.fma
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.log %x : f32
  %3 = math.log1p %x : f32
  %4 = math.erf %x : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// CHECK-LABEL: @functions_of_f64_stay
func.func @functions_of_f64_stay(%x: f64) -> f64 {
  // CHECK: math.exp
  %0 = math.exp %x : f64
  return %0 : f64
}

// CHECK-LABEL: @bf16_in_integers
func.func @bf16_in_integers(%x: f32, %y: bf16) -> (bf16, f32) {
  // CHECK-NOT: arith.truncf
  // CHECK: arith.shrui
  // CHECK: arith.trunci %{{.*}} : i32 to i16
  // CHECK: arith.shli
  // CHECK-NOT: arith.extf
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.extf %y : bf16 to f32
  return %0, %1 : bf16, f32
}

// CHECK-LABEL: @f64_and_f16_meet_in_f32
func.func @f64_and_f16_meet_in_f32(%x: f64, %y: f16) -> (f16, f64) {
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.extf %{{.*}} : f32 to f64
  %0 = arith.truncf %x : f64 to f16
  %1 = arith.extf %y : f16 to f64
  return %0, %1 : f16, f64
}

// CHECK-LABEL: @functions_that_llvm_does_not_have
func.func @functions_that_llvm_does_not_have(%x: f32, %y: f64) -> (f32, f64) {
  // CHECK: call @cbrtf
  // CHECK: call @erf(
  %0 = math.cbrt %x : f32
  %1 = math.erf %y : f64
  return %0, %1 : f32, f64
}

// The GPU's own roots are approximations. Functions that LLVM does not have are in its library.
// CHECK-LABEL: gpu.func @in_kernels
gpu.module @device {
  gpu.func @in_kernels(%x: f32, %p: memref<3xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.f32"(%[[X:.*]]) : (f32) -> f32
    // CHECK: memref.store %[[ROOT]]
    // CHECK: %[[OTHER:.*]] = llvm.call_intrinsic "llvm.sqrt.f32"(%[[X]])
    // CHECK: arith.divf %{{.*}}, %[[OTHER]]
    // CHECK: math.cbrt
    %0 = math.sqrt %x : f32
    memref.store %0, %p[%c0] : memref<3xf32>
    %1 = math.rsqrt %x : f32
    memref.store %1, %p[%c1] : memref<3xf32>
    %2 = math.cbrt %x : f32
    memref.store %2, %p[%c2] : memref<3xf32>
    gpu.return
  }
}
