//===- PlanCase.cpp - Golden cases of recompute plans ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/PlanCase.h"
#include "mhc/Driver/Driver.h"
#include "mhcrt/io.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc::conformance {

/// Layers one after the other, on the same coefficients.
static std::string chainOf(int64_t layers, int64_t n) {
  std::string streams = "tensor<?x" + std::to_string(n) + "x8xf32>", gate = "tensor<?x" + std::to_string(n) + "xf32>",
              matrix = "tensor<?x" + std::to_string(n) + "x" + std::to_string(n) + "xf32>";
  std::string text = "func.func @chain(%f: tensor<?x8xf32>, %h: " + gate + ", %a: " + matrix + ", %x0: " + streams +
                     ") -> " + streams + " {\n";
  for (int64_t layer = 0; layer < layers; ++layer)
    text += "  %x" + std::to_string(layer + 1) + " = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : " + gate +
            ", x = %x" + std::to_string(layer) + " : " + streams + ", h_res = %a : " + matrix +
            ") <layout = nC, orient = oi> -> (out : " + streams + ")\n";
  return text + "  return %x" + std::to_string(layers) + " : " + streams + "\n}\n";
}

/// The number of layers in each group under a choice of --recompute.
static llvm::Expected<std::vector<int64_t>> groupsOf(const Case &golden, const std::string &recompute) {
  Compiler compiler;
  auto module = compiler.parseText(chainOf(golden.attributes.numLayers, golden.attributes.n));
  if (!module)
    return module.takeError();
  CompileOptions options;
  options.grad = "chain";
  options.recompute = recompute;
  if (llvm::Error error = compiler.run(**module, options, Phase::fuse))
    return error;
  auto plan = (*module)->lookupSymbol("chain_grad")->getAttrOfType<mlir::ArrayAttr>("mhc.recompute");
  auto groups = mlir::cast<mlir::DenseI64ArrayAttr>(plan[0]).asArrayRef();
  return std::vector<int64_t>(groups.begin(), groups.end());
}

/// For each layer the group it belongs to, or whether it is the last of its group.
static std::vector<int64_t> perLayer(const std::vector<int64_t> &groups, bool wantLast) {
  std::vector<int64_t> values;
  for (size_t group = 0; group < groups.size(); ++group)
    for (int64_t layer = 1; layer <= groups[group]; ++layer)
      values.push_back(wantLast ? layer == groups[group] : static_cast<int64_t>(group));
  return values;
}

static std::string judge(const Case &golden, const TensorInfo &wanted, const std::vector<int64_t> &got) {
  mhcrt::HostTensor want;
  std::string error;
  if (!mhcrt::readNpy(golden.directory + "/" + wanted.file, want, error))
    return "  " + error + "\n";
  const auto *values = static_cast<const int64_t *>(want.data());
  if (want.dtype() == MHCRT_I64 && std::vector<int64_t>(values, values + want.elements()) == got)
    return "";
  std::string text = "  '" + wanted.name + "' differs; the compiler has";
  for (int64_t value : got)
    text += " " + std::to_string(value);
  return text + "\n";
}

std::string runPlan(const Case &golden) {
  const int64_t group = golden.attributes.group;
  auto groups = groupsOf(golden, group ? "groups=" + std::to_string(group) : "all");
  auto best = groupsOf(golden, "auto");
  if (!groups || !best)
    return "  " + llvm::toString(llvm::joinErrors(groups.takeError(), best.takeError())) + "\n";
  std::string report;
  for (const TensorInfo &output : golden.outputs) {
    if (output.name == "group_id")
      report += judge(golden, output, perLayer(*groups, /*wantLast=*/false));
    else if (output.name == "is_last")
      report += judge(golden, output, perLayer(*groups, /*wantLast=*/true));
    else if (output.name == "optimal_group")
      report += judge(golden, output, {best->front()});
    else
      report += "  output '" + output.name + "' is unknown\n";
  }
  return report;
}

} // namespace mhc::conformance
