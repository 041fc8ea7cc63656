"""The ops below PyTorch's own machinery: opcheck, strides, modes, checkpoints, errors."""

import operator
import os
import subprocess
import sys
import threading

import mhcc
import pytest
import torch
from cases import CASES, PRESET
from mhcc import boundaries
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


class Recorder(TorchDispatchMode):
    """Keeps the calls of our ops."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace == "mhc":
            self.calls.append((function, args, kwargs or {}))
        return function(*args, **kwargs or {})


def record(case, **options):
    """The results of a case, its gradients, and the calls of our ops forward and backward."""
    operands = {key: value.requires_grad_() for key, value in case.operands(**options).items()}
    with Recorder() as recorder:
        results = case.run(operands)
        sum(result.square().sum() for result in results).backward()
    return results, [value.grad for value in operands.values()], recorder.calls


def bits(values):
    return [value.detach().contiguous().view(torch.uint8).flatten() for value in values]


def assert_same_bits(values, expected):
    assert all(torch.equal(*pair) for pair in zip(bits(values), bits(expected), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_opcheck(name):
    _, _, calls = record(CASES[name])
    assert calls
    for op, args, kwargs in calls:
        # Gradients of gradients are an error.
        differentiated = not op._opname.endswith("_bwd")
        fresh = tuple(arg.detach().clone().requires_grad_(differentiated and arg.is_floating_point())
                      if isinstance(arg, torch.Tensor) else arg for arg in args)
        torch.library.opcheck(op, fresh, kwargs)


@pytest.mark.parametrize("name", CASES)
def test_written_calls(name):
    """The form of an op that compiled graphs call makes the same results, with the same bits."""
    for op, args, kwargs in record(CASES[name])[2]:
        graph, operands = torch.fx.Graph(), [arg.detach() for arg in args if arg is not None]
        places = iter([graph.placeholder(f"operand_{i}") for i in range(len(operands))])
        call = graph.call_function(op, tuple(arg if arg is None else next(places) for arg in args), kwargs)
        expected = call.meta["val"] = op(*(arg if arg is None else arg.detach() for arg in args), **kwargs)
        if isinstance(expected, tuple):
            made = [i for i, value in enumerate(expected) if value is not None]
            graph.output([graph.call_function(operator.getitem, (call, i)) for i in made])
            expected = [expected[i] for i in made]
        else:
            graph.output([call])
            expected = [expected]
        boundaries.write(call)
        assert_same_bits(torch.fx.GraphModule({}, graph)(*operands), expected)
        (written,) = graph.find_nodes(op="call_function", target=op.overloadpacket.compiled)
        torch.library.opcheck(written.target, (operands, *written.args[1:]))


def apart(value):
    """The same numbers, neither contiguous nor aligned."""
    if value.ndim == 0:
        return value
    wide = value.new_empty(*value.shape[:-1], 2 * value.shape[-1] + 1)
    wide[..., 1::2] = value
    return wide[..., 1::2]


def misaligned(value):
    return torch.cat([value.flatten()[:1], value.flatten()])[1:].view_as(value)


def negated(value):
    """The same numbers behind PyTorch's mark for a sign that is still to be changed."""
    return torch._neg_view(-value)


@pytest.mark.parametrize("move", [apart, misaligned, negated], ids=lambda move: move.__name__)
@pytest.mark.parametrize("name", CASES)
def test_same_bits_wherever_operands_lie(name, move):
    case = CASES[name]
    operands = case.operands(dtype=torch.bfloat16)
    assert_same_bits(case.run({key: move(value) for key, value in operands.items()}), case.run(operands))


@pytest.mark.parametrize("name", CASES)
def test_no_tokens(name):
    results, gradients, _ = record(CASES[name], tokens=(0, 3))
    assert all(result.numel() == 0 for result in results)
    assert all(gradient is not None and not gradient.any() for gradient in gradients)


@pytest.mark.parametrize("name", CASES)
def test_inference_mode_and_autocast(name):
    case = CASES[name]
    operands = case.operands()
    expected = case.run(operands)
    with torch.inference_mode():
        assert_same_bits(case.run(operands), expected)
    with torch.autocast(torch.get_default_device().type, torch.bfloat16):
        assert_same_bits(case.run(operands), expected)


@pytest.mark.parametrize("name", ["post", "pre", "sinkhorn"])
def test_vmap(name):
    case = CASES[name]
    several = [case.operands(seed=seed) for seed in range(3)]
    stacked = {key: torch.stack([operands[key] for operands in several]) for key in several[0]}
    found = torch.vmap(lambda operands: tuple(case.run(operands)))(stacked)
    for i, operands in enumerate(several):
        assert_same_bits([value[i] for value in found], case.run(operands))


