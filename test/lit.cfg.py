"""How lit runs the tests below this folder. The build's settings arrive from lit.site.cfg.py.in."""

import ctypes
import glob
import os
import shlex
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config

config.name = "mhc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".td"]
config.excludes = ["Golden", "Inputs", "data", "Unit", "corpus", "lib", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mhc_obj_root, "test")

# Tools. FileCheck, not, count and split-file come with LLVM.
TOOLS = ["mhc-opt", "mhcc", "mhc-run", "mhc-train", "mhc-conformance", "mhc-fuzz", "mhc-bench", "mhc-tblgen",
         "mhc-lsp-server", "mhc-reduce", "mhc-capi-test"]
bin_dir = os.path.join(config.mhc_obj_root, "bin")
llvm_config.with_environment("PATH", [bin_dir, config.llvm_tools_dir], append_path=True)
# PyTorch trusts the CPU's flags: else each process compiles and runs programs that ask for its instructions, for 9 s.
llvm_config.with_environment("TORCHINDUCTOR_VEC_ISA_OK", "1")
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [tool for tool in TOOLS if os.path.exists(os.path.join(bin_dir, tool))] + ["split-file"],
    [bin_dir, config.llvm_tools_dir],
)

config.substitutions += [
    ("%mhc_src_root", config.mhc_src_root),
    ("%mhc_obj_root", config.mhc_obj_root),
    ("%mhc_lib_dir", os.path.join(config.mhc_obj_root, "lib")),
    ("%mlir_include_dir", config.mlir_include_dir),
    ("%host_cxx", config.host_cxx),
    ("%host_cc", config.host_cc),
    ("%python", shlex.quote(sys.executable)),
]

# Features: what the build and the machine have.
for program, feature in (("dot", "graphviz"), ("chromium", "chromium"), ("valgrind", "valgrind"),
                         ("dpkg-shlibdeps", "dpkg")):
    if shutil.which(program):
        config.available_features.add(feature)
if shutil.which("mpirun") and os.path.exists(os.path.join(config.mhc_obj_root, "lib", "libmhcrt_mpi.so")):
    if not config.mhc_sanitizer:  # Open MPI keeps memory until the end, which the address sanitizer calls a leak
        config.available_features.add("mpi")
# More ranks than cores, as root in a container, and never longer than a minute. One at a time: a run that ends removes the
# folder in which another one makes its own.
mpi_lock = os.path.join(config.mhc_obj_root, "mpirun.lock")
config.substitutions.append(("%mpirun", "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                             f"flock {mpi_lock} timeout 60 mpirun --oversubscribe --mca plm isolated --mca btl self,vader"))
if os.path.exists(config.mhc_ptxas):
    config.available_features.add("ptxas")
nvcc = os.path.join(os.path.dirname(config.mhc_ptxas), "nvcc")
if os.path.exists(nvcc):
    config.available_features.add("nvcc")
runtime_dir = os.path.join(config.mhc_src_root, "runtime")
config.substitutions.append(("%nvcc", f"{nvcc} --ptx -arch=sm_90a -std=c++17 --extended-lambda --expt-relaxed-constexpr "
                             f"-Werror=all-warnings -I{runtime_dir} -I{os.path.join(runtime_dir, 'include')}"))
if os.path.exists(os.path.join(config.mhc_obj_root, "lib", "libmhcrt_cuda.so")):
    config.available_features.add("cuda-runtime")
if config.mhc_torch and os.path.exists(os.path.join(config.mhc_obj_root, "python", "mhcc", "libmhc_torch.so")):
    # The ops of PyTorch were built; their tests need pytest as well.
    if subprocess.run([config.mhc_torch, "-c", "import importlib.util as util; util.find_spec('pytest').name"],
                      capture_output=True).returncode == 0:
        config.available_features.add("torch")
config.substitutions.append(("%torch_python", shlex.quote(config.mhc_torch)))
# Other versions of Python. Those of pyenv are programs that run where PYENV_VERSION names their version.
pythons = []
if "torch" in config.available_features:
    versions = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True).stdout.split() \
        if shutil.which("pyenv") else []
    environment = {**os.environ, "PYENV_VERSION": ":".join(versions + ["system"])} if versions else None
    for minor in range(10, 20):
        if shutil.which(f"python3.{minor}"):
            found = subprocess.run([f"python3.{minor}", "-c", "import pip, sys; print(sys.executable)"],
                                   capture_output=True, text=True, env=environment)
            pythons += found.stdout.split()
if len(pythons) > 1:
    config.available_features.add("pythons")
config.substitutions.append(("%every_python", shlex.join(pythons)))
fake_dir = os.path.join(config.mhc_obj_root, "lib", "fake")
if os.path.exists(os.path.join(fake_dir, "libmhcrt_cuda.so")):
    # Models for a GPU run, and leave zeros: runtime/test/cuda-host.
    config.available_features.add("fake-gpu")
config.substitutions.append(("%on_fake_gpu", "env LD_LIBRARY_PATH=" + fake_dir))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
if len(glob.glob("/dev/nvidia[0-9]*")) > 1:
    config.available_features.add("gpus")
try:
    ctypes.CDLL("libnccl.so.2")
    config.available_features.add("nccl")
except OSError:
    pass
if config.mhc_sanitizer:
    config.available_features.add("sanitizer")
    llvm_config.with_system_environment(["ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"])
