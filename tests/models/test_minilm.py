"""The bundled embedder, on its real files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from hermes_lance.core.contracts import Embedder
from hermes_lance.core.errors import Cancelled, ModelUnavailable
from hermes_lance.core.ids import sha256_hex
from hermes_lance.models.minilm import FOLDER, MiniLmEmbedder


@pytest.fixture(scope="module")
def minilm():
    return MiniLmEmbedder()


def test_it_fits_the_contract_and_says_what_it_reads(minilm):
    assert isinstance(minilm, Embedder)
    assert (minilm.dimensions, minilm.window_tokens) == (384, 256)
    assert minilm.scripts == {"Latin"}
    assert minilm.fusion_weight == 0.5


def test_a_question_is_nearest_to_the_text_that_answers_it_in_other_words(minilm):
    texts = [
        "Reset your password from the account page.",
        "The ship left the harbour at dawn.",
        "Bread needs flour, water, salt and time.",
    ]
    scores = minilm.embed_documents(texts) @ minilm.embed_query("I forgot my login credentials")
    assert int(np.argmax(scores)) == 0


def test_vectors_are_float32_of_length_one(minilm):
    vectors = minilm.embed_documents(["one", "two words", "Größe"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_nothing_to_embed_gives_a_zero_vector(minilm):
    assert not minilm.embed_documents(["", " \n\t", "\x00\x01"]).any()
    assert not minilm.embed_query("").any()
    assert minilm.embed_documents([]).shape == (0, 384)


def test_the_vector_of_a_text_does_not_depend_on_its_neighbours_or_on_threads(minilm):
    texts = ["short", "a text that is rather longer than the first of them " * 5, "short"]
    together = minilm.embed_documents(texts, workers=2)
    assert np.array_equal(together[0], together[2])
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(minilm.embed_documents([text], workers=1)[0], vector)
        assert np.array_equal(minilm.embed_query(text), vector)


def test_what_lies_beyond_the_window_is_not_read(minilm):
    page = "The committee met on Tuesday to discuss the budget. " * 60
    assert np.array_equal(minilm.embed_query(page), minilm.embed_query(page + "Penguins swim well."))


def test_tokens_are_counted_beyond_the_window_with_both_marks(minilm):
    assert minilm.count_tokens(["", "hello", "hello " * 1000]) == [2, 3, 1002]


def test_token_starts_are_character_offsets(minilm):
    text = "Größe   counts"
    starts = minilm.token_starts(text)
    assert starts[0] == 0
    assert text[starts[-1] :].startswith("counts")


def test_stopping_between_texts_raises_and_embeds_no_more(minilm):
    asked = iter([False, False, True])
    with pytest.raises(Cancelled):
        minilm.embed_documents(["a"] * 10, workers=1, cancelled=lambda: next(asked))
    with pytest.raises(Cancelled):
        minilm.embed_documents(["a"] * 10, workers=2, cancelled=lambda: True)


def test_a_missing_file_is_named_with_a_remedy(tmp_path):
    shutil.copy(FOLDER / "model.json", tmp_path)
    shutil.copy(FOLDER / "model.onnx", tmp_path)
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json") as caught:
        MiniLmEmbedder(tmp_path)
    assert "Reinstall" in caught.value.hint
    with pytest.raises(ModelUnavailable, match=r"model\.json"):
        MiniLmEmbedder(tmp_path / "nowhere")


def test_an_altered_file_is_refused(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "copy")
    file = tmp_path / "copy" / "model.onnx"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        MiniLmEmbedder(tmp_path / "copy").embed_query("hello")


def test_the_signature_names_model_pooling_and_window_and_needs_no_loading(minilm):
    assert MiniLmEmbedder().signature() == minilm.signature()
    assert "mean/256" in minilm.signature()


def test_the_bundled_files_are_the_described_ones_with_licence_and_notice():
    facts = json.loads((FOLDER / "model.json").read_text(encoding="utf-8"))
    for name, promised in facts["files"].items():
        assert sha256_hex((FOLDER / name).read_bytes()) == promised["sha256"]
    assert "Apache License" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in (FOLDER / "NOTICE").read_text(encoding="utf-8")


def test_naming_the_embedder_imports_no_heavy_package():
    code = (
        "import sys; from hermes_lance.models.minilm import MiniLmEmbedder; MiniLmEmbedder().signature();"
        "sys.exit(bool({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
