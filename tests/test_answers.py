"""What the harness hashes is hashed as the harness does."""

import json

from hypothesis import given, strategies as st

from utils.runs.answers import document_text, sha256


texts = st.text() | st.sampled_from(["\u2028", "\x7f", "\ud800", '"', "\\", "/", "\n"])
cells = texts | st.integers() | st.floats() | st.none() | st.lists(texts)


@given(st.dictionaries(texts, texts) | st.dictionaries(texts, cells))
def test_a_document_has_the_text_that_the_harness_hashes(doc):
    assert document_text(doc) == json.dumps(doc, indent=2, ensure_ascii=False)


def test_the_hash_of_a_text_is_the_harness_s():
    expected = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
    assert sha256("foo") == expected
