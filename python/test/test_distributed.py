"""Models of several processes: losses are those of one, whether weights are shared out or not."""

import importlib
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
import torch
from torch import distributed
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "pytorch")
STEPS = 4


@pytest.fixture(scope="module")
def wanted():
    code = f"import train_gpt; print(*train_gpt.losses({STEPS}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, text=True, check=True)
    return [float(loss) for loss in done.stdout.split()]


def output_of(command):
    """Runs a command. PyTorch's processes may hang when they end, as threads of gloo wait for Python then."""
    with subprocess.Popen(command, cwd=EXAMPLES, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True) as run:  # fmt: skip
        timer = threading.Timer(300, os.killpg, [run.pid, signal.SIGKILL])
        timer.start()
        output = run.communicate()[0]
        timer.cancel()
    return output


@pytest.mark.parametrize("form", [[], ["--sharded"]], ids=["ddp", "fsdp"])
def test_two_processes_have_the_losses_of_one(form, wanted):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    output = output_of([*launch, "train_ddp.py", *form, str(STEPS)])
    found = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", output)]
    assert found == pytest.approx(wanted, abs=2e-4), output


@pytest.fixture
def divided(tmp_path, monkeypatch):
    """The example's model, whose feed-forward layers are DTensors, of one process here."""
    monkeypatch.syspath_prepend(EXAMPLES)
    train_gpt = importlib.import_module("train_gpt")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/processes", rank=0, world_size=1)
    torch.manual_seed(0)
    model = train_gpt.GPT()
    for sublayer in model.sublayers[1::2]:
        plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        parallelize_module(sublayer.f[1], distributed.init_device_mesh("cpu", (1,)), plan)
    yield model, next(train_gpt.batches(1))[:, :-1]
    distributed.barrier()  # as at the end of the example
    distributed.destroy_process_group()


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_sites_around_layers_of_dtensor_are_found(divided):
    model, words = divided
    compiled = torch.compile(model, backend="mhc", options={"require": 8, "inner": "aot_eager"})
    results = []
    for run in model, compiled:
        out = run(words)
        results.append([out, *torch.autograd.grad(out.square().mean(), list(model.parameters()))])
    for wanted, found in zip(*results):
        wanted, found = (getattr(value, "full_tensor", lambda value=value: value)() for value in (wanted, found))
        assert (found - wanted).abs().max() <= 1e-5 * max(wanted.abs().max(), 1e-3)


def test_modes_that_reach_over_dtensor_are_not_cut(divided):
    model, words = divided
    compiled = torch.compile(torch.autocast("cpu", torch.bfloat16)(model.forward), backend="mhc", options={"require": 8})
    with pytest.raises(Exception, match="_enter_autocast.* would change more than its part of a graph with DTensor"):
        compiled(words)
