// RUN: mhc-opt %s -mhc-describe-entries | FileCheck %s

// CHECK-LABEL: @defaults
// CHECK-SAME: tensor<?x4xf32> {mhc.dims = ["M", "4"], mhc.name = "arg0"}
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["d1"], mhc.name = "arg1"}
// CHECK-SAME: tensor<?x4xf32> {mhc.dims = ["M", "4"], mhc.name = "result0"}
func.func @defaults(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// CHECK-LABEL: @names_are_kept_and_equal_sizes_share_a_symbol
// CHECK-SAME: {mhc.dims = ["M", "4"], mhc.name = "x"}
// CHECK-SAME: {mhc.dims = ["M", "4"], mhc.name = "y"}
// CHECK-SAME: {mhc.dims = ["M", "4"], mhc.name = "sum"}
func.func @names_are_kept_and_equal_sizes_share_a_symbol(
    %x: tensor<?x4xf32> {mhc.name = "x"}, %y: tensor<?x4xf32> {mhc.name = "y"})
    -> (tensor<?x4xf32> {mhc.name = "sum"}) {
  %0 = arith.addf %x, %y : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: @results_follow_from_arguments
// CHECK-SAME: -> (tensor<?xf32> {mhc.dims = ["2*M"], mhc.name = "result0"})
func.func @results_follow_from_arguments(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.concat dim(0) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Stated sizes hold, though no op implies them.
// CHECK-LABEL: @stated
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M"], mhc.name = "arg0"}, %{{.*}}: tensor<?xf32> {mhc.dims = ["M"],
// CHECK-SAME: attributes {mhc.conditions = ["M=2*d1"]}
func.func @stated(%x: tensor<?xf32> {mhc.dims = ["a"]}, %y: tensor<?xf32> {mhc.dims = ["a"]},
                  %z: tensor<?xf32> {mhc.dims = ["b"]}) -> tensor<?xf32> attributes {mhc.conditions = ["a=2*b"]} {
  return %x : tensor<?xf32>
}

// CHECK-LABEL: @private_functions_are_no_entries
// CHECK-NOT: mhc.name
func.func private @private_functions_are_no_entries(%x: index) {
  return
}
