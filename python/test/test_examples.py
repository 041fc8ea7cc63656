"""The examples, as a user runs them."""

import os
import subprocess
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "pytorch")


def run(*args):
    # Threads that wait for each other take many times as long where other tests have the cores.
    env = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run([sys.executable, *args], cwd=EXAMPLES, capture_output=True, text=True, env=env)


def test_site():
    done = run("site.py")
    assert done.stdout == "same output: True\n", done.stderr
    done = run("-m", "mhcc", "explain", "site.py:layer")
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines if "site.py" in line] == [["1", "pre"], ["1", "post"]], done.stderr
    assert lines[-2:] == ["missed: 0", "graph breaks: 0"]


def test_deepseek_v4():
    pytest.importorskip("transformers")
    done = run("deepseek_v4.py")
    lines = ["found: 1 expand, 1 head, 4 post, 4 pre", "same output: True", "same gradients: True"]
    assert done.stdout.splitlines() == lines, done.stderr


def test_deepseek_v4_without_transformers():
    code = "import sys; sys.modules['transformers'] = None; import deepseek_v4"
    done = run("-c", code)
    assert done.returncode and "needs a transformers with DeepseekV4Model: pip install" in done.stderr


def test_train_gpt():
    done = run("train_gpt.py")
    assert done.stdout.endswith("same losses: True\n"), done.stdout + done.stderr
