"""Times PyTorch and our compiled model on the gradients of the mHC part of one sublayer, and counts what each saves.

The part is that of torch_sublayer.py: from the streams x and the sublayer's output f to the sublayer's input u and the
new streams. One pass is forward and backward, with gradients of x, f and all weights. Both work on the same tensors,
and the results have to agree.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile

import torch

from torch_sublayer import HyperConnection, milliseconds

SITE = """\
func.func @site(%x: tensor<?xnxCxT> {mhc.name = "x"}, %f: tensor<?xCxT> {mhc.name = "f"},
                %phi: tensor<NxKxf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"},
                %beta: tensor<Nxf32> {mhc.name = "beta"})
    -> (tensor<?xCxT> {mhc.name = "u"}, tensor<?xnxCxT> {mhc.name = "out"}) {
  %proj, %stat = mhc.projection(x = %x : tensor<?xnxCxT>, phi = %phi : tensor<NxKxf32>)
    <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-6, stat_form = inv_rms>
    -> (proj : tensor<?xNxf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?xNxf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<Nxf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-6, post_mult = 2.0>
    -> (h_pre : tensor<?xnxf32>, h_post : tensor<?xnxf32>, logits : tensor<?xRxf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?xnxCxT>
  %square = tensor.expand_shape %logits [[0], [1, 2]] output_shape [%M, n, n] : tensor<?xRxf32> into tensor<?xnxnxf32>
  %h_res = mhc.sinkhorn(logits = %square : tensor<?xnxnxf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-6, iters = 20> -> (mix : tensor<?xnxnxf32>)
  %u = mhc.aggregate(x = %x : tensor<?xnxCxT>, h_pre = %h_pre : tensor<?xnxf32>) <layout = nC> -> (u : tensor<?xCxT>)
  %out = mhc.post(f = %f : tensor<?xCxT>, h_post = %h_post : tensor<?xnxf32>, x = %x : tensor<?xnxCxT>,
      h_res = %h_res : tensor<?xnxnxf32>) <layout = nC, orient = io> -> (out : tensor<?xnxCxT>)
  return %u, %out : tensor<?xCxT>, tensor<?xnxCxT>
}
"""
WEIGHTS = ("phi", "alpha", "beta")
TORCH_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
CODES = {torch.float32: 1, torch.bfloat16: 2}  # of mhcrt_dtype


def site_text(dtype, C, n):
    text = SITE.replace("NxKx", f"{2 * n + n * n}x{n * C}x").replace("xNx", f"x{2 * n + n * n}x")
    text = text.replace("<Nx", f"<{2 * n + n * n}x").replace("xRx", f"x{n * n}x").replace("xnxnx", f"x{n}x{n}x")
    return text.replace("xnx", f"x{n}x").replace("n, n]", f"{n}, {n}]").replace("xCx", f"x{C}x").replace("xT>", f"x{dtype}>")


class Tensor(ctypes.Structure):
    """mhcrt_tensor"""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * 8)]


def view(tensor):
    shape = (ctypes.c_int64 * 8)(*tensor.shape)
    return Tensor(tensor.data_ptr(), CODES[tensor.dtype], tensor.dim(), shape)


class Entry:
    """One function of a compiled model, on tensors with the names of its manifest; makes tensors for its results."""

    def __init__(self, model, name, tensors, M):
        self.function = getattr(model.library, "mhc_entry_" + name)
        self.context = model.context
        self.sides = {"arg": {}, "result": {}}
        for line in model.manifest.split(f"entry {name}\n")[1].split("end\n")[0].splitlines():
            side, key, dtype, *dims = line.split()
            if side == "result":
                sizes = [M if dim == "M" else int(dim) for dim in dims]
                tensors[key] = torch.empty(sizes, dtype=TORCH_TYPES[dtype])
            self.sides[side][key] = tensors[key]
        self.arrays = [(Tensor * len(side))(*map(view, side.values())) for side in self.sides.values()]

    def __call__(self):
        assert self.function(self.context, *self.arrays) == 0


class Model:
    """The gradients of the site, compiled."""

    def __init__(self, mhcc, dtype, C, n, threads):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "site.mlir"), os.path.join(folder, "site.so")
            with open(source, "w", encoding="utf-8") as file:
                file.write(site_text(dtype, C, n))
            subprocess.run([mhcc, source, "--grad=site", "-o", library], check=True)
            self.library = ctypes.CDLL(library)
        self.manifest = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(self.library, "mhc_model_manifest"))).decode()
        self.context = ctypes.c_void_p()
        assert self.library.mhcrt_context_create(threads, ctypes.byref(self.context)) == 0


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def saved_by_torch(function, weights):
    """Bytes of the storages that autograd keeps for the backward pass, without those of the weights."""
    storages = {}

    def pack(tensor):
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        kept = function()  # alive, so that no storage takes the address of another
    own = {weight.untyped_storage().data_ptr() for weight in weights}
    del kept
    return sum(size for address, size in storages.items() if address not in own)


def assert_close(name, ours, theirs, bound):
    error = ((ours.float() - theirs.float()).norm() / theirs.float().norm()).item()
    assert error <= bound, f"{name} differs by {error:.1e} of its norm; needed at most {bound}"


class Site:
    """One site in both implementations."""

    def __init__(self, module, mhcc, dtype, M, C, n, threads):
        torch.manual_seed(0)
        self.module, element = module, TORCH_TYPES[dtype]
        self.bound = 1e-3 if dtype == "f32" else 5e-2  # PyTorch's coefficients have the type of the streams, ours f32
        self.inputs = [torch.randn(M, n, C).to(element).requires_grad_(), torch.randn(M, C).to(element).requires_grad_()]
        self.weights = [getattr(module, name) for name in WEIGHTS]
        self.cotangents = [torch.randn(M, C).to(element), torch.randn(M, n, C).to(element)]
        self.tensors = dict(zip(("x", "f", *WEIGHTS), (t.detach() for t in self.inputs + self.weights)))
        self.tensors.update(zip(("d_u", "d_out"), self.cotangents))
        model = Model(mhcc, dtype, C, n, threads)
        self.halves = [Entry(model, "site" + half, self.tensors, M) for half in ("_fwd", "_bwd")]

    def forward(self, x, f):
        u, h_post, h_res = self.module.pre(x)
        return u, self.module.post(f, x, h_post, h_res)

    def torch_pass(self, forward):
        outputs = forward(*self.inputs)
        return outputs, torch.autograd.grad(outputs, self.inputs + self.weights, self.cotangents)

    def our_pass(self):
        for half in self.halves:
            half()

    def check(self):
        outputs, gradients = self.torch_pass(self.forward)
        self.our_pass()
        for name, theirs in zip(("u", "out", "d_x", "d_f", *("d_" + w for w in WEIGHTS)), (*outputs, *gradients)):
            assert_close(name, self.tensors[name], theirs, self.bound)

    def saved_by_us(self):
        taken = self.halves[1].sides["arg"]
        return bytes_of(tensor for name, tensor in taken.items() if name not in (*WEIGHTS, "d_u", "d_out"))


def compare(mhcc, threads, M, C, n):
    """Prints times and saved bytes."""
    print(f"mHC part of one sublayer, forward and backward, M={M} C={C} n={n}; times in ms, saved bytes per token")
    print(f"{'dtype':<6} {'eager':>9} {'compile':>9} {'mhc':>9} {'eager /':>9} {'compile /':>10} "
          f"{'saved: eager':>14} {'compile':>9} {'mhc':>9} {'formula':>9}")
    for dtype, element in TORCH_TYPES.items():
        site = Site(HyperConnection(n, C), mhcc, dtype, M, C, n, threads)
        site.check()
        compiled = torch.compile(site.forward)
        ours = milliseconds(site.our_pass)
        eager, compiled_ms = milliseconds(site.torch_pass, site.forward), milliseconds(site.torch_pass, compiled)
        saved = [saved_by_torch(lambda call=call: call(*site.inputs), site.weights) / M
                 for call in (site.forward, compiled)]
        # x, f, and in f32 the projection, its scale, h_post and h_res
        formula = (n + 1) * C * element.itemsize + 4 * ((2 * n + n * n) + 1 + n + n * n)
        print(f"{dtype:<6} {eager:9.2f} {compiled_ms:9.2f} {ours:9.2f} {eager / ours:8.2f}x {compiled_ms / ours:9.2f}x "
              f"{saved[0]:14.0f} {saved[1]:9.0f} {site.saved_by_us() / M:9.0f} {formula:9.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mhcc", default="build/bin/mhcc", help="our compiler")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("-M", type=int, default=2048, help="tokens")
    parser.add_argument("-C", type=int, default=2560, help="channels of one stream")
    parser.add_argument("-n", type=int, default=4, help="streams")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    compare(args.mhcc, args.threads, args.M, args.C, args.n)


if __name__ == "__main__":
    main()
