"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?x4xf32>) -> tensor<?x4xf32>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<?x4xf32>):
    %0 = "mhc.softmax"(%arg0) <{dim = 0 : i64}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
    "func.return"(%0) : (tensor<?x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()