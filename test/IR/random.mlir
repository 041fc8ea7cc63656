// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s
// RUN: mhc-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @random
func.func @random(%seed: tensor<2xi64>) -> (tensor<1024xf32>, tensor<3xf32>) {
  // CHECK: %out = mhc.random(seed = %{{.*}} : tensor<2xi64>) <distribution = normal, stream = 3> -> (out : tensor<1024xf32>)
  %normal = mhc.random(seed = %seed : tensor<2xi64>) <distribution = normal, stream = 3> -> (out : tensor<1024xf32>)
  // CHECK: mhc.random(seed = %{{.*}} : tensor<2xi64>) <distribution = uniform, stream = 4294967295> -> (out : tensor<3xf32>)
  %uniform = mhc.random(seed = %seed : tensor<2xi64>) <distribution = uniform, stream = 4294967295> -> (out : tensor<3xf32>)
  return %normal, %uniform : tensor<1024xf32>, tensor<3xf32>
}

// CHECK-LABEL: @dropout
// FOLD-LABEL: @dropout
func.func @dropout(%x: tensor<?x64xbf16>, %seed: tensor<2xi64>) -> tensor<?x64xbf16> {
  // CHECK: %out = mhc.dropout(x = %{{.*}} : tensor<?x64xbf16>, seed = %{{.*}} : tensor<2xi64>) <rate = 1.0e-01, stream = 0> -> (out : tensor<?x64xbf16>)
  // FOLD: mhc.dropout
  %out = mhc.dropout(x = %x : tensor<?x64xbf16>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 0> -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// FOLD-LABEL: @dropout_of_nothing(%arg0
// FOLD-NEXT: return %arg0
func.func @dropout_of_nothing(%x: tensor<?x64xf32>, %seed: tensor<2xi64>) -> tensor<?x64xf32> {
  %out = mhc.dropout(x = %x : tensor<?x64xf32>, seed = %seed : tensor<2xi64>) <rate = 0.0, stream = 0> -> (out : tensor<?x64xf32>)
  return %out : tensor<?x64xf32>
}
