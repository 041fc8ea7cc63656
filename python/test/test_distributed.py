"""Models of several processes: losses are those of one, whether weights are shared out or not."""

import os
import re
import signal
import subprocess
import sys
import tempfile

import pytest
import torch
from mhcc import capture
from torch import distributed

HERE = os.path.dirname(__file__)
EXAMPLES = os.path.join(HERE, "..", "..", "examples", "pytorch")
STEPS = 4


@pytest.fixture(scope="module")
def wanted():
    code = f"import train_gpt; print(*train_gpt.losses({STEPS}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, text=True, check=True)
    return [float(loss) for loss in done.stdout.split()]


def descendants(pid):
    """Processes that one has started, and those that they have; torchrun gives each a session of its own."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(child) for child in file.read().split()]
    return children + [one for child in children for one in descendants(child)]


def output_of(processes, *command):
    """Runs a script in processes. Threads of gloo that wait for Python may keep them from ending: they are killed then."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([*sys.path, EXAMPLES]))
    if torch.cuda.device_count() < processes:  # each has one of its own
        env["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryFile("w+") as output:
        run = subprocess.Popen([*launch, *command], stdout=output, stderr=subprocess.STDOUT, env=env)
        try:
            run.wait(timeout=120)
        except subprocess.TimeoutExpired:
            for pid in [run.pid, *descendants(run.pid)]:
                os.kill(pid, signal.SIGKILL)
            run.wait()
        output.seek(0)
        return output.read()


@pytest.mark.parametrize("form", [[], ["--sharded"]], ids=["ddp", "fsdp"])
def test_two_processes_have_the_losses_of_one(form, wanted):
    output = output_of(2, os.path.join(EXAMPLES, "train_ddp.py"), *form, str(STEPS))
    found = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", output)]
    assert found == pytest.approx(wanted, abs=2e-4), output


def losses_of(processes, *options):
    output = output_of(processes, os.path.join(HERE, "train_divided.py"), str(STEPS), *options)
    return [float(loss) for loss in output.splitlines()[-1].split()]


def test_divided_layers_have_the_losses_of_one_process(wanted):
    assert losses_of(2, "--compiled") == pytest.approx(wanted, rel=1e-5)


def test_divided_layers_have_the_losses_of_one_process_under_autocast(wanted):
    """As sums over processes round to bf16 elsewhere, losses may differ by what such roundings do to them."""
    rounded = losses_of(1, "--autocast")
    rounding = max(abs(a - b) for a, b in zip(wanted, rounded))
    assert losses_of(2, "--autocast", "--compiled") == pytest.approx(rounded, abs=2 * rounding)


@pytest.fixture
def divided(tmp_path, monkeypatch):
    """Such a model of one process."""
    if torch.get_default_device().type != "cpu":
        pytest.skip("processes of gloo have tensors of the CPU")
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.syspath_prepend(HERE)
    import train_divided

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/processes", rank=0, world_size=1)
    yield train_divided.divided_model(), next(train_divided.batches(1))[:, :-1]
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
    compiled = torch.compile(torch.no_grad()(model.forward), backend="mhc", options={"require": 8})
    with pytest.raises(Exception, match="_set_grad_enabled.* would change more than its part of the graph"):
        compiled(words)


def test_each_part_has_the_autocast_around_it(divided):
    model, words = divided
    parts = []

    def split(module, inputs):
        parts.extend(capture.split(module)[0].children())
        return module

    torch.compile(torch.autocast("cpu", torch.bfloat16)(model.forward), backend=split)(words)
    with_matrices = [part for part in parts if "linear" in part.code]
    assert len(with_matrices) > 4
    for part in with_matrices:
        assert part.code.count("_enter_autocast(") == part.code.count("_exit_autocast(") == 1
        assert part.code.index("_enter_autocast(") < part.code.index("linear") < part.code.rindex("_exit_autocast(")
