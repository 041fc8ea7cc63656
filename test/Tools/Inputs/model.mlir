func.func @layer(%x: tensor<?x4x8xbf16> {mhc.name = "x"}, %h: tensor<?x4xf32> {mhc.name = "h"})
    -> (tensor<?x8xbf16> {mhc.name = "u"}, tensor<?x4xf32> {mhc.name = "twice"}) {
  %u = mhc.aggregate(x = %x : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %n = mhc.rms_norm %u eps = 1.0e-06 : tensor<?x8xbf16>
  %twice = arith.addf %h, %h : tensor<?x4xf32>
  return %n, %twice : tensor<?x8xbf16>, tensor<?x4xf32>
}
func.func @copy(%x: tensor<?x4xf32> {mhc.name = "x"}) -> (tensor<?x4xf32> {mhc.name = "y"}) {
  return %x : tensor<?x4xf32>
}
