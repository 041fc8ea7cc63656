// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-autodiff=function=f

// expected-error @unknown {{there is no public function 'f' to differentiate; the module has none}}
module {
}

// -----

// expected-error @unknown {{there is no public function 'f' to differentiate; the module has 'g', 'h'}}
module {
  func.func @g() {
    return
  }
  func.func private @h()
}

// -----

// expected-error @below {{cannot differentiate 'f': needed a body of one block}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{the name is taken: it is that of a derivative of 'f'}}
func.func private @f_bwd()

// -----

// expected-error @below {{recompute is 'some'; needed 'none', 'all', 'auto' or 'groups=N' with N at least 1}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhc.recompute_mode = "some"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{no argument of the function can have a gradient}}
func.func @f(%x: tensor<4xf32> {mhc.no_grad}, %k: tensor<4xi32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.sinh' has no gradient rule and stands for no ops that have one}}
  %y = math.sinh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @attention(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'attention' has no body to differentiate; needed its attribute 'mhc.vjp', the function that computes its gradients}}
  %y = call @attention(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @attention(tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @attention_bwd}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'mhc.vjp' of 'attention' names 'attention_bwd', which is no function}}
  %y = call @attention(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @attention(tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @attention_bwd}
func.func private @attention_bwd(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'mhc.vjp' of 'attention' has type '(tensor<4xf32>) -> tensor<4xf32>'; needed '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'}}
  %y = call @attention(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'again' is recursive, so that it cannot be differentiated}}
  %y = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @jumps(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'jumps' has branches; needed one block}}
  %y = call @jumps(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' has bounds that are no constants, so that it cannot be differentiated}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  // expected-error @below {{'scf.for' has 10000 iterations of 2 ops; at most 16384 ops can be differentiated}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%c: i1, %x: tensor<4xf32>, %a: i64, %b: i64) -> tensor<4xf32> {
  // expected-error @below {{'scf.if' cannot be differentiated: both sides are computed, and 'arith.divsi' may run only where its side is taken}}
  %y:2 = scf.if %c -> (tensor<4xf32>, i64) {
    %q = arith.divsi %a, %b : i64
    scf.yield %x, %q : tensor<4xf32>, i64
  } else {
    scf.yield %x, %a : tensor<4xf32>, i64
  }
  return %y#0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %table: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tensor.pad' with more than one number has no gradient rule}}
  %y = tensor.pad %x low[2] high[2] {
  ^bb0(%i: index):
    %number = tensor.extract %table[%i] : tensor<8xf32>
    tensor.yield %number : f32
  } : tensor<4xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// The number of iterations to save depends on values.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %limit = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.while' has no gradient rule and stands for no ops that have one}}
  %y = scf.while (%it = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %first = tensor.extract %it[%c0] : tensor<4xf32>
    %more = arith.cmpf ogt, %first, %limit : f32
    scf.condition(%more) %it : tensor<4xf32>
  } do {
  ^bb0(%it: tensor<4xf32>):
    %next = math.tanh %it : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Before the gradient is built: its ops have the ranks of the values.
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{the gradient goes through 'tensor<*xf32>'; needed a ranked tensor}}
  %any = tensor.cast %x : tensor<?x4xf32> to tensor<*xf32>
  %e = math.exp %any : tensor<*xf32>
  %y = tensor.cast %e : tensor<*xf32> to tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func @f(%x: tensor<*xf32>) -> tensor<4xf32> {
  // expected-error @below {{the gradient goes through 'tensor<*xf32>'; needed a ranked tensor}}
  %y = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
