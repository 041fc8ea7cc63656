// RUN: mhc-opt %s -mhc-describe-entries -split-input-file -verify-diagnostics

// expected-error @below {{argument 0 of entry 'scalar' has type 'f32'; needed a ranked tensor of f32, bf16, f16, f64, i32 or i64}}
func.func @scalar(%x: f32) {
  return
}

// -----

// expected-error @below {{argument 0 of entry 'rank' has rank 9; needed at most 8}}
func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  return
}

// -----

// expected-error @below {{two arguments of entry 'names' are called 'x'}}
func.func @names(%x: tensor<1xf32> {mhc.name = "x"}, %y: tensor<1xf32> {mhc.name = "x"}) {
  return
}

// -----

// expected-error @below {{argument 0 of entry 'blank' is called 'a b'; needed printable characters without blanks, '/' and '='}}
func.func @blank(%x: tensor<1xf32> {mhc.name = "a b"}) {
  return
}

// -----

func.func @folder(
    %x: tensor<1xf32> {mhc.name = "x"},
    // expected-error @below {{argument 1 of entry 'folder' is called '../y'; needed printable characters without blanks, '/' and '='}}
    %y: tensor<1xf32> {mhc.name = "../y"}) {
  return
}

// -----

// expected-error @below {{argument 0 of entry 'assignment' is called 'x=y'; needed printable}}
func.func @assignment(%x: tensor<1xf32> {mhc.name = "x=y"}) {
  return
}

// -----

// expected-error @below {{argument 0 of entry 'control' is called 'x\00y'; needed printable}}
func.func @control(%x: tensor<1xf32> {mhc.name = "x\00y"}) {
  return
}

// -----

// expected-error @below {{result 0 of entry 'nameless' is called ''; needed printable}}
func.func @nameless(%x: tensor<1xf32>) -> (tensor<1xf32> {mhc.name = ""}) {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{argument 0 of entry 'number' has 3 : i32 as 'mhc.name'; needed a string}}
func.func @number(%x: tensor<1xf32> {mhc.name = 3 : i32}) {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'a b'; needed letters, digits and '_', the first no digit, and neither 'mhc_entry_' nor 'mhcrt_' at the start}}
func.func @"a b"() {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'a\00b'; needed}}
func.func @"a\00b"() {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'a/b'; needed}}
func.func @"a/b"() {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'f.g'; needed}}
func.func @f.g() {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'main$async'; needed}}
func.func @main$async() {
  return
}

// -----

// expected-error @below {{an entry cannot be called '1f'; needed}}
func.func @"1f"() {
  return
}

// -----

// expected-error @below {{an entry cannot be called '\CE\B1'; needed}}
func.func @"α"() {
  return
}

// -----

// Their symbols would be those of the entry 'f' and of a kernel.
// expected-error @below {{an entry cannot be called 'mhc_entry_f'; needed}}
func.func @mhc_entry_f() {
  return
}

// -----

// expected-error @below {{an entry cannot be called 'mhcrt_aggregate'; needed}}
func.func @mhcrt_aggregate() {
  return
}

// -----

// A private function is no entry and needs no valid name.
func.func private @"a b"() {
  return
}

// -----

// expected-error @below {{result 0 of entry 'size' has a size in dimension 0 that no argument has}}
func.func @size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %half = arith.divui %m, %c2 : index
  %0 = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @growing(%x: tensor<?xf32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wide = tensor.extract %n[%c0] : tensor<1xi64>
  %turns = arith.index_cast %wide : i64 to index
  // expected-error @below {{'scf.for' cannot be compiled: an iteration may change the size of carried value 0 in dimension 0}}
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %x) -> tensor<?xf32> {
    %longer = tensor.concat dim(0) %it, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %longer : tensor<?xf32>
  }
  return %x : tensor<?xf32>
}

// -----

func.func @growing_while(%x: tensor<?xf32>, %go: tensor<1xi1>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.while' cannot be compiled: an iteration may change the size of carried value 0 in dimension 0}}
  %0 = scf.while (%it = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %more = tensor.extract %go[%c0] : tensor<1xi1>
    scf.condition(%more) %it : tensor<?xf32>
  } do {
  ^bb0(%it: tensor<?xf32>):
    %longer = tensor.concat dim(0) %it, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %longer : tensor<?xf32>
  }
  %r = tensor.extract_slice %0[0] [4] [1] : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'scf.execute_region' cannot be compiled; needed 'scf.for', 'scf.while' or 'scf.if'}}
  %0 = scf.execute_region -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{the call of 'again' cannot be inlined; needed a function with a body of one block that is not recursive}}
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{argument 1 of 'outside', which has no body, is 'f32'; needed a ranked tensor of f32, bf16, f16, f64, i32 or i64, of at most 8 dimensions}}
func.func private @outside(tensor<4xf32>, f32) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  %scale = tensor.extract %y[] : tensor<f32>
  %0 = func.call @outside(%x, %scale) : (tensor<4xf32>, f32) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 of 'outside', which has no body, has an open size in dimension 0; needed that of an argument, by a name that both have in 'mhc.dims'}}
func.func private @outside(tensor<?xf32>) -> tensor<?xf32>
func.func @call(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @outside(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{a function without a body cannot be called 'aten.attention'; needed letters, digits and '_', the first no digit, and neither 'mhc_entry_' nor 'mhcrt_' at the start}}
func.func private @aten.attention(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @aten.attention(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{entry 'branches' has branches; needed one block}}
func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @no_such_dimension(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c = arith.constant -1 : index
  // expected-error @below {{'tensor.dim' of 'tensor<?x4xf32>' cannot be compiled; needed a constant that is one of its dimensions}}
  %dim = tensor.dim %x, %c : tensor<?x4xf32>
  %one = arith.constant 1.0 : f32
  %r = tensor.splat %one[%dim] : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-error @below {{two arguments of 'outside', which has no body, are called 'a'}}
func.func private @outside(tensor<4xf32> {mhc.name = "a"}, tensor<4xf32> {mhc.name = "a"}) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @outside(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 of 'outside', which has no body, is called 'a\0Ab'; needed printable characters without blanks, '/' and '='}}
func.func private @outside(tensor<4xf32>) -> (tensor<4xf32> {mhc.name = "a\0Ab"})
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
