"""The example of several processes: losses are those of one, whether weights are shared out or not."""

import os
import re
import subprocess
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "pytorch")
STEPS = 4


@pytest.fixture(scope="module")
def wanted():
    code = f"import train_gpt; print(*train_gpt.losses({STEPS}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, text=True, check=True)
    return [float(loss) for loss in done.stdout.split()]


@pytest.mark.parametrize("form", [[], ["--sharded"]], ids=["ddp", "fsdp"])
def test_two_processes_have_the_losses_of_one(form, wanted):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run([*launch, "train_ddp.py", *form, str(STEPS)], cwd=EXAMPLES, capture_output=True, text=True)
    found = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", done.stdout)]
    assert found == pytest.approx(wanted, abs=2e-4), done.stdout + done.stderr
