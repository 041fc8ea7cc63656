// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// The saved value is the one that the derivative is computed from: the result, or the operand.

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DX:.*]] = arith.mulf %[[G]], %[[OUT]]
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[SLOPE:.*]] = arith.divf %{{.*}}, %[[X]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.log %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[SUM:.*]] = arith.addf %[[ONE]], %[[X]]
// CHECK: %[[SLOPE:.*]] = arith.divf %[[ONE]], %[[SUM]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.log1p %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[OUT]], %[[OUT]]
// CHECK: %[[SLOPE:.*]] = arith.subf %{{.*}}, %[[SQUARE]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The slope of a root of zero is zero.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[OUT]], %[[ZERO]]
// CHECK-DAG: %[[QUOTIENT:.*]] = arith.divf %[[HALF]], %[[OUT]]
// CHECK: %[[SLOPE:.*]] = arith.select %[[IS_ZERO]], %[[ZERO]], %[[QUOTIENT]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.sqrt %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[OUT]], %[[OUT]]
// CHECK: %[[CUBE:.*]] = arith.mulf %[[OUT]], %[[SQUARE]]
// CHECK: %[[FACTOR:.*]] = arith.constant dense<-5.000000e-01>
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[CUBE]], %[[FACTOR]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.rsqrt %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[BELOW:.*]] = arith.cmpf ogt, %{{.*}}, %[[X]]
// CHECK: %[[NEGATIVE:.*]] = arith.select %[[BELOW]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}}
// CHECK: %[[SLOPE:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[NEGATIVE]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.absf %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[MINUS:.*]] = arith.negf %[[SQUARE]]
// CHECK: %[[EXP:.*]] = math.exp %[[MINUS]]
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[EXP]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.erf %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[B:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[LOWER:.*]] = arith.subf %[[B]], %{{.*}}
// CHECK: %[[POWER:.*]] = math.powf %[[A]], %[[LOWER]]
// CHECK: %[[NO_POWER:.*]] = arith.cmpf oeq, %[[B]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[B]], %[[POWER]]
// CHECK: %[[SLOPE:.*]] = arith.select %[[NO_POWER]], %{{.*}}, %[[PRODUCT]]
// CHECK: %[[DA:.*]] = arith.mulf %[[G]], %[[SLOPE]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[A]]
// CHECK: %[[LOG:.*]] = math.log %[[A]]
// CHECK: %[[OUT_LOG:.*]] = arith.mulf %[[OUT]], %[[LOG]]
// CHECK: %[[SLOPE_B:.*]] = arith.select %[[IS_ZERO]], %{{.*}}, %[[OUT_LOG]]
// CHECK: %[[DB:.*]] = arith.mulf %[[G]], %[[SLOPE_B]]
// CHECK: return %[[DA]], %[[DB]]
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.powf %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[K:.*]]: tensor<4xi32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[B:.*]] = arith.sitofp %[[K]]
// CHECK: %[[LOWER:.*]] = arith.subf %[[B]], %{{.*}}
// CHECK: %[[POWER:.*]] = math.powf %[[A]], %[[LOWER]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[B]], %[[POWER]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[PRODUCT]]
func.func @f(%a: tensor<4xf32>, %k: tensor<4xi32>) -> tensor<4xf32> {
  %y = math.fpowi %a, %k : tensor<4xf32>, tensor<4xi32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[LOG2:.*]] = arith.constant dense<0.693147182>
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[OUT]], %[[LOG2]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp2 %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[SLOPE:.*]] = arith.addf %[[OUT]], %[[ONE]]
// CHECK: arith.mulf %[[G]], %[[SLOPE]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.expm1 %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
