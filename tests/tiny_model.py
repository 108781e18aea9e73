"""A random one-layer model and its tokenizer, made on the spot: nothing is downloaded.

python -m tests.tiny_model FOLDER
"""

import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast


TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes with a chat template."""
    letters = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {letter: code for code, letter in enumerate(sorted(letters), 2)}
    text = Tokenizer(models.BPE(vocab={"<e>": 0, "<p>": 1, **vocabulary}, merges=[]))
    text.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=text, eos_token="<e>", pad_token="<p>"
    )
    made.chat_template = TEMPLATE
    return made


def model(positions: int = 2048) -> GPT2LMHeadModel:
    """Return a model with weights that are the same every time."""
    torch.manual_seed(0)
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": positions}
    tokens = {"eos_token_id": 0, "bos_token_id": 0, "pad_token_id": 1}
    return GPT2LMHeadModel(GPT2Config(vocab_size=258, **sizes, **tokens))


if __name__ == "__main__":
    tokenizer().save_pretrained(sys.argv[1])
    model().save_pretrained(sys.argv[1])
