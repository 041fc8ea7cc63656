// RUN: mhc-opt %s -mhc-fold-contract | FileCheck %s

// CHECK-LABEL: func.func @last_sublayer
// CHECK: %[[OUT:.*]] = mhc.post({{.*}}<layout = nC, orient = oi, contracted = sum> -> (out : tensor<?x64xbf16>)
// CHECK-NEXT: return %[[OUT]]
func.func @last_sublayer(%e: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> tensor<?x64xbf16> {
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %s = mhc.contract(x = %y : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
  return %s : tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @mean
// CHECK: mhc.post({{.*}}contracted = mean> -> (out : tensor<?x64xbf16>)
// CHECK-NOT: mhc.contract
func.func @mean(%e: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> tensor<?x64xbf16> {
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %s = mhc.contract(x = %y : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  return %s : tensor<?x64xbf16>
}

// Streams that something else reads are written.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK: mhc.post({{.*}}<layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
// CHECK: mhc.contract(
func.func @read_elsewhere(%e: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %s = mhc.contract(x = %y : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
  return %y, %s : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @interleaved
// CHECK: mhc.contract(
func.func @interleaved(%e: tensor<?x64xbf16>, %x: tensor<?x64x4xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> tensor<?x64xbf16> {
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x64x4xbf16>)
  %s = mhc.contract(x = %y : tensor<?x64x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x64xbf16>)
  return %s : tensor<?x64xbf16>
}

// No post made these.
// CHECK-LABEL: func.func @streams_of_others
// CHECK: mhc.contract(
func.func @streams_of_others(%x: tensor<?x4x64xbf16>) -> tensor<?x64xbf16> {
  %s = mhc.contract(x = %x : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
  return %s : tensor<?x64xbf16>
}
