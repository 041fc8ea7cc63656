// RUN: mhc-opt %s --split-input-file --verify-diagnostics --mhc-write-aten -o /dev/null | FileCheck %s

// Nodes that no fused op is behind are not written, and values behind one are written once.
// CHECK: {"calls": [
// CHECK-NEXT: {"args":[{"node":"a"}],"op":"aten.exp.default","result":0},
// CHECK-NEXT: {"kwargs":{"h_pre":{"value":0},"layout":"nC","x":{"node":"x"}},"nodes":["sum_1","mul_1"],"op":"mhc.aggregate","results":{"u":1}},
// CHECK-NEXT: {"args":[{"value":1}],"op":"aten.neg.default","result":2}],
// CHECK-NEXT: "nodes": {"neg":{"value":2},"sum_1":{"value":1}}}
func.func @needed(%x: tensor<2x4x8xf32> {mhc.name = "x"}, %a: tensor<2x4xf32> {mhc.name = "a"})
    -> (tensor<2x8xf32> {mhc.name = "sum_1"}, tensor<2x8xf32> {mhc.name = "neg"}, tensor<2x4xf32> {mhc.name = "exp"}) {
  %0 = math.exp %a : tensor<2x4xf32>
  %1 = math.log %a : tensor<2x4xf32>
  %u = mhc.aggregate(x = %x : tensor<2x4x8xf32>, h_pre = %0 : tensor<2x4xf32>) <layout = nC> -> (u : tensor<2x8xf32>) loc(fused["sum_1"("model.py":7:1), "mul_1"("model.py":6:1), "sum_1"])
  %2 = arith.negf %u : tensor<2x8xf32>
  return %u, %2, %0 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>
}

// -----

