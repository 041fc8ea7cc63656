func.func @even(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %h: tensor<?x4xf32> {mhc.name = "h"})
    -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xf32>)
  return %u : tensor<?x64xf32>
}
func.func @odd(%x: tensor<?x4x33xf32> {mhc.name = "odd"}, %h: tensor<?x4xf32> {mhc.name = "h"})
    -> (tensor<?x33xf32> {mhc.name = "u"}) {
  %u = mhc.aggregate(x = %x : tensor<?x4x33xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x33xf32>)
  return %u : tensor<?x33xf32>
}
