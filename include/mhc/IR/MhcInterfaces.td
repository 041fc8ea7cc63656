//===- MhcInterfaces.td - Interfaces of ops for passes --- -*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCINTERFACES
#define MHC_IR_MHCINTERFACES

include "mlir/IR/OpBase.td"

def DimsOpInterface : OpInterface<"DimsOpInterface"> {
  let cppNamespace = "::mhc";
  let description = [{
    Says which dimensions of the operands and results of an op always have the same size. Shape inference, the check of
    a compiled model's arguments, the memory plan and the cost model all rest on these labels.
  }];
  let methods = [
    InterfaceMethod<"One label per dimension of each operand and result; equal labels mean equal sizes.",
      "::mhc::DimLabels", "getDimLabels">
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::mhc";
  let description = [{
    An op that one runtime kernel computes. All that passes need is in its record (mhc/IR/KernelInfo.h).
  }];
  let methods = [
    InterfaceMethod<"The op's record.", "const ::mhc::KernelInfo &", "getKernelInfo">,
    InterfaceMethod<"The values of tensor `index` of the record: any number of a list, else one, or none when absent.",
      "::mlir::ValueRange", "getTensors", (ins "unsigned":$index), "",
      [{
        // Operands come before results. The op has their numbers at hand: an attribute would be made for each question.
        const auto &tensors = $_op.getKernelInfo().tensors;
        if (!tensors[index].isResult)
          return $_op.getODSOperands(index);
        auto isOperand = [](const auto &tensor) { return !tensor.isResult; };
        return $_op.getODSResults(index - static_cast<unsigned>(::llvm::count_if(tensors, isOperand)));
      }]>,
    InterfaceMethod<"The first value of tensor `index` of the record; null when there is none.",
      "::mlir::Value", "getTensor", (ins "unsigned":$index), "",
      [{
        ::mlir::ValueRange values = ::llvm::cast<::mhc::KernelOpInterface>($_op.getOperation()).getTensors(index);
        return values.empty() ? ::mlir::Value() : values.front();
      }]>,
    InterfaceMethod<"The named dimensions of tensor `index`, in memory order under the op's attributes.",
      "::llvm::ArrayRef<unsigned>", "getTensorDims", (ins "unsigned":$index), "",
      [{ return ::mhc::kernelTensorDims($_op.getOperation(), $_op.getKernelInfo(), index); }]>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mhc";
  let description = [{
    An op that stands for a chain of simpler ones. The chain is its definition: fusion is the inverse of decomposition,
    the reference evaluates the chain, and kernels are tested against it.
  }];
  let methods = [
    InterfaceMethod<"Builds the chain at the builder's insertion point and returns one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mhc";
  let description = [{
    An op with a gradient rule. Autodiff walks a function backwards and asks each op for its own part; it knows no op by
    name. What a rule may ask for and what it hands back is in mhc/IR/VjpContext.h.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the vector-Jacobian product at the builder's insertion point: gives each operand that needs a gradient its
      share of the cotangents of the results. At least one result has a cotangent. Emits an error where it fails.
      }],
      "::llvm::LogicalResult", "buildVjp", (ins "::mlir::OpBuilder &":$builder, "::mhc::VjpContext &":$context)>,
    InterfaceMethod<[{
      Whether a backward function makes the result again instead of saving it, because its operands hold as much in no
      more bytes: true of broadcasts and reshapes.
      }],
      "bool", "isCheapToRebuild", (ins), "", [{ return false; }]>
  ];
}

def FlattenableOpInterface : OpInterface<"FlattenableOpInterface"> {
  let cppNamespace = "::mhc";
  let description = [{
    An op that autodiff replaces before it walks back: control flow by straight-line code, a form that hides what the
    gradient needs by one that shows it.
  }];
  let methods = [
    InterfaceMethod<[{
      Replaces the op by the ops it stands for and returns true; returns false where it stays as it is. Emits an error
      where it fails.
      }],
      "::llvm::FailureOr<bool>", "flatten", (ins "::mlir::RewriterBase &":$rewriter)>
  ];
}

#endif // MHC_IR_MHCINTERFACES
