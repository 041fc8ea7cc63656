// RUN: mhc-opt %s -mhc-bufferize -canonicalize | FileCheck %s

// CHECK-LABEL: @kernel_op
// CHECK-SAME: %[[X:.*]]: memref<?x4x8xf32>, %[[H:.*]]: memref<?x4xf32>
func.func @kernel_op(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[M:.*]] = memref.dim %[[X]]
  // CHECK: %[[U:.*]] = memref.alloc(%[[M]]) {alignment = 64 : i64} : memref<?x8xf32>
  // CHECK: mhc.launch "mhc.aggregate" ins(%[[X]], %[[H]] : {{.*}}) outs(%[[U]] : memref<?x8xf32>)
  // CHECK-SAME: counts = [1, 1, 1] config = {layout = #mhc.layout<nC>}
  %u = mhc.aggregate(x = %x : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  return %u : tensor<?x8xf32>
}

// Rows of a matrix are contiguous.
// CHECK-LABEL: @rows_are_used_in_place
func.func @rows_are_used_in_place(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[ROWS:.*]] = memref.subview
  // CHECK-NOT: memref.copy
  // CHECK: mhc.launch "mhc.matmul" ins(%[[ROWS]]
  %rows = tensor.extract_slice %x[3, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
  %out = mhc.matmul %rows, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %out : tensor<2x4xf32>
}

// Columns are not; kernels take no strides.
// CHECK-LABEL: @columns_are_copied
func.func @columns_are_copied(%x: tensor<?x8xf32>, %w: tensor<4x4xf32>, %M: index) -> tensor<?x4xf32> {
  // CHECK: %[[COLUMNS:.*]] = memref.subview
  // CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x4xf32>
  // CHECK: memref.copy %[[COLUMNS]], %[[COPY]]
  // CHECK: mhc.launch "mhc.matmul" ins(%[[COPY]]
  %columns = tensor.extract_slice %x[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %out = mhc.matmul %columns, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// CHECK-LABEL: @destination_is_written_in_place
func.func @destination_is_written_in_place(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: memref.alloc()
  // CHECK-NOT: memref.alloc()
  // CHECK-COUNT-2: memref.copy
  // CHECK-NOT: memref.copy
  %empty = tensor.empty() : tensor<8xf32>
  %0 = tensor.insert_slice %a into %empty[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @arguments_are_never_written
// CHECK-SAME: %[[A:.*]]: memref<8xf32>
func.func @arguments_are_never_written(%a: tensor<8xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: %[[NEW:.*]] = memref.alloc()
  // CHECK: memref.copy %[[A]], %[[NEW]]
  %0 = tensor.insert_slice %b into %a[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @a_value_with_another_use_is_not_overwritten
func.func @a_value_with_another_use_is_not_overwritten(%b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.fill
  // CHECK: memref.copy
  // CHECK: memref.copy
  %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A gradient grows in the buffer that it starts from.
// CHECK-LABEL: @gradient_in_place
func.func @gradient_in_place(%d_u: tensor<?x8xf32>, %x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>) -> tensor<?x4x8xf32> {
  // CHECK: %[[D:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x4x8xf32>
  // CHECK: mhc.launch "mhc.aggregate_bwd" {{.*}} outs(%[[D]] :
  // CHECK-NOT: memref.alloc
  // CHECK: mhc.launch "mhc.aggregate_bwd" ins({{.*}}, %[[D]] : {{.*}}) outs(%[[D]] :
  %first = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xf32>, x = %x : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>)
    <layout = nC> -> (d_x : tensor<?x4x8xf32>)
  %all = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xf32>, x = %x : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>,
      d_x_in = %first : tensor<?x4x8xf32>) <layout = nC> -> (d_x : tensor<?x4x8xf32>)
  return %all : tensor<?x4x8xf32>
}

// Unless that one is read again, or has other elements.
// CHECK-LABEL: @gradient_in_a_buffer_of_its_own
func.func @gradient_in_a_buffer_of_its_own(%d_u: tensor<?x8xbf16>, %x: tensor<?x4x8xbf16>, %h: tensor<?x4xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xbf16>) {
  // CHECK: mhc.launch "mhc.aggregate_bwd" {{.*}} outs(%[[D:.*]] :
  // CHECK-NOT: memref.copy
  // CHECK: %[[OWN:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x4x8xf32>
  // CHECK: mhc.launch "mhc.aggregate_bwd" ins({{.*}}, %[[D]] : {{.*}}) outs(%[[OWN]] :
  // CHECK: %[[ROUNDED:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x4x8xbf16>
  // CHECK: mhc.launch "mhc.aggregate_bwd" ins({{.*}}, %[[OWN]] : {{.*}}) outs(%[[ROUNDED]] :
  %first = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xbf16>, x = %x : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>)
    <layout = nC> -> (d_x : tensor<?x4x8xf32>)
  %second = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xbf16>, x = %x : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>,
      d_x_in = %first : tensor<?x4x8xf32>) <layout = nC> -> (d_x : tensor<?x4x8xf32>)
  %third = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xbf16>, x = %x : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>,
      d_x_in = %second : tensor<?x4x8xf32>) <layout = nC> -> (d_x : tensor<?x4x8xbf16>)
  return %first, %second, %third : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xbf16>
}

// The gradient of the streams behind a boundary is read where that of those in front of it is written. An argument keeps
// its memory.
// CHECK-LABEL: @spent_gradient
// CHECK-SAME: %[[GIVEN:arg0]]: memref<?x4x64xbf16>
func.func @spent_gradient(%d_y: tensor<?x4x64xbf16>, %d_u: tensor<?x64xbf16>, %d_next_h_post: tensor<?x4xf32>,
                          %d_next_h_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>,
                          %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
                          %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                          %proj: tensor<?x24xf32>, %stat: tensor<?xf32>) -> tensor<?x4x64xbf16> {
  // CHECK: mhc.launch "mhc.post_pre_bwd" ins({{.*}}, %[[GIVEN]], {{.*}}) outs(%{{[^,]*}}, %[[D:[^ ]*]] :
  // CHECK: mhc.launch "mhc.post_pre_bwd" ins({{.*}}, %[[D]], {{.*}}) outs(%{{[^,]*}}, %[[D]] :
  %d_f, %first = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_next_h_post : tensor<?x4xf32>,
      d_next_h_res = %d_next_h_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xbf16>, d_y = %d_y : tensor<?x4x64xbf16>,
      f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, next_orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>)
  %d_f2, %second = mhc.post_pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_next_h_post = %d_next_h_post : tensor<?x4xf32>,
      d_next_h_res = %d_next_h_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xbf16>, d_y = %first : tensor<?x4x64xbf16>,
      f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, next_orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>)
  return %second : tensor<?x4x64xbf16>
}

// CHECK-LABEL: @result_leaves_open_what_an_operand_knows
func.func @result_leaves_open_what_an_operand_knows(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[OUT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x4xf32>
  // CHECK: memref.cast %[[OUT]] : memref<2x4xf32> to memref<?x4xf32>
  %out = mhc.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}
