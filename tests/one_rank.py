"""The command line of the harness as one of several ranks, on a CPU.

    torchrun --nproc_per_node 2 -m tests.one_rank --model hf …

The hf model of the harness divides the documents among ranks where it counts more than
one GPU. Here it counts the ranks.
"""

import os

import torch
from lm_eval.__main__ import cli_evaluate


if __name__ == "__main__":
    torch.cuda.device_count = lambda: int(os.environ["WORLD_SIZE"])
    cli_evaluate()
