"""Files of every tool, as another program has them.

usage: files.test.py full|device|printed|together|fail|kill INPUTS FOLDER

INPUTS has the programs, FOLDER the libraries tiny.so, wide.so and model.so, and for 'fail' and 'kill' faults.so.
"""

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys

MODE, INPUTS, FOLDER = sys.argv[1:]
OUT = os.path.join(FOLDER, "out", "")  # what is written, alone
TMP = os.path.join(FOLDER, "tmp")
MODEL, Y = os.path.join(INPUTS, "model.mlir"), os.path.join(INPUTS, "y.npy")
# To save the wide model takes long enough for two to meet.
TINY, WIDE, LIBRARY = (os.path.join(FOLDER, name) for name in ("tiny.so", "wide.so", "model.so"))
BROKEN, SCRIPT = os.path.join(FOLDER, "broken.mlir"), os.path.join(FOLDER, "shows.sh")
TEXT = os.path.join(INPUTS, "tiny.json")
PRINT_OUT = ["mhcc", MODEL, "--compile-to=fuse"]

# Commands that write the file FILE; two variants for two programs that write it at once.
WRITERS = {
    "x.mlir": (PRINT_OUT + ["-o", "FILE"], PRINT_OUT + ["--fuse=none", "-o", "FILE"]),
    "x.ll": (["mhcc", MODEL, "--compile-to=llvm", "-o", "FILE"],),
    "x.o": (["mhcc", MODEL, "--compile-to=object", "-o", "FILE"],),
    "x.so": (["mhcc", MODEL, "-o", "FILE"],),
    "x.yaml": (["mhcc", TEXT, "--remarks", "FILE"],),
    "x.html": (["mhcc", MODEL, "--report", "FILE"],),
    "x.h": (["mhcc", MODEL, "--emit-header=FILE"],),
    "run.npy": (["mhcc", MODEL, "--run=copy", "--arg", Y, "--out", "FILE"],),
    "opt.mlir": (["mhc-opt", MODEL, "-o", "FILE"], ["mhc-opt", MODEL, "--mlir-print-debuginfo", "-o", "FILE"]),
    "opt.mlirbc": (["mhc-opt", MODEL, "--emit-bytecode", "-o", "FILE"],),
    "small.mlir": (["mhc-reduce", MODEL, "--test", SCRIPT, "-o", "FILE"],),
    "y.npy": (["mhc-run", LIBRARY, "--entry=copy", "--arg", Y, "--out", "FILE"],),
    "state.safetensors": (["mhc-train", TINY, "--data=" + TEXT, "--steps=2", "--save-every=1", "--save=FILE"],),
    "wide.safetensors": (["mhc-train", WIDE, "--data=" + TEXT, "--steps=1", "--save=FILE"],
                         ["mhc-train", WIDE, "--data=" + TEXT, "--steps=1", "--seed=2", "--save=FILE"]),
}
# These fail, and write why.
FAILING = {"again.mlir": ["mhcc", BROKEN, "--reproducer", "FILE"]}
# These write more than a file in a folder.
FOLDERS = {
    "golden": ["mhc-conformance", "golden", "--emit=FILE", "--what=forward",
               os.path.join(INPUTS, "../../Golden/paper/sinkhorn_f64_s3b2n2")],
    "random": ["mhc-conformance", "random", "--count=1", "--emit=FILE"],
    "modules": ["mhc-conformance", "random-modules", "--count=1", "--emit=FILE"],
}
PRINTERS = [
    ["mhcc", MODEL, "--explain"], ["mhcc", MODEL, "--explain=json"], ["mhcc", "--help"], ["mhcc", "--version"],
    PRINT_OUT, ["mhcc", MODEL, "--list"], ["mhcc", MODEL, "--verify"], ["mhcc", TEXT, "--remarks=-"],
    ["mhcc", MODEL, "--report=-"], ["mhcc", MODEL, "--emit-header=-"],
    ["mhc-opt", MODEL], ["mhc-opt", MODEL, "--mhc-dump-graph"], ["mhc-opt", "--show-dialects"],
    ["mhc-opt", MODEL, "--emit-bytecode"], ["mhc-reduce", MODEL, "--test", SCRIPT],
    ["mhc-run", LIBRARY, "--list"], ["mhc-run", "--help"], ["mhc-run", LIBRARY, "--entry=copy", "--arg", Y],
    ["mhc-train", "--help"], ["mhc-train", TINY, "--data=" + TEXT, "--steps=1"],
    ["mhc-conformance", "--help"], ["mhc-conformance", "random", "--count=1"],
]

OLD = b"old"
tried = 0
problems = []


def run(command, path, **options):
    environment = {**os.environ, "TMPDIR": TMP, **options.pop("env", {})}
    command = [word.replace("FILE", path) for word in command]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=options.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, env=environment, restore_signals=False, check=False, **options)


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def clear():
    for folder in (OUT, TMP):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)


def expect(good, command, result, what):
    global tried
    tried += 1
    if not good:
        problems.append(f"{what}: {' '.join(command)}\n  exit status {result.returncode}\n  "
                        f"{result.stderr.decode(errors='replace')[:2000]}")


def start(path):
    """The old file, and nothing else."""
    clear()
    with open(path, "wb") as file:
        file.write(OLD)


def check_untouched(command, result, path, reason, what):
    text = result.stderr.decode(errors="replace")
    named = path in text or TMP in text  # a library is made in the folder for temporary files
    good = (result.returncode > 0 and named and reason in text and read(path) == OLD
            and os.listdir(OUT) == [os.path.basename(path)] and not os.listdir(TMP))
    expect(good, command, result, what)


