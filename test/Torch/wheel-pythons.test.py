"""Installs the wheel with several Pythons, and asks each for all that the modules take of it.

usage: wheel-pythons.test.py GRAPH.mlir FOLDER PYTHON...    FOLDER has the wheel
       wheel-pythons.test.py --self-test
       wheel-pythons.test.py --missing FILE...              by the Python that is asked
"""

import ast
import glob
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile

OTHERS = {"functorch", "megatron", "mhcc", "pytest", "torch"}  # not of the standard library


def taken(path):
    """Modules that a file imports, wherever in it, and their names that it imports or reads, as functools.cache."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.module, alias.name) for alias in node.names)
    modules = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
               for alias in node.names if "." not in alias.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.value.id, node.attr


def missing(paths):
    names = {one for path in paths for one in taken(path) if one[0].split(".")[0] not in OTHERS}
    for module, name in sorted(names, key=str):
        if not has(module, name):
            print(module if name is None else f"{module}.{name}")


def has(module, name):
    try:
        found = importlib.import_module(module)
        return name is None or hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}") is not None
    except ImportError:
        return False


def self_test():
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write("import os\nimport torch\nimport no_such_module\nprint(os.no_such_name, os.path, torch.nothing)\n")
        file.flush()
        missing([file.name])


def check(graph, folder, python):
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    site = os.path.join(folder, "site-" + version)
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site,
        *glob.glob(folder + "/*.whl"))
    modules = sorted(glob.glob(site + "/mhcc/**/*.py", recursive=True))
    run(python, "-W", "error", "-m", "compileall", "-q", "-f", site + "/mhcc")
    lacks = run(python, __file__, "--missing", *modules)
    assert not lacks, f"Python {version} has no {lacks}"
    text = subprocess.run([site + "/bin/mhc-opt", graph, "--allow-unregistered-dialect", "--mhc-rewrite-aten"],
                          env={**os.environ, "PYTHONPATH": site}, check=True, capture_output=True, text=True).stdout
    assert '"op":"mhc.pre"' in text, text
    print(f"Python {version}: installed, {len(modules)} modules, programs run")


if sys.argv[1] == "--self-test":
    self_test()
elif sys.argv[1] == "--missing":
    missing(sys.argv[2:])
else:
    for one in sys.argv[3:]:
        check(*sys.argv[1:3], one)
