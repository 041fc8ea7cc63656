"""Tensors of a GPU: PyTorch's streams, graphs and memory."""

import copy
import dataclasses

import cases
import mhcc
import modules
import pytest
import torch
from cases import CASES
from test_dispatch import assert_same_bits, in_threads, record
from test_numbers import TOLERANCE, error, gradients

pytestmark = pytest.mark.skipif(
    torch.get_default_device().type != "cuda", reason="needs a GPU and MHCC_TEST_DEVICE=cuda")


@pytest.fixture
def wide(monkeypatch):
    """The size of a model's streams, for which there are kernels of their own."""
    monkeypatch.setitem(cases.SIZES, "C", 1280)
    monkeypatch.setitem(cases.SIZES, "K", 4 * 1280)


def calls_of(name, **options):
    """The ops of a case, forward and backward, as functions without arguments."""
    _, _, calls = record(CASES[name], **options)
    return [lambda call=call: made(call[0](*map(plain, call[1]), **call[2])) for call in calls]


def plain(value):
    return value.detach() if isinstance(value, torch.Tensor) else value


def made(results):
    results = results if isinstance(results, tuple) else (results,)
    return [result for result in results if result is not None]


def captured(call):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = call()
    return graph, results


@pytest.mark.parametrize("name", CASES)
def test_graphs_in_turn(name):
    """Also at the first call of a shape, with two sizes that share PyTorch's memory."""
    graphs = []
    for tokens in (257,), (31,):
        for call in calls_of(name, tokens=tokens):
            graphs.append((call, *captured(call)))
    for call, graph, results in graphs + graphs[::-1]:
        for result in results:
            result.zero_()
        graph.replay()
        assert_same_bits(results, call())


@pytest.mark.parametrize("name", ["pre", "post", "post_pre", "head"])
def test_graphs_of_wide_streams(name, wide):
    for call in calls_of(name, tokens=(130,), dtype=torch.bfloat16):
        graph, results = captured(call)
        graph.replay()
        assert_same_bits(results, call())


@pytest.mark.parametrize("name", ["pre", "post_pre"])
def test_a_part_of_the_gpu(name, wide):
    """Changes no bit: tiles are taken from a counter then, in calls and in a graph."""
    calls = calls_of(name, tokens=(8000,), dtype=torch.bfloat16)
    wanted = [call() for call in calls]
    mhcc.set_multiprocessors(100)
    try:
        for call, results in zip(calls, wanted):
            assert_same_bits(call(), results)
            graph, recorded = captured(call)
            graph.replay()
            assert_same_bits(recorded, results)
    finally:
        mhcc.set_multiprocessors(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["pre", "post", "post_pre", "head"])
def test_wide_streams(name, dtype, wide):
    """As on the CPU, which rounds at the same places, but for products in three terms of bf16 in place of exact ones."""
    case = dataclasses.replace(CASES[name])
    case.attributes = {key: value for key, value in case.attributes.items() if key != "precision"}
    operands = case.operands((130,), dtype)
    found = [{key: value.to(device).requires_grad_() for key, value in operands.items()} for device in ("cuda", "cpu")]
    results, expected = map(case.run, found)
    bound = max(TOLERANCE[dtype], 2**-16)
    for own, value in zip(results, expected, strict=True):
        assert error(own.cpu(), value) <= bound
    for own, value in zip(*map(gradients, (results, expected), found), strict=True):
        assert error(own.cpu(), value) <= 4 * bound


@pytest.mark.parametrize("tokens", [7, 1000])
def test_parts_have_the_bits_of_pre(tokens, wide):
    """Models that take the coefficients' steps one by one get what the fused kernel gives."""
    x, phi, alpha, beta = CASES["pre"].operands((tokens,), torch.bfloat16).values()
    u, h_post, h_res = mhcc.pre(x, phi, alpha, beta, pre_eps=1e-6, precision="bf16x3")
    proj, stat = mhcc.projection(x, phi, precision="bf16x3")
    h_pre, own_post, logits = mhcc.gates(proj * stat.unsqueeze(-1), alpha, beta, n=4, stat_form="applied", pre_eps=1e-6)
    own_res = mhcc.sinkhorn(logits.unflatten(-1, (4, 4)))
    assert_same_bits([mhcc.aggregate(x, h_pre), own_post, own_res], [u, h_post, h_res])


@pytest.mark.parametrize("name", ["pre", "post", "post_pre", "head"])
def test_present_stream(name):
    """A call waits for what is on its stream, and for nothing else."""
    case, stream = CASES[name], torch.cuda.Stream()
    operands = case.operands(tokens=(64,))
    expected = case.run(operands)
    late = {key: torch.full_like(value, torch.nan) for key, value in operands.items()}
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for key, value in operands.items():
            late[key].copy_(value)
        results = case.run(late)
    assert not stream.query()
    torch.cuda.current_stream().wait_stream(stream)
    assert_same_bits(results, expected)


def test_threads_with_streams():
    case = CASES["pre"]
    operands = case.operands(tokens=(257,))
    expected = case.run(operands)
    torch.cuda.synchronize()

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream() if i % 2 else torch.cuda.default_stream()):
            for _ in range(20):
                results = case.run(operands)
            torch.cuda.current_stream().synchronize()
        return results

    for results in in_threads(work):
        assert_same_bits(results, expected)


def test_memory_is_that_of_pytorch():
    """Scratch memory is PyTorch's for the time of a call, and results are all that stays."""
    backward = calls_of("pre", tokens=(4096,))[-1]
    backward()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    results = backward()
    after, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    assert sum(result.nbytes for result in results) <= after - before < peak - before
    del results
    assert torch.cuda.memory_allocated() == before


def test_operands_on_several_devices():
    operands = CASES["pre"].operands()
    operands["phi"] = operands["phi"].cpu()
    with pytest.raises(RuntimeError, match="'phi' is on cpu; needed cuda:0, where other operands are"):
        CASES["pre"].run(operands)
    operands["phi"] = operands["phi"].cuda()
    CASES["pre"].run(operands)
    CASES["pre"].run({key: value.cpu() for key, value in operands.items()})


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_gpus():
    case = CASES["pre"]
    operands = case.operands(tokens=(64,))
    expected = case.run(operands)
    results = case.run({key: value.to("cuda:1") for key, value in operands.items()})
    assert {result.device.index for result in results} == {1}
    assert torch.cuda.current_device() == 0
    assert_same_bits([result.to("cuda:0") for result in results], expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_reduce_overhead(dtype):
    """Inductor's own graphs, forward and backward, of two sizes."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = modules.Model().to(dtype)
    other = copy.deepcopy(model)
    run = mhcc.compile(other, mode="reduce-overhead", require="all")
    for tokens in (torch.arange(24).reshape(3, 8) % 7, torch.arange(20).reshape(2, 10) % 7) * 4:
        expected = model(tokens)
        weights = torch.randn_like(expected)
        torch.compiler.cudagraph_mark_step_begin()
        out = run(tokens)
        bound = dict(rtol=1e-4, atol=1e-4) if dtype is torch.float32 else dict(rtol=0.1, atol=0.1)
        torch.testing.assert_close(out, expected, **bound)
        found, wanted = (torch.autograd.grad((value * weights).sum(), list(of.parameters()))
                         for value, of in ((out, other), (expected, model)))
        for own, eager in zip(found, wanted):
            assert (own - eager).abs().max() <= (1e-4 if dtype is torch.float32 else 0.1) * eager.abs().max()
