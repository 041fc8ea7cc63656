"""python -m mhcc COMMAND"""

import argparse
import sys

from . import model, peers


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
    options = vars(parser.parse_args())
    sys.exit(options.pop("run")(**options))


main()
