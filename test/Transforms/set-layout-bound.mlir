// RUN: mhc-opt %s -mhc-set-layout=layout=nC --remarks-filter='mhc.*' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not='[Passed]' --implicit-check-not='[Missed]' < %t.remarks
// RUN: not mhc-opt %s -mhc-set-layout=layout=CN 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: 'CN' is no layout of streams; needed 'nC', 'Cn' or 'auto'

// Streams that other code sees stay as they are, even where the user asks for the other layout.
// CHECK-NOT: layout = nC

// The op at fault is the reader of the argument.
// REMARK: set-layout-bound.mlir:[[#@LINE+2]]:{{.*}}: remark: [Missed] layout-shared | Category:mhc-set-layout:layout | Function=argument | Found="streams made by argument 0, [?, 64, 4] of f32", Needed="ops with a layout alone, such as 'mhc.expand' and 'mhc.contract'", Reason="the streams keep their layout: other code makes or reads them as well"
func.func @argument(%x: tensor<?x64x4xf32>) -> tensor<?x64xf32> {
  %out = mhc.contract(x = %x : tensor<?x64x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x64xf32>)
  return %out : tensor<?x64xf32>
}

// REMARK: set-layout-bound.mlir:[[#@LINE+3]]:{{.*}} | Function=result | {{.*}}Found="streams read by 'func.return'"
func.func @result(%e: tensor<?x64xf32>) -> tensor<?x64x4xf32> {
  %x = mhc.expand(x = %e : tensor<?x64xf32>) <layout = Cn> -> (streams : tensor<?x64x4xf32>)
  return %x : tensor<?x64x4xf32>
}

// REMARK: set-layout-bound.mlir:[[#@LINE+3]]:{{.*}} | Function=plain_reader | {{.*}}Found="streams read by 'math.exp'"
func.func @plain_reader(%e: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64x4xf32>) {
  %x = mhc.expand(x = %e : tensor<?x64xf32>) <layout = Cn> -> (streams : tensor<?x64x4xf32>)
  %exp = math.exp %x : tensor<?x64x4xf32>
  %out = mhc.contract(x = %x : tensor<?x64x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x64xf32>)
  return %out, %exp : tensor<?x64xf32>, tensor<?x64x4xf32>
}

// Streams that a loop carries are no results of an op with a layout.
// REMARK: set-layout-bound.mlir:[[#@LINE+5]]:{{.*}} | Function=carried | {{.*}}Found="streams read by 'scf.for'"
func.func @carried(%e: tensor<?x64xf32>, %h: tensor<?x4xf32>, %n: index) -> tensor<?x64x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = mhc.expand(x = %e : tensor<?x64xf32>) <layout = Cn> -> (streams : tensor<?x64x4xf32>)
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%it = %x) -> tensor<?x64x4xf32> {
    %next = math.exp %it : tensor<?x64x4xf32>
    scf.yield %next : tensor<?x64x4xf32>
  }
  return %y : tensor<?x64x4xf32>
}

// Which elements are dropped would change with the order.
// REMARK: set-layout-bound.mlir:[[#@LINE+4]]:{{.*}}: remark: [Missed] layout-dropout | {{.*}} | Function=dropout | Found="'mhc.post' with a seed", Needed="no dropout"
func.func @dropout(%e: tensor<?x64xf32>, %h_post: tensor<?x4xf32>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>)
    -> tensor<?x64xf32> {
  %x = mhc.expand(x = %e : tensor<?x64xf32>) <layout = Cn> -> (streams : tensor<?x64x4xf32>)
  %y = mhc.post(f = %e : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xf32>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = Cn, orient = oi, rate = 0.1, stream = 0> -> (out : tensor<?x64x4xf32>)
  %out = mhc.contract(x = %y : tensor<?x64x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x64xf32>)
  return %out : tensor<?x64xf32>
}

// REMARK: set-layout-bound.mlir:[[#@LINE+2]]:{{.*}}: remark: [Missed] layout-open-sizes | {{.*}} | Function=open_channels | Found="'mhc.expand', [?, ?, 4] of f32", Needed="numbers of streams and channels"
func.func @open_channels(%e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %x = mhc.expand(x = %e : tensor<?x?xf32>) <layout = Cn> -> (streams : tensor<?x?x4xf32>)
  %out = mhc.contract(x = %x : tensor<?x?x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x?xf32>)
  return %out : tensor<?x?xf32>
}
