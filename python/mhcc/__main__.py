"""python -m mhcc COMMAND"""

import argparse
import sys

from . import bench, model, peers, program


def main():
    parser = argparse.ArgumentParser(prog="mhcc")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("peers", help="run another project's own tests against mhcc.compat")
    command.add_argument("name")
    command.add_argument("--checkout", required=True, help="folder of the project's sources")
    command.add_argument("--device", choices=["cpu", "cuda"], help="cpu: tests that say cuda run on the CPU")
    command.add_argument("--limit", type=int, default=2**24,
                         help="on the CPU, the elements of a tensor above which a test is skipped; 0: none")
    command.set_defaults(run=peers.run)
    command = commands.add_parser("explain", help="say what is found in a model, what is missed, and why")
    command.add_argument("target", metavar="FILE.py:NAME", help="a module, or a function that returns (module, args)")
    command.set_defaults(run=model.run)
    command = commands.add_parser("export", help="write a model as a program for mhcc, its weights as arguments")
    command.add_argument("target", metavar="FILE.py:NAME", help="as for explain; NAME is that of the program's function")
    command.add_argument("-o", dest="output", metavar="FILE.mlir", required=True)
    command.add_argument("--weights", metavar="FILE.safetensors", help="write the weights as well")
    command.set_defaults(run=program.run)
    command = commands.add_parser("bench", help="time a sublayer's mHC, forward and backward: eager, compiled, and fused")
    command.add_argument("--shapes", default="2048x2560", help="tokens x channels, separated by commas")
    command.add_argument("--dtype", default="f32", help="of the streams, separated by commas: f32, bf16, f16")
    command.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    command.add_argument("--forward", action="store_true", help="without gradients")
    command.add_argument("--mode", help="of torch.compile: reduce-overhead for CUDA graphs")
    command.add_argument("--repeat", type=int, default=20, help="calls, of which the median counts")
    command.add_argument("--beside", action="append", default=[], metavar="NAME=CHECKOUT",
                         help="a column of another project's kernels, from its sources: liger, transformer_engine, "
                              "tile_kernels or megatron; as often as wanted")
    command.set_defaults(run=bench.run)
    options = vars(parser.parse_args())
    sys.exit(options.pop("run")(**options))


main()
