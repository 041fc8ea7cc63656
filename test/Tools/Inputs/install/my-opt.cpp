#include "mhc/IR/MhcOps.h"
#include "mhc/InitAll.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace {
struct Count : mlir::PassWrapper<Count, mlir::OperationPass<>> {
  llvm::StringRef getArgument() const final { return "count-aggregates"; }
  void runOnOperation() final {
    int64_t count = 0;
    getOperation()->walk([&](mhc::AggregateOp) { ++count; });
    getOperation()->setAttr("user.aggregates", mlir::Builder(&getContext()).getI64IntegerAttr(count));
  }
};
} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mhc::registerAllDialects(registry);
  mhc::registerAllPasses();
  mlir::PassRegistration<Count>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "my-opt\n", registry));
}
