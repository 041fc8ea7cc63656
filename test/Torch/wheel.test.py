"""Uses the module from where pip put it."""

import importlib.metadata

import mhcc
import torch

print(importlib.metadata.version("mhcc"))
print(*importlib.metadata.entry_points(group="torch_dynamo_backends", name="mhc"))
print(mhcc.contract(torch.ones(3, 2), mode="sum"))