// Open sizes are products of those that tensors have.
// CHECK: {"calls": [
// CHECK-NEXT: {"args":[{"node":"x"},0],"op":"aten.sym_size.int","result":0},
// CHECK-NEXT: {"args":[{"node":"x"},1],"op":"aten.sym_size.int","result":1},
// CHECK-NEXT: {"args":[{"node":"x"},0],"op":"aten.sym_size.int","result":2},
// CHECK-NEXT: {"args":[{"node":"x"},1],"op":"aten.sym_size.int","result":3},
// CHECK-NEXT: {"args":[{"value":2},{"value":3}],"op":"operator.mul","result":4},
// CHECK-NEXT: {"args":[{"node":"x"},[{"value":4},8]],"op":"aten.reshape.default","result":5},
// CHECK-NEXT: {"kwargs":{"layout":"nC","n":4,"x":{"value":5}},"nodes":[],"op":"mhc.expand","results":{"streams":6}},
// CHECK-NEXT: {"args":[{"value":6},[{"value":0},{"value":1},4,8]],"op":"aten.reshape.default","result":7},
// CHECK-NEXT: {"args":[{"value":7},[0,1,3,2]],"op":"aten.permute.default","result":8}],
// CHECK-NEXT: "nodes": {"permute":{"value":8}}}
func.func @open(%x: tensor<?x?x8xf32> {mhc.name = "x"}) -> (tensor<?x?x8x4xf32> {mhc.name = "permute"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %1 = mhc.expand(x = %0 : tensor<?x8xf32>) <layout = nC> -> (streams : tensor<?x4x8xf32>)
  %2 = tensor.expand_shape %1 [[0, 1], [2], [3]] output_shape [%b, %s, 4, 8] : tensor<?x4x8xf32> into tensor<?x?x4x8xf32>
  %3 = mhc.transpose %2 perm = [0, 1, 3, 2] : tensor<?x?x4x8xf32> -> tensor<?x?x8x4xf32>
  return %3 : tensor<?x?x8x4xf32>
}

// -----

// Sizes are read of the first arguments that have their symbols: a later one may be a node that needs the call.
// CHECK: {"calls": [
// CHECK-NEXT: {"args":[{"node":"h"},[4]],"op":"aten.reshape.default","result":0},
// CHECK-NEXT: {"args":[{"value":0},[1,4]],"op":"aten.reshape.default","result":1},
// CHECK-NEXT: {"args":[{"node":"x"},0],"op":"aten.sym_size.int","result":2},
// CHECK-NEXT: {"args":[{"node":"x"},1],"op":"aten.sym_size.int","result":3},
// CHECK-NEXT: {"args":[{"value":2},{"value":3}],"op":"operator.mul","result":4},
// CHECK-NEXT: {"args":[{"value":4},2],"op":"operator.mul","result":5},
// CHECK-NEXT: {"args":[{"value":1},[{"value":5},-1]],"op":"aten.expand.default","result":6},
// CHECK-NEXT: {"kwargs":{"h_pre":{"value":6},"layout":"nC","x":{"node":"late"}},"nodes":[],"op":"mhc.aggregate","results":{"u":7}}],
// CHECK-NEXT: "nodes": {"sum":{"value":7}}}
func.func @early(%x: tensor<?x?x8xf32> {mhc.name = "x", mhc.dims = ["s", "t", "8"]}, %h: tensor<1x4xf32> {mhc.name = "h"},
                 %late: tensor<?x4x8xf32> {mhc.name = "late", mhc.dims = ["2*s*t", "4", "8"]}) -> (tensor<?x8xf32> {mhc.name = "sum"}) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %late, %c0 : tensor<?x4x8xf32>
  %row = tensor.collapse_shape %h [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %0 = mhc.broadcast %row[%size] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %u = mhc.aggregate(x = %late : tensor<?x4x8xf32>, h_pre = %0 : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  return %u : tensor<?x8xf32>
}

// -----

// Two open sizes that are joined from several.
// CHECK: {"calls": [
// CHECK-NEXT: {"args":[{"node":"x"},0],"op":"aten.sym_size.int","result":0},
// CHECK-NEXT: {"args":[{"node":"k"},0],"op":"aten.sym_size.int","result":1},
// CHECK-NEXT: {"args":[{"value":0},{"value":1}],"op":"operator.mul","result":2},
// CHECK-NEXT: {"args":[{"node":"k"},0],"op":"aten.sym_size.int","result":3},
// CHECK-NEXT: {"kwargs":{"layout":"nC","mode":"mean","x":{"node":"x"}},"nodes":[],"op":"mhc.contract","results":{"out":4}},
// CHECK-NEXT: {"args":[{"node":"x"},0],"op":"aten.sym_size.int","result":5},
// CHECK-NEXT: {"args":[{"value":4},[{"value":5},1,8,1]],"op":"aten.reshape.default","result":6},
// CHECK-NEXT: {"args":[{"node":"k"},0],"op":"aten.sym_size.int","result":7},
// CHECK-NEXT: {"args":[{"value":6},[-1,{"value":7},-1,{"value":7}]],"op":"aten.expand.default","result":8},
// CHECK-NEXT: {"args":[{"value":8},[{"value":2},8,{"value":3}]],"op":"aten.reshape.default","result":9}],
// CHECK-NEXT: "nodes": {"view":{"value":9}}}
func.func @joined(%x: tensor<?x4x8xf32> {mhc.name = "x"}, %k: tensor<?xi64> {mhc.name = "k"}) -> (tensor<?x8x?xf32> {mhc.name = "view"}) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %k, %c0 : tensor<?xi64>
  %0 = mhc.contract(x = %x : tensor<?x4x8xf32>) <layout = nC, mode = mean> -> (out : tensor<?x8xf32>)
  %1 = mhc.broadcast %0[%size, %size] dims = [0, 2] : tensor<?x8xf32> -> tensor<?x?x8x?xf32>
  %2 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<?x?x8x?xf32> into tensor<?x8x?xf32>
  return %2 : tensor<?x8x?xf32>
}

// -----

// Constants are on the device of the first tensor; parts, joins, products and types.
// CHECK: {"calls": [
// CHECK-NEXT: {"args":[{"node":"w"},1,4,8],"op":"aten.slice.Tensor","result":0},
// CHECK-NEXT: {"args":[{"value":0}],"kwargs":{"dtype":"float32"},"op":"aten._to_copy.default","result":1},
// CHECK-NEXT: {"args":[{"node":"w"},[2,4],2],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":2},
// CHECK-NEXT: {"args":[{"value":1},{"value":2}],"op":"aten.mul.Tensor","result":3},
// CHECK-NEXT: {"kwargs":{"h_pre":{"value":3},"layout":"nC","x":{"node":"x"}},"nodes":[],"op":"mhc.aggregate","results":{"u":4}},
// CHECK-NEXT: {"args":[{"value":4},-2,-1],"op":"aten.transpose.int","result":5},
// CHECK-NEXT: {"args":[{"value":4},{"value":5}],"op":"aten.mm.default","result":6},
// CHECK-NEXT: {"args":[{"node":"w"},[2],1],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":7},
// CHECK-NEXT: {"args":[{"node":"w"},[2],0.5],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":8},
// CHECK-NEXT: {"args":[{{\[}}{"value":7},{"value":8}],0],"op":"aten.cat.default","result":9},
// CHECK-NEXT: {"args":[{"value":9},[1,4]],"op":"aten.reshape.default","result":10},
// CHECK-NEXT: {"args":[{"value":10},[2,-1]],"op":"aten.expand.default","result":11},
// CHECK-NEXT: {"args":[{"value":11},0,0,1],"op":"aten.slice.Tensor","result":12},
// CHECK-NEXT: {"args":[{"value":12},[0]],"op":"aten.squeeze.dims","result":13},
// CHECK-NEXT: {"args":[{{\[}}{"value":13},{"value":9}],0],"op":"aten.cat.default","result":14},
// CHECK-NEXT: {"args":[{"value":14},[4,2]],"op":"aten.reshape.default","result":15},
// CHECK-NEXT: {"args":[{"value":15},-2,-1],"op":"aten.transpose.int","result":16},
// CHECK-NEXT: {"args":[{"value":6},{"value":16}],"op":"aten.mm.default","result":17},
// CHECK-NEXT: {"args":[{"value":17},1,false],"op":"aten._softmax.default","result":18},
// CHECK-NEXT: {"args":[{"value":18},[1]],"op":"aten.sum.dim_IntList","result":19},
// CHECK-NEXT: {"args":[{"value":18},[1]],"op":"aten.mean.dim","result":20},
// CHECK-NEXT: {"args":[{"value":19},{"value":20}],"op":"aten.add.Tensor","result":21},
// CHECK-NEXT: {"args":[{"value":18},[1]],"op":"aten.amax.default","result":22},
// CHECK-NEXT: {"args":[{"value":21},{"value":22}],"op":"aten.maximum.default","result":23},
// CHECK-NEXT: {"args":[{"value":23},[2,1]],"op":"aten.reshape.default","result":24},
// CHECK-NEXT: {"args":[{"value":24},[-1,4]],"op":"aten.expand.default","result":25}],
// CHECK-NEXT: "nodes": {"r":{"value":25}}}
func.func @constants(%w: tensor<2x8xbf16> {mhc.name = "w"}, %x: tensor<2x4x8xf32> {mhc.name = "x"}) -> (tensor<2x4xf32> {mhc.name = "r"}) {
  %part = tensor.extract_slice %w[0, 4] [2, 4] [1, 1] : tensor<2x8xbf16> to tensor<2x4xbf16>
  %wide = arith.extf %part : tensor<2x4xbf16> to tensor<2x4xf32>
  %two = arith.constant dense<2.0> : tensor<2x4xf32>
  %h = arith.mulf %wide, %two : tensor<2x4xf32>
  %u = mhc.aggregate(x = %x : tensor<2x4x8xf32>, h_pre = %h : tensor<2x4xf32>) <layout = nC> -> (u : tensor<2x8xf32>)
  %m = arith.constant dense<[1.0, 1.0, 0.5, 0.5]> : tensor<4xf32>
  %row = mhc.broadcast %m dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
  %row0 = tensor.extract_slice %row[0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %last = tensor.concat dim(0) %row0, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %square = tensor.expand_shape %last [[0, 1]] output_shape [4, 2] : tensor<8xf32> into tensor<4x2xf32>
  %product = mhc.matmul %u, %u transpose_rhs : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  %r = mhc.matmul %product, %square transpose_rhs : (tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  %s = mhc.softmax %r dim = 1 : tensor<2x4xf32>
  %sum = mhc.reduce sum %s dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
  %mean = mhc.reduce mean %s dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
  %max = mhc.reduce max %s dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
  %a = arith.addf %sum, %mean : tensor<2xf32>
  %b = arith.maximumf %a, %max : tensor<2xf32>
  %all = mhc.broadcast %b dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
  return %all : tensor<2x4xf32>
}

// -----

func.func @no_form(%x: tensor<2x4x8xf32> {mhc.name = "x"}) -> (tensor<2x8xf32> {mhc.name = "r"}) {
  %u = mhc.contract(x = %x : tensor<2x4x8xf32>) <layout = nC, mode = mean> -> (out : tensor<2x8xf32>)
  // expected-error @+1 {{'math.ceil' has no form in PyTorch}}
  %r = math.ceil %u : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// Padding counts from the last dimension.
// CHECK: {"calls": [
// CHECK: {"args":[{"value":{{[0-9]+}}}],"op":"aten.softplus.default","result":[[SOFT:[0-9]+]]},
// CHECK-NEXT: {"args":[{"value":[[SOFT]]},[3,4,1,2],0.5],"op":"aten.constant_pad_nd.default","result":[[PADDED:[0-9]+]]}],
// CHECK-NEXT: "nodes": {"pad":{"value":[[PADDED]]}}}
func.func @padded(%x: tensor<2x4x8xf32> {mhc.name = "x"}) -> (tensor<5x15xf32> {mhc.name = "pad"}) {
  %half = arith.constant 0.5 : f32
  %0 = mhc.contract(x = %x : tensor<2x4x8xf32>) <layout = nC, mode = sum> -> (out : tensor<2x8xf32>)
  %1 = mhc.softplus %0 : tensor<2x8xf32>
  %2 = tensor.pad %1 low[1, 3] high[2, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %half : f32
  } : tensor<2x8xf32> to tensor<5x15xf32>
  return %2 : tensor<5x15xf32>
}

// -----

// Tokens move by padding that cuts at the other side.
// CHECK: {"args":[{"value":{{[0-9]+}}},[0,0,2,-2],0],"op":"aten.constant_pad_nd.default","result":[[LATER:[0-9]+]]},
// CHECK-NEXT: {"args":[{"value":[[LATER]]},[-1,1],0],"op":"aten.constant_pad_nd.default","result":[[BOTH:[0-9]+]]}],
// CHECK-NEXT: "nodes": {"moved":{"value":[[BOTH]]}}}
func.func @moved(%x: tensor<2x4x8xf32> {mhc.name = "x"}) -> (tensor<2x8xf32> {mhc.name = "moved"}) {
  %0 = mhc.contract(x = %x : tensor<2x4x8xf32>) <layout = nC, mode = sum> -> (out : tensor<2x8xf32>)
  %1 = mhc.shift %0 dim = 0 by = 2 : tensor<2x8xf32>
  %2 = mhc.shift %1 dim = 1 by = -1 : tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// -----

// A matrix beside the identity that a program adds

// CHECK: {"args":[{"node":"h"},[1],1],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":[[ONE:[0-9]+]]},
// CHECK-NEXT: {"args":[{"node":"h"},[2],0],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":[[ZEROS:[0-9]+]]},
// CHECK-NEXT: {"args":[{"node":"h"},[1],1],"kwargs":{"dtype":"float32"},"op":"aten.new_full.default","result":[[LAST:[0-9]+]]},
// CHECK-NEXT: {"args":[{{\[}}{"value":[[ONE]]},{"value":[[ZEROS]]},{"value":[[LAST]]}],0],"op":"aten.cat.default","result":[[JOINED:[0-9]+]]},
// CHECK-NEXT: {"args":[{"value":[[JOINED]]},[2,2]],"op":"aten.reshape.default","result":[[EYE:[0-9]+]]},
// CHECK: "op":"mhc.post"
func.func @identity(%h: tensor<3x2xf32> {mhc.name = "h"}, %x: tensor<3x2x8xf32> {mhc.name = "x"}, %f: tensor<3x8xf32> {mhc.name = "f"}) -> (tensor<3x2x8xf32> {mhc.name = "r"}) {
  %eye = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %mix = mhc.broadcast %eye dims = [1, 2] : tensor<2x2xf32> -> tensor<3x2x2xf32>
  %r = mhc.post(f = %f : tensor<3x8xf32>, h_post = %h : tensor<3x2xf32>, x = %x : tensor<3x2x8xf32>, h_res = %mix : tensor<3x2x2xf32>) <layout = nC, orient = oi> -> (out : tensor<3x2x8xf32>)
  return %r : tensor<3x2x8xf32>
}
