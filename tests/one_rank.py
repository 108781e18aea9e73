"""The command line of the harness as one of several ranks, on a CPU.

The hf model of the harness divides documents among GPUs; here it counts ranks as GPUs.
"""

import os

import torch
from lm_eval.__main__ import cli_evaluate


if __name__ == "__main__":
    torch.cuda.device_count = lambda: int(os.environ["WORLD_SIZE"])
    cli_evaluate()
