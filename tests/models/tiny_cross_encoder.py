"""A cross-encoder of two layers with random weights, made in a moment: everything of a real one but its judgement."""

from __future__ import annotations

from pathlib import Path

WORDS = "the a dog sleeps in kitchen bridge over river is closed car needs fuel harbour opens at nine tea".split()  # noqa: SIM905


def make_cross_encoder(folder: Path, *, outputs: int = 1, positions: int = 64) -> Path:
    """The folder of a BERT sequence classifier, 32 wide, whose tokenizer knows some words and all letters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789", *(f"##{one}" for one in "abcdefghijklmnopqrstuvwxyz0123456789")]
    vocabulary = {token: at for at, token in enumerate([*marks, *WORDS, *(one for one in letters if one not in WORDS)])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=positions,
    )  # fmt: skip
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=positions, num_labels=outputs,
        # Wide, so that the scores of different texts differ well.
        initializer_range=0.5,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    model.eval()
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
