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
