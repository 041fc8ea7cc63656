// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s

// Programs that the verifiers of mHC ops refuse stay as they are written.

// CHECK: [Missed] sinkhorn-eps-sign {{.*}}Function=negative_eps {{.*}}Found="eps = -0.001 in normalisation 1 of 2", Needed="an eps of at least 0"
// CHECK-NOT: [Missed]
// CHECK: [Missed] sinkhorn-iterations {{.*}}Function=too_long {{.*}}Found="more than 1000 iterations", Needed="at most 1000"
// CHECK-NOT: [Missed]
// CHECK: [Missed] sinkhorn-iterations {{.*}}Function=too_long_by_factors {{.*}}Found="more than 1000 iterations", Needed="at most 1000"
// CHECK-NOT: Missed{{.*}} sinkhorn

// CHECK-LABEL: func.func @negative_eps
// CHECK-NOT: mhc.sinkhorn
// CHECK: return
func.func @negative_eps(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x4xf32>
  %eps = arith.constant -1.0e-03 : f32
  %e = math.exp %x : tensor<?x4x4xf32>
  %eps_all = tensor.splat %eps[%M] : tensor<?x4xf32>
  %row = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %rowe = arith.addf %row, %eps_all : tensor<?x4xf32>
  %rowa = mhc.broadcast %rowe dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r1 = arith.divf %e, %rowa : tensor<?x4x4xf32>
  %col = mhc.reduce sum %r1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %cole = arith.addf %col, %eps_all : tensor<?x4xf32>
  %cola = mhc.broadcast %cole dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %map = arith.divf %r1, %cola : tensor<?x4x4xf32>
  return %map : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @too_long
// CHECK-NOT: mhc.sinkhorn
// CHECK: return
func.func @too_long(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 1001 : index
  %e = math.exp %x : tensor<?x4x4xf32>
  %map = scf.for %i = %c0 to %turns step %c1 iter_args(%m = %e) -> (tensor<?x4x4xf32>) {
    %row = mhc.reduce sum %m dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %rowa = mhc.broadcast %row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %r1 = arith.divf %m, %rowa : tensor<?x4x4xf32>
    %col = mhc.reduce sum %r1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %cola = mhc.broadcast %col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %r2 = arith.divf %r1, %cola : tensor<?x4x4xf32>
    scf.yield %r2 : tensor<?x4x4xf32>
  }
  return %map : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @too_long_by_factors
// CHECK-NOT: mhc.sinkhorn
// CHECK: return
func.func @too_long_by_factors(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 1001 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x4xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%M] : tensor<?x4xf32>
  %e = math.exp %x : tensor<?x4x4xf32>
  %u, %v = scf.for %i = %c0 to %turns step %c1 iter_args(%u0 = %ones, %v0 = %ones) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %by_columns = mhc.broadcast %v0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %kv = arith.mulf %e, %by_columns : tensor<?x4x4xf32>
    %rows = mhc.reduce sum %kv dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %u1 = arith.divf %ones, %rows : tensor<?x4xf32>
    %by_rows = mhc.broadcast %u1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %ku = arith.mulf %e, %by_rows : tensor<?x4x4xf32>
    %columns = mhc.reduce sum %ku dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %v1 = arith.divf %ones, %columns : tensor<?x4xf32>
    scf.yield %u1, %v1 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %u_all = mhc.broadcast %u dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %v_all = mhc.broadcast %v dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %ue = arith.mulf %e, %u_all : tensor<?x4x4xf32>
  %map = arith.mulf %ue, %v_all : tensor<?x4x4xf32>
  return %map : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: mhc.sinkhorn{{.*}} iters = 1000>
func.func @long(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 1000 : index
  %e = math.exp %x : tensor<?x4x4xf32>
  %map = scf.for %i = %c0 to %turns step %c1 iter_args(%m = %e) -> (tensor<?x4x4xf32>) {
    %row = mhc.reduce sum %m dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %rowa = mhc.broadcast %row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %r1 = arith.divf %m, %rowa : tensor<?x4x4xf32>
    %col = mhc.reduce sum %r1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %cola = mhc.broadcast %col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %r2 = arith.divf %r1, %cola : tensor<?x4x4xf32>
    scf.yield %r2 : tensor<?x4x4xf32>
  }
  return %map : tensor<?x4x4xf32>
}

// The mean square is taken, its root is not.
// CHECK-LABEL: func.func @negative_norm_eps
// CHECK: mhc.projection{{.*}} norm = none, norm_eps = 0.0, stat_form = mean_square>
// CHECK: math.rsqrt
func.func @negative_norm_eps(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant -1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x24xf32>
  %t = arith.mulf %h, %s_all : tensor<?x24xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  %z = arith.addf %t, %beta_all : tensor<?x24xf32>
  %zpre = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %h_pre = mhc.sigmoid %zpre : tensor<?x4xf32>
  return %h_pre : tensor<?x4xf32>
}