@pytest.mark.parametrize("name", ["pre", "post", "head"])
def test_only_wanted_gradients(name):
    case = CASES[name]
    for wanted in case.shapes:
        operands = case.operands()
        operands[wanted].requires_grad_()
        with Recorder() as recorder:
            sum(result.sum() for result in case.run(operands)).backward()
        backward = recorder.calls[-1]
        names = [result.name for result in backward[0]._schema.returns]
        assert [names[i] for i, made in enumerate(backward[2]["output_mask"]) if made] == ["d_" + wanted]


def test_results_that_are_made_for_backward():
    """Those that are asked for have no gradient; those that are not stay None."""
    operands = [value.requires_grad_() for value in CASES["pre"].operands().values()]
    for asked in (False, True):
        results = torch.ops.mhc.pre(*operands, **PRESET, output_mask=[False, False, True, True, asked, asked])
        assert [result is not None for result in results] == [False, False, True, True, asked, asked]
        assert not any(result.requires_grad for result in results[4:] if result is not None)
        torch.autograd.grad(results[2].sum(), operands)


def test_kept_for_backward():
    """Streams and f are kept once, with coefficients and parameters, and nothing else."""
    kept = {}

    def keep(tensor):
        kept[tensor.data_ptr()] = tensor
        return tensor

    operands = {key: value.requires_grad_() for key, value in CASES["pre"].operands(tokens=(64,)).items()}
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        u, h_post, h_res = CASES["pre"].run(operands)
        f = u.clone()
        mhcc.post(f, operands["x"], h_post, h_res)
    own = {value.data_ptr() for value in operands.values()}
    extra = sum(tensor.nbytes for pointer, tensor in kept.items() if pointer not in own)
    n, width = 4, 24
    assert extra == f.nbytes + 64 * 4 * (width + 1 + n + n * n)  # f; proj and stat of pre; h_post and h_res of post


def sublayer(x, phi, alpha, beta):
    u, h_post, h_res = mhcc.pre(x, phi, alpha, beta)
    return mhcc.post(torch.tanh(u), x, h_post, h_res)


