// RUN: mhc-opt %s -split-input-file -verify-diagnostics

// Each attribute of a program has one form.

// expected-error @below {{'mhc.pins' is [3]; needed a list of texts such as "post=generic", each with the name of a kernel}}
module attributes {mhc.pins = [3]} {}

// -----

// expected-error @below {{'mhc.pins' is ["post=a\0Ab"]; needed a list of texts such as "post=generic", each with the name of a kernel}}
module attributes {mhc.pins = ["post=a\0Ab"]} {}

// -----

// expected-error @below {{'mhc.pins' is ["posted=generic"]; needed a list of texts such as "post=generic", each with the name of a kernel}}
module attributes {mhc.pins = ["posted=generic"]} {}

// -----

// expected-error @below {{'mhc.made_of' is 3 : i64; needed the numbers of results, such as array<i64: 0>}}
func.func private @made(tensor<4xf32> {mhc.made_of = 3 : i64})

// -----

// expected-error @below {{'mhc.mesh' is "dp=2\0Atp=2"; needed a text such as "dp=2", without blanks}}
module attributes {mhc.mesh = "dp=2\0Atp=2"} {}

// -----

// expected-error @below {{'mhc.vjp' is 3 : i64; needed the name of a function, such as @f_bwd}}
func.func private @derived(tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = 3}

// -----

// expected-error @below {{'mhc.vjp' is @m::@g; needed the name of a function, such as @f_bwd}}
func.func private @nested(tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @m::@g}

// -----

// expected-error @below {{'mhc.recompute_mode' is 3 : i64; needed a text such as "groups=2"}}
func.func private @recomputed(tensor<4xf32>) attributes {mhc.recompute_mode = 3}

// -----

// expected-error @below {{'mhc.gdn_impl' is 3 : i64; needed a text such as "fused"}}
func.func private @chosen(tensor<4xf32>) attributes {mhc.gdn_impl = 3}

// -----

// expected-error @below {{'mhc.conditions' is [3]; needed a list of texts}}
func.func private @conditional(tensor<4xf32>) attributes {mhc.conditions = [3]}

// -----

// expected-error @below {{'mhc.memory' is [3]; needed a list of dictionaries}}
func.func private @planned(tensor<4xf32>) attributes {mhc.memory = [3]}

// -----

// expected-error @below {{'mhc.partial' is "dp tp"; needed a text such as "dp,tp", without blanks}}
func.func private @summed(tensor<4xf32> {mhc.partial = "dp tp"})

// -----

// expected-error @below {{'mhc.in_place' is 1 : i64; needed no value}}
func.func private @stored(tensor<4xf32>) -> (tensor<4xf32> {mhc.in_place = 1})

// -----

// expected-error @below {{'mhc.no_grad' is false; needed no value}}
func.func private @constant(tensor<4xf32> {mhc.no_grad = false})