def with_limit(bytes):
    """Files cannot grow beyond this. The signal that says so is ignored, and write fails as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))


def full():
    for name, (command, *_) in {**WRITERS, **{n: (c,) for n, c in FAILING.items()}}.items():
        start(OUT + name)
        check_untouched(command, run(command, OUT + name, preexec_fn=with_limit(16)), OUT + name, "File too large", MODE)
    # The object has its place, the library has not: the linker says so, or loses the last byte of it.
    command, = WRITERS["x.so"]
    run(command, OUT + "x.so")
    size = os.path.getsize(OUT + "x.so")
    for limit, reason in ((size // 2, "File too large"), (size - 1, "is cut: ")):
        start(OUT + "x.so")
        result = run(command, OUT + "x.so", preexec_fn=with_limit(limit))
        check_untouched(command, result, OUT + "x.so", reason, "link")
    for name, command in FOLDERS.items():
        clear()
        result = run(command, OUT + name, preexec_fn=with_limit(16))
        left = [file for _, _, files in os.walk(OUT) for file in files]
        text = result.stdout.decode()
        expect(result.returncode > 0 and "cannot be written: File too large" in text and not left, command, result, MODE)


def device():
    for name, (command, *_) in WRITERS.items():
        if name == "x.so":  # what is not called so is no library
            continue
        clear()
        result = run(command, "/dev/full")
        good = (result.returncode > 0 and b"'/dev/full' cannot be written: No space left on device" in result.stderr
                and stat.S_ISCHR(os.stat("/dev/full").st_mode) and not os.listdir(TMP))
        expect(good, command, result, MODE)


def printed():
    for command in PRINTERS:
        clear()
        with open("/dev/full", "wb") as nowhere:
            result = run(command, "", stdout=nowhere)
        reason = b"error: the standard output cannot be written: No space left on device"
        expect(result.returncode > 0 and reason in result.stderr, command, result, MODE)


def results(name):
    """The output of each variant alone."""
    wanted = []
    for command in WRITERS[name]:
        clear()
        result = run(command, OUT + name)
        mode = stat.S_IMODE(os.stat(OUT + name).st_mode)
        expect(result.returncode == 0 and mode == (0o755 if name.endswith(".so") else 0o644), command, result, "alone")
        wanted.append(read(OUT + name))
    return wanted


def together():
    for name, commands in WRITERS.items():
        if len(commands) < 2:
            continue
        wanted = results(name)
        for _ in range(10):
            clear()
            running = [subprocess.Popen([word.replace("FILE", OUT + name) for word in command], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL) for command in commands]
            for command, process in zip(commands, running):
                process.stderr = process.communicate()[1]
                expect(process.returncode == 0, command, process, MODE)
            good = os.listdir(OUT) == [name] and read(OUT + name) in wanted
            expect(good, commands[0], running[0], "what is left")


def faults(command, path, at):
    count = os.path.join(FOLDER, "count")
    result = run(command, path, env={"LD_PRELOAD": os.path.join(FOLDER, "faults.so"), "FAULT_FOLDER": OUT,
                                     "FAULT_AT": str(at), "FAULT_KIND": MODE, "FAULT_COUNT": count})
    return result, int(read(count)) if at == 0 else 0


def each_call(check):
    """Lets every call of every writer go wrong in turn."""
    for name, (command, *_) in WRITERS.items():
        if WIDE in command:
            continue
        wanted = results(name)[:1] + [OLD]
        if "--save-every=1" in command:
            once = ["--steps=1" if word == "--steps=2" else word for word in command]
            run(once, OUT + name)
            wanted.append(read(OUT + name))
        start(OUT + name)
        result, calls = faults(command, OUT + name, 0)
        expect(result.returncode == 0 and calls >= 6, command, result, f"{calls} calls")
        outcomes, survived = set(), 0
        for at in range(1, calls + 1):
            start(OUT + name)
            result, _ = faults(command, OUT + name, at)
            left = sorted(os.listdir(OUT))
            whole = read(OUT + name) in wanted
            expect(whole and check(result, name, [file for file in left if file != name]), command, result,
                   f"call {at} of {calls}, left {left}")
            outcomes.add(read(OUT + name))
            survived += result.returncode == 0
        expect(outcomes == set(wanted), command, result, f"{len(outcomes)} outcomes")
        # All is well where the folder cannot be opened or closed, and where the trial before the work cannot be closed.
        # No other failure is overlooked.
        harmless = 1 + 2 * (len(wanted) - 1) if MODE == "fail" else 0
        expect(survived == harmless, command, result, f"{survived} failures survived, {harmless} are harmless")


def check_failed(result, name, others):
    return not others and (result.returncode == 0 or
                           (result.returncode > 0 and (OUT + name).encode() + b"' cannot be written: " in result.stderr))


def check_killed(result, name, others):
    return result.returncode == -signal.SIGKILL and all(file.startswith(name) and file.endswith(".tmp")
                                                        for file in others)


def main():
    os.umask(0o022)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(BROKEN, "w", encoding="utf-8") as file:
        file.write("func.func @scalar(%x: f32) {\n  return\n}\n")
    with open(SCRIPT, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ngrep -q rms_norm $1\n")
    os.chmod(SCRIPT, 0o755)
    {"full": full, "device": device, "printed": printed, "together": together,
     "fail": lambda: each_call(check_failed), "kill": lambda: each_call(check_killed)}[MODE]()
    print("\n".join(problems) or f"{tried} tried, all good")
    sys.exit(1 if problems else 0)


main()