def test_checkpoint():
    operands = [value.requires_grad_() for value in CASES["pre"].operands().values()]

    def gradients(function):
        return torch.autograd.grad(function(*operands).square().sum(), operands)

    expected = gradients(sublayer)
    assert_same_bits(gradients(lambda *args: checkpoint(sublayer, *args, use_reentrant=False)), expected)
    checkpoint(sublayer, *operands, use_reentrant=True).square().sum().backward()
    assert_same_bits([operand.grad for operand in operands], expected)

    def keep_post(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op == torch.ops.mhc.post.default else CheckpointPolicy.PREFER_RECOMPUTE

    with Recorder() as recorder:
        found = gradients(lambda *args: checkpoint(
            sublayer, *args, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(keep_post)))
    assert_same_bits(found, expected)
    assert [call[0]._opname for call in recorder.calls].count("post") <= 1


def in_threads(function, count=8):
    """The results of function(i), each in a thread of its own."""
    found = [None] * count

    def work(i):
        found[i] = function(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads():
    case = CASES["pre"]
    operands = case.operands(tokens=(257,))
    expected = case.run(operands)
    for results in in_threads(lambda i: [case.run(operands) for _ in range(5)][-1]):
        assert_same_bits(results, expected)


def test_number_of_threads_and_bits():
    case, before = CASES["pre"], torch.get_num_threads()
    operands = case.operands(tokens=(129,))
    found = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        found.append(case.run(operands))
    torch.set_num_threads(before)
    assert_same_bits(*found)


@pytest.mark.skipif(torch.get_default_device().type == "cuda", reason="PyTorch's CUDA ends at a fork")
def test_forked_child():
    """A child has no threads of its parent's pools."""
    case = CASES["post"]
    operands = case.operands(tokens=(4096,))
    case.run(operands)
    context = torch.multiprocessing.get_context("fork")
    child = context.Process(target=case.run, args=(operands,))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def test_dropout():
    operands = CASES["post"].operands(tokens=(64,))
    torch.manual_seed(3)
    first = mhcc.post(**operands, dropout=0.25)
    second = mhcc.post(**operands, dropout=0.25)
    torch.manual_seed(3)
    assert_same_bits([mhcc.post(**operands, dropout=0.25)], [first])
    assert not torch.equal(first, second)
    mixed = operands["h_res"] @ operands["x"]
    dropped = ((first - mixed).abs() < 1e-5).float().mean().item()
    assert abs(dropped - 0.25) < 0.03
    operands = {key: value.requires_grad_() for key, value in operands.items()}
    torch.manual_seed(3)
    out = mhcc.post(**operands, dropout=0.25)
    (d_f,) = torch.autograd.grad(out.sum(), operands["f"])
    kept = (out - mixed) / (operands["h_post"].unsqueeze(-1) * operands["f"].unsqueeze(-2))
    torch.testing.assert_close(d_f, (kept * operands["h_post"].unsqueeze(-1)).sum(-2), rtol=1e-2, atol=1e-2)


def test_memory_of_large_results():
    mhcc.empty_cache()
    x = torch.ones(1 << 17, 8, device="cpu")
    streams = mhcc.expand(x, 4)
    where = streams.data_ptr()
    part = streams[5:]
    del streams
    assert mhcc.cached_bytes() == 0  # a view has it
    del part
    assert mhcc.cached_bytes() == x.nbytes * 4
    streams = mhcc.expand(2 * x, 4)
    assert (streams.data_ptr(), mhcc.cached_bytes()) == (where, 0)
    assert streams.eq(2).all()
    del streams
    smaller = mhcc.expand(x[: len(x) * 7 // 8], 4)
    assert (smaller.data_ptr(), mhcc.cached_bytes()) == (where, 0)
    del smaller
    assert mhcc.cached_bytes() == x.nbytes * 4
    half = mhcc.expand(x[: len(x) // 2], 4)  # would leave too much of the block
    assert (half.data_ptr() == where, mhcc.cached_bytes()) == (False, x.nbytes * 4)
    del half
    mhcc.empty_cache()
    assert mhcc.cached_bytes() == 0


def test_memory_is_shared_by_the_processes_of_a_machine():
    code = "import torch, mhcc; mhcc.expand(torch.ones(1 << 16, 8), 4); print(mhcc.cached_bytes())"
    kept = [int(subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "LOCAL_WORLD_SIZE": ranks}))
            for ranks in ("1", str(1 << 20))]  # fmt: skip
    assert kept == [8 << 20, 0]


def backward_of(name, dtype=torch.float32):
    """The backward op of a case, and its arguments by name."""
    _, _, calls = record(CASES[name], dtype=dtype)
    op, args, kwargs = calls[-1]
    given = {argument.name: value for argument, value in zip(op._schema.arguments, args)}
    return op, {key: value.detach() if isinstance(value, torch.Tensor) else value
                for key, value in {**given, **kwargs}.items()}


@pytest.mark.parametrize("start", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["pre", "post", "head", "projection", "aggregate"])
def test_gradients_that_start_from_others(name, start):
    """The gradient of x has the type of its start; starts are added, before one rounding."""
    op, arguments = backward_of(name, torch.bfloat16)
    results = [result.name for result in op._schema.returns]
    plain = dict(zip(results, op(**arguments)))
    starts = {key: torch.randn_like(value, dtype=start if key == "d_x" else value.dtype) for key, value in plain.items()
              if value is not None and any(argument.name == key + "_in" for argument in op._schema.arguments)}
    assert "d_x" in starts
    given = {**arguments, **{key + "_in": value for key, value in starts.items()}}
    torch.library.opcheck(op, (), given)
    zeros = {key + "_in": torch.zeros_like(value, dtype=torch.float32) for key, value in starts.items()}
    unrounded = dict(zip(results, op(**arguments, **zeros)))
    for key, found in zip(results, op(**given)):
        if key in starts:
            assert found.dtype == starts[key].dtype
            rounding = 2**-8 if found.dtype == torch.bfloat16 else 2**-22
            expected = unrounded[key] + starts[key].float()
            largest = max(unrounded[key].abs().max(), starts[key].float().abs().max()).item()
            torch.testing.assert_close(found.float(), expected, rtol=rounding, atol=2**-22 * largest)


def test_gradient_of_post_folded_into_that_of_pre():
    op, arguments = backward_of("pre")
    post, given = backward_of("post")
    given = {**given, "x": arguments["x"]}
    d_x = dict(zip([result.name for result in post._schema.returns], post(**given)))["d_x"]
    added = op(**{**arguments, "d_x_in": d_x})
    folded = op(**{**arguments, "d_out": given["d_out"], "h_res": given["h_res"], "orient": "oi"})
    for value, expected in zip(folded, added):
        if expected is not None:
            torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-5)
