"""Times PyTorch and our compiled model on a part of a model and its gradients, and counts what each saves.

'mhc' is the part of torch_sublayer.py: from the streams x and the sublayer's output f to the sublayer's input u and the
new streams. 'gated_delta' is the front end of a gated delta net layer in the sizes of Qwen3-Next: from the projection
to query, key, value, gate, beta and g. A pass is forward, or both forward and backward with gradients of the inputs and
of all weights. Both work on the same tensors, and the results have to agree.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn.functional as functional

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
GATED_DELTA_SITE = """\
func.func @site(%qkvzba: tensor<?x1xDxT> {mhc.name = "qkvzba"}, %conv_weight: tensor<ExkxT> {mhc.name = "conv_weight"},
                %A_log: tensor<Hxf32> {mhc.name = "A_log"}, %dt_bias: tensor<Hxf32> {mhc.name = "dt_bias"})
    -> (tensor<1x?xHxdxT> {mhc.name = "query"}, tensor<1x?xHxdxT> {mhc.name = "key"},
        tensor<1x?xHxdxT> {mhc.name = "value"}, tensor<1x?xHxdxT> {mhc.name = "gate"},
        tensor<1x?xHxT> {mhc.name = "beta"}, tensor<1x?xHxf32> {mhc.name = "g"}) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x1xDxT>,
      conv_weight = %conv_weight : tensor<ExkxT>, A_log = %A_log : tensor<Hxf32>, dt_bias = %dt_bias : tensor<Hxf32>)
    <num_key_heads = KEYS, qk_l2norm = true, l2_eps = 1.0e-6, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?xHxdxT>, key : tensor<1x?xHxdxT>, value : tensor<1x?xHxdxT>, gate : tensor<1x?xHxdxT>,
        beta : tensor<1x?xHxT>, g : tensor<1x?xHxf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<1x?xHxdxT>, tensor<1x?xHxdxT>, tensor<1x?xHxdxT>,
      tensor<1x?xHxdxT>, tensor<1x?xHxT>, tensor<1x?xHxf32>
}
"""
TORCH_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
CODES = {torch.float32: 1, torch.bfloat16: 2}  # of mhcrt_dtype


def mhc_text(dtype, C, n):
    text = SITE.replace("NxKx", f"{2 * n + n * n}x{n * C}x").replace("xNx", f"x{2 * n + n * n}x")
    text = text.replace("<Nx", f"<{2 * n + n * n}x").replace("xRx", f"x{n * n}x").replace("xnxnx", f"x{n}x{n}x")
    return text.replace("xnx", f"x{n}x").replace("n, n]", f"{n}, {n}]").replace("xCx", f"x{C}x").replace("xT>", f"x{dtype}>")


class GatedDelta(torch.nn.Module):
    """The front end as model code writes it, with its usual sizes."""

    KEYS, HEADS, WIDTH, TAPS = 16, 32, 128, 4
    E = (2 * KEYS + HEADS) * WIDTH
    D = E + HEADS * WIDTH + 2 * HEADS

    def __init__(self, element):
        super().__init__()
        self.conv_weight = torch.nn.Parameter((0.5 * torch.randn(self.E, self.TAPS)).to(element))
        self.A_log = torch.nn.Parameter(torch.rand(self.HEADS))
        self.dt_bias = torch.nn.Parameter(torch.rand(self.HEADS))

    def forward(self, qkvzba):
        keys, heads, width = self.KEYS, self.HEADS, self.WIDTH
        x, z, b, alpha = qkvzba.transpose(0, 1).split([self.E, heads * width, heads, heads], dim=-1)
        M = x.shape[1]
        x = functional.conv1d(x.transpose(1, 2), self.conv_weight.unsqueeze(1), padding=self.TAPS - 1, groups=self.E)
        x = functional.silu(x[:, :, :M].transpose(1, 2))
        q, k, v = x.split([keys * width, keys * width, heads * width], dim=-1)

        def normed(t):
            t = t.reshape(1, M, keys, width)
            wide = t.float()
            t = (wide * torch.rsqrt(wide.square().sum(dim=-1, keepdim=True) + 1e-6)).to(t.dtype)
            return t.repeat_interleave(heads // keys, dim=2)

        g = -self.A_log.exp() * functional.softplus(alpha.float() + self.dt_bias)
        return (normed(q), normed(k), v.reshape(1, M, heads, width), z.reshape(1, M, heads, width).contiguous(),
                b.sigmoid(), g)


def gated_delta_text(dtype):
    text = GATED_DELTA_SITE.replace("xDx", f"x{GatedDelta.D}x").replace("<Exkx", f"<{GatedDelta.E}x{GatedDelta.TAPS}x")
    text = text.replace("Hx", f"{GatedDelta.HEADS}x").replace("xdx", f"x{GatedDelta.WIDTH}x")
    return text.replace("KEYS", str(GatedDelta.KEYS)).replace("xT>", f"x{dtype}>")


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
    """The site and its gradients, compiled."""

    def __init__(self, mhcc, text, threads):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "site.mlir"), os.path.join(folder, "site.so")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
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
    """One part in both implementations. `inputs` and `outputs` are lists of names and tensors."""

    def __init__(self, module, forward, text, dtype, M, inputs, outputs, mhcc, threads):
        self.forward = forward
        self.bound = 1e-3 if dtype == "f32" else 5e-2  # PyTorch's coefficients have the type of the streams, ours f32
        self.names, self.outputs = list(dict(module.named_parameters())), list(outputs)
        self.inputs = [tensor.requires_grad_() for tensor in inputs.values()]
        self.weights = list(module.parameters())
        self.gradients = ["d_" + name for name in (*inputs, *self.names)]
        self.cotangents = list(outputs.values())
        self.tensors = dict(zip((*inputs, *self.names), (t.detach() for t in self.inputs + self.weights)))
        self.tensors.update(zip(("d_" + name for name in outputs), self.cotangents))
        model = Model(mhcc, text, threads)
        self.whole = Entry(model, "site", self.tensors, M)
        self.halves = [Entry(model, "site" + half, self.tensors, M) for half in ("_fwd", "_bwd")]

    def torch_pass(self, forward):
        outputs = forward(*self.inputs)
        return outputs, torch.autograd.grad(outputs, self.inputs + self.weights, self.cotangents)

    def torch_forward(self, forward):
        with torch.inference_mode():
            return forward(*self.inputs)

    def our_pass(self):
        for half in self.halves:
            half()

    def check(self):
        outputs, gradients = self.torch_pass(self.forward)
        self.our_pass()
        for name, theirs in zip((*self.outputs, *self.gradients), (*outputs, *gradients)):
            assert_close(name, self.tensors[name], theirs, self.bound)

    def saved_by_us(self):
        own = (*self.names, *("d_" + name for name in self.outputs))
        return bytes_of(tensor for name, tensor in self.halves[1].sides["arg"].items() if name not in own)


def mhc_site(dtype, args):
    """x, f, and in f32 the projection, its scale, h_post and h_res are saved."""
    M, C, n, element = args.M, args.C, args.n, TORCH_TYPES[dtype]
    module = HyperConnection(n, C)

    def forward(x, f):
        u, h_post, h_res = module.pre(x)
        return u, module.post(f, x, h_post, h_res)

    inputs = {"x": torch.randn(M, n, C).to(element), "f": torch.randn(M, C).to(element)}
    outputs = {"u": torch.randn(M, C).to(element), "out": torch.randn(M, n, C).to(element)}
    formula = (n + 1) * C * element.itemsize + 4 * ((2 * n + n * n) + 1 + n + n * n)
    return Site(module, forward, mhc_text(dtype, C, n), dtype, M, inputs, outputs, args.mhcc, args.threads), formula


def gated_delta_site(dtype, args):
    """The projection is saved."""
    M, element = args.M, TORCH_TYPES[dtype]
    module = GatedDelta(element)
    inputs = {"qkvzba": torch.randn(M, 1, module.D).to(element)}
    with torch.inference_mode():
        shapes = [(tensor.shape, tensor.dtype) for tensor in module(inputs["qkvzba"])]
    names = ("query", "key", "value", "gate", "beta", "g")
    outputs = {name: torch.randn(shape).to(kind) for name, (shape, kind) in zip(names, shapes)}
    site = Site(module, module.forward, gated_delta_text(dtype), dtype, M, inputs, outputs, args.mhcc, args.threads)
    return site, module.D * element.itemsize


PARTS = {"mhc": mhc_site, "gated_delta": gated_delta_site}


def compare(args):
    """Prints times and saved bytes."""
    print(f"{args.part}, M={args.M} C={args.C} n={args.n}; times in ms, saved bytes per token")
    print(f"{'dtype':<6} {'pass':<9} {'eager':>9} {'compile':>9} {'mhc':>9} {'eager /':>9} {'compile /':>10} "
          f"{'saved: eager':>14} {'compile':>9} {'mhc':>9} {'formula':>9}")
    for dtype in TORCH_TYPES:
        torch.manual_seed(0)
        site, formula = PARTS[args.part](dtype, args)
        site.check()
        compiled = torch.compile(site.forward)
        passes = (("forward", site.whole, site.torch_forward), ("both", site.our_pass, site.torch_pass))
        for name, ours, theirs in passes:
            ms = milliseconds(ours)
            eager, compiled_ms = milliseconds(theirs, site.forward), milliseconds(theirs, compiled)
            print(f"{dtype:<6} {name:<9} {eager:9.2f} {compiled_ms:9.2f} {ms:9.2f} {eager / ms:8.2f}x "
                  f"{compiled_ms / ms:9.2f}x", end="" if name == "both" else "\n", flush=True)
        saved = [saved_by_torch(lambda call=call: call(*site.inputs), site.weights) / args.M
                 for call in (site.forward, compiled)]
        print(f" {saved[0]:14.0f} {saved[1]:9.0f} {site.saved_by_us() / args.M:9.0f} {formula:9.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="mhc")
    parser.add_argument("--mhcc", default="build/bin/mhcc", help="our compiler")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("-M", type=int, default=2048, help="tokens")
    parser.add_argument("-C", type=int, default=2560, help="channels of one stream")
    parser.add_argument("-n", type=int, default=4, help="streams")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    compare(args)


if __name__ == "__main__":
    main()
