module attributes {gpu.container_module} {
  func.func private @mhc.check_size(index, index, index)
  gpu.module @mhc_device [#nvvm.target<chip = "sm_80">] {
    func.func private @mhc.check_size(index, index, index)
    gpu.func @rows(%arg0: index, %arg1: index, %arg2: index) kernel {
      %c0 = arith.constant 0 : index
      func.call @mhc.check_size(%arg0, %c0, %arg1) {mhc.checked = "the index in dimension 1"} : (index, index, index) -> ()
      func.call @mhc.check_size(%arg0, %c0, %arg1) {mhc.checked = "the index in dimension 0"} : (index, index, index) -> ()
      gpu.return
    }
    gpu.func @asserted(%arg0: i1, %arg1: index) kernel {
      cf.assert %arg0, "no rows"
      gpu.return
    }
  }
}