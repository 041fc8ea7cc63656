// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @expand
func.func @expand(%x: tensor<?x64xbf16>) -> tensor<?x4x64xbf16> {
  // CHECK: %streams = mhc.expand(x = %{{.*}} : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %streams = mhc.expand(x = %x : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  return %streams : tensor<?x4x64xbf16>
}

// CHECK-LABEL: @expand_streams_last
func.func @expand_streams_last(%x: tensor<2x?xf32>) -> tensor<2x?x16xf32> {
  // CHECK: mhc.expand(x = %{{.*}} : tensor<2x?xf32>) <layout = Cn> -> (streams : tensor<2x?x16xf32>)
  %streams = mhc.expand(x = %x : tensor<2x?xf32>) <layout = Cn> -> (streams : tensor<2x?x16xf32>)
  return %streams : tensor<2x?x16xf32>
}

// CHECK-LABEL: @contract
func.func @contract(%x: tensor<?x4x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x4xbf16>) {
  // CHECK: mhc.contract(x = %{{.*}} : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  %mean = mhc.contract(x = %x : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  %y = mhc.expand(x = %mean : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %c = tensor.extract_slice %y[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<2x4x4xbf16>
  // CHECK: mhc.contract(x = %{{.*}} : tensor<2x4x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x4xbf16>)
  %sum = mhc.contract(x = %c : tensor<2x4x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x4xbf16>)
  return %mean, %sum : tensor<?x64xbf16>, tensor<?x4xbf16>
}
