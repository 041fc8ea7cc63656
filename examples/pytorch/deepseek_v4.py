"""DeepSeek-V4 of transformers as it is, with two small layers: what is found in it, and that it computes the same."""

import collections
import sys

import mhcc
import torch

try:
    from transformers import DeepseekV4Config, DeepseekV4Model
except ImportError:
    sys.exit("this example needs a transformers with DeepseekV4Model: pip install 'transformers>=5.23'")


def model():
    torch.manual_seed(0)
    config = DeepseekV4Config(
        num_hidden_layers=2, hidden_size=64, vocab_size=128, moe_intermediate_size=32, num_attention_heads=4, head_dim=16,
        q_lora_rank=32, o_groups=2, o_lora_rank=16, n_routed_experts=4, num_experts_per_tok=2, index_n_heads=2,
        index_head_dim=16, index_topk=4, sliding_window=8, partial_rotary_factor=0.5, use_cache=False,
    )  # fmt: skip
    return DeepseekV4Model(config), (torch.randint(128, (2, 32)),)


def main():
    eager, args = model()
    found = collections.Counter(found.op for found in mhcc.explain(eager, *args).found)
    print("found:", ", ".join(f"{count} {op}" for op, count in sorted(found.items())))
    compiled = mhcc.compile(eager, require="all")
    wanted, got = (results(run, eager, args) for run in (eager, compiled))
    print("same output:", is_close(got[0], wanted[0]))
    print("same gradients:", all(map(is_close, got, wanted)))


def results(run, module, args):
    """Returns the output, and gradients of the weights of mHC."""
    out = run(*args).last_hidden_state
    weights = torch.linspace(-1, 1, out.numel()).reshape(out.shape)
    parameters = [value for name, value in module.named_parameters() if "_hc." in name or "hc_head." in name]
    return out, *torch.autograd.grad((out * weights).sum(), parameters)


def is_close(value, wanted):
    return bool((value - wanted).abs().max() <= 1e-4 * wanted.abs().max())


if __name__ == "__main__":
    main()
