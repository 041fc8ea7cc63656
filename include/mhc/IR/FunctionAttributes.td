//===- FunctionAttributes.td - Attributes of functions ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One record per attribute with which a program says something about a function, its arguments or its results. Source
// of the second half of the page of attributes; a test compares the names with those that the code reads.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_FUNCTIONATTRIBUTES
#define MHC_IR_FUNCTIONATTRIBUTES

include "mhc/IR/MhcOps.td"

class FunctionAttr<string name_, string owner_, string form_, string meaning_> {
  string name = "mhc." # name_;
  string owner = owner_; // what has it: "argument", ...
  string form = form_;   // how it is written
  string meaning = meaning_;
}

def : FunctionAttr<"name", "argument or result of an entry", "mhc.name = \"x\"",
  "the tensor's name in files, calls and messages: printable characters but blanks, `/` and `=`; `arg0`, `result0`, ... without it">;
def : FunctionAttr<"no_grad", "argument", "mhc.no_grad",
  "the derivative of the function computes no gradient of it">;
def : FunctionAttr<"main_grad", "argument", "mhc.main_grad",
  "its gradient is added to a tensor in f32 that the caller passes with each call, in place">;
def : FunctionAttr<"partial", "argument", "mhc.partial = \"dp,tp\"",
  "axes of the mesh over whose ranks its gradient is a sum, of which each rank computes a part; the gradient has it, too">;
def : FunctionAttr<"split", "argument", "mhc.split = array<i64: 0, 48, 24>",
  "the share of a weight that one of the ranks of the axis `tp` has: the dimension that they divide, and the sizes of this share's parts, each of which is a share of one of the weight's">;
def : FunctionAttr<"in_place", "result of an entry", "mhc.in_place",
  "it is stored over the argument that has its name and type">;
def : FunctionAttr<"vjp", "function", "mhc.vjp = @f_bwd",
  "names the function that computes its gradients, in place of a derived one">;
def : FunctionAttr<"recompute_mode", "function", "mhc.recompute_mode = \"groups=2\"",
  "the streams that its backward pass computes again: `none`, `all`, `auto` or `groups=N`, as `--recompute` of mhcc">;
def : FunctionAttr<"gdn_impl", "function", "mhc.gdn_impl = \"streamed\"",
  "the kernels of its gated delta front ends: `ref`, `fused` or `streamed`, as `--gdn-impl` of mhcc">;
def : FunctionAttr<"streams", "function", "mhc.streams",
  "a captured PyTorch graph in which what is repeated or added up are streams, without a site beside them">;

#endif // MHC_IR_FUNCTIONATTRIBUTES
