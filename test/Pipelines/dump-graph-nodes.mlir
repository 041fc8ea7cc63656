// Nodes and edges of a graph.
// RUN: mhc-opt %s --mhc-dump-graph=before | FileCheck %s

// A loop is its ops, with the number of iterations; what it starts from is read. Views are no nodes, and neither are
// constants whose elements are equal.
// CHECK: label="@loop: 5 kernels, 176 B\n20 flops";
// CHECK: [[EXP:"before_0_[0-9]+"]] [label="math.exp x 3\n96 B\n12 flops"];
// CHECK: [[SCALE:"before_0_[0-9]+"]] [label="arith.mulf\n32 B\n4 flops"];
// CHECK: [[SUM:"before_0_[0-9]+"]] [label="arith.addf\n48 B\n4 flops"];
// CHECK: [[X:"before_0_[0-9]+"]] [label="x", shape=ellipse];
// CHECK: [[TABLE:"before_0_[0-9]+"]] [label="constant", shape=ellipse];
// CHECK: [[Y:"before_0_[0-9]+"]] [label="y", shape=ellipse];
// CHECK: [[X]] -> [[EXP]] [label="4xf32\n16 B"];
// CHECK: [[EXP]] -> [[SCALE]] [label="4xf32\n16 B"];
// CHECK: [[SCALE]] -> [[SUM]] [label="2x2xf32\n16 B"];
// CHECK: [[TABLE]] -> [[SUM]] [label="2x2xf32\n16 B"];
// CHECK: [[SUM]] -> [[Y]] [label="2x2xf32\n16 B"];
func.func @loop(%x: tensor<4xf32> {mhc.name = "x"}) -> (tensor<2x2xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %powers = scf.for %i = %c0 to %c3 step %c1 iter_args(%power = %x) -> tensor<4xf32> {
    %next = math.exp %power : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %scaled = arith.mulf %powers, %two : tensor<4xf32>
  %square = tensor.expand_shape %scaled [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %sum = arith.addf %square, %table : tensor<2x2xf32>
  return %sum : tensor<2x2xf32>
}

// Ops that are not counted say why. An op with a region reads what its region captures.
// CHECK: label="@unknown: 0 kernels, 0 B/token";
// CHECK: [[IF:"before_1_[0-9]+"]] [label="scf.if\nnot counted: depends on what it runs"];
// CHECK: [[A:"before_1_[0-9]+"]] [label="a", shape=ellipse];
// CHECK: [[A]] -> [[IF]] [label="?x?xf32\ndepends on M*d1"];
func.func @unknown(%a: tensor<?x?xf32> {mhc.name = "a"}, %which: i1) -> (tensor<?x?xf32> {mhc.name = "b"}) {
  %b = scf.if %which -> tensor<?x?xf32> {
    %exp = math.exp %a : tensor<?x?xf32>
    scf.yield %exp : tensor<?x?xf32>
  } else {
    scf.yield %a : tensor<?x?xf32>
  }
  return %b : tensor<?x?xf32>
}
