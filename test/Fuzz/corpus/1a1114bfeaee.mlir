func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = mhc.softmax %x dim = 1 : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

