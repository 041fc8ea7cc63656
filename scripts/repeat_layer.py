#!/usr/bin/env python3
"""Repeats an exported layer: input for compile-time tests of models as exporters write them.

The file holds one function whose first argument and last result are the streams, x, W... -> ..., x'. The copies are
chained by the streams; each has weights of its own.

  repeat_layer.py --layers 200 test/Examples/exported/torch_mlir_linalg.mlir | mhc-opt --mhc-raise --mhc-fuse --mlir-timing
"""

import argparse
import re
import sys

FUNCTION = re.compile(r"func\.func .*?@main\((?P<arguments>.*?)\) -> .*? \{\n(?P<body>.*)^ *return (?P<results>.*?) : "
                      r".*?(?P<type>tensor<[^<]*>)\n", re.S | re.M)


def numbered(code, layer):
    return re.sub(r"%(\w+)", rf"%v\1_{layer}", code)  # a number alone cannot go on as a name


def repeat(text, layers, out):
    function = FUNCTION.search(text)
    x, *weights = function["arguments"].split(", ")
    name = x.split(":")[0]
    result = function["results"].split(", ")[-1]
    arguments = [numbered(x, 0)] + [numbered(weight, layer) for layer in range(layers) for weight in weights]
    print("\n".join(re.findall(r"^#.*", text, re.M)), file=out)
    print(f"func.func @main({', '.join(arguments)}) -> {function['type']} {{", file=out)
    for layer in range(layers):
        copy = numbered(function["body"], layer)
        # The streams of the first copy are the argument, those of the others what the copy before made.
        if layer > 0:
            copy = re.sub(rf"{numbered(name, layer)}\b", numbered(result, layer - 1), copy)
        print(copy, end="", file=out)
    print(f"    return {numbered(result, layers - 1)} : {function['type']}\n}}", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("-o", dest="out", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("file", type=argparse.FileType())
    arguments = parser.parse_args()
    repeat(arguments.file.read(), arguments.layers, arguments.out)


if __name__ == "__main__":
    main()
