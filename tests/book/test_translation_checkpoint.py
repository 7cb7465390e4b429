"""The translation chapter's own block, with a Marian checkpoint in place of our translator."""

import os
import re
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel

ROOT = Path(__file__).parents[2]
VARIABLE = "GLASSFORMER_TRANSLATION_CHECKPOINT"
SENTENCE, TRANSLATION = "Das ist ein Beispiel.", "This is an example."
WORDS = ["</s>", "<unk>", *SENTENCE.split(), *TRANSLATION.split(), "<pad>"]
END, PAD = 0, len(WORDS) - 1


def checkpoint(folder: Path) -> None:
    """A Marian model that has learned one translation by heart, and its tokenizer."""
    made = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", END)]
    )
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", eos_token="</s>", pad_token="<pad>"
    )
    torch.manual_seed(3)
    config = transformers.MarianConfig(
        vocab_size=len(WORDS),
        d_model=22,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=2,
        decoder_attention_heads=1,
        encoder_ffn_dim=31,
        decoder_ffn_dim=37,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
        dropout=0.0,
    )
    model = transformers.MarianMTModel(config)
    source, target = words([SENTENCE, TRANSLATION], return_tensors="pt")["input_ids"].split(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        loss = model(input_ids=source, labels=target).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    words.save_pretrained(folder)


def test_the_chapter_translates_with_the_checkpoint_that_is_named(tmp_path: Path) -> None:
    checkpoint(tmp_path)
    text = (ROOT / "docs/translation/translation.md").read_text(encoding="utf-8")
    (block,) = (
        code for code in re.findall(r"```python[^\n]*\n(.*?)```", text, re.S) if VARIABLE in code
    )
    assert SENTENCE in block
    done = subprocess.run(
        [sys.executable, "-c", f"{block}\nprint(translation)"],
        env={**os.environ, VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == TRANSLATION
