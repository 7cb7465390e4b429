"""A page with a live element, and what a reader may type: accents, emoji, unknown words, pairs."""

import re
import shutil
from pathlib import Path

from glassbook.live.element import Live


def write_site(view: Live, folder: Path) -> None:
    """Writes a page with one element, and every file that it asks for."""
    html, files = view._repr_page_()
    for name, path in files.items():
        shutil.copy(path, folder / name)
    html = re.sub(r"asset://([\w.-]+)", r"./\1", html)
    head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>'
    body = '<body data-md-color-scheme="default">'
    (folder / "index.html").write_text(f"{head}</head>{body}{html}</body></html>", "utf-8")


WORDS = """time flies like an arrow|Fruit flies like a banana.|a|I|!|...|No.|Yes?|42|3.14159
|1,000,000|The quick brown fox jumps over the lazy dog.|THE QUICK BROWN FOX|tHe QuIcK
|don't|it's|rock'n'roll|"quoted," she said|(brackets) [and] {braces}|a/b\\c
|e-mail: someone@example.com|https://example.com/a?b=c|naïve café|São Paulo|Ärger über Öl
|façade, jalapeño, Dvořák|Łódź|ÇA VA|İstanbul|ß straße|œuvre|Ǆ|😀|😀😀 happy|👩‍👧 family|🏳️‍🌈
|♥ hearts ♠|→ arrows ←|½ cup|x² + y² = z²|π ≈ 3.14|5 €|£10|¥100|50%|#hashtag|@someone|日本語
|東京 is a city|中文字符|한국어|Привет, мир|Ελληνικά|שלום|مرحبا|हिन्दी|ไทย|ქართული|qwzx plorf
|unbelievableness|antidisestablishmentarianism|floccinaucinihilipilification
|xxxxxxxxxxxxxxxxxxxx|tokenization|transformers|self-attention|state-of-the-art
|softmax(QK^T/√d)V|def f(x): return x**2|<b>bold</b>|&amp;|a\tb|a  b   c|\u00a0space\u00a0
|zero\u200bwidth|soft\u00adhyphen|line\nbreak|\ufeffmark|cafe\u0301|a\u0300\u0301b|��
|Mr. Smith went to Washington, D.C.|What? Why! How...|well--known
|it was -- as always -- late|1st, 2nd and 3rd|2026-11-28|12:30|to be or not to be
|the the the the|buffalo buffalo buffalo|[CLS]|[SEP]|[MASK] is masked|[PAD] [UNK]|##ing
|the [MASK] sat|I saw the man with the telescope.|The old man the boat.
|The horse raced past the barn fell.|Colorless green ideas sleep furiously."""
TEXTS = [
    *(text.strip("\n") for text in WORDS.split("|")),
    "word " * 40,
    "A much longer sentence, which goes on and on, and has clauses, numbers such as 7 and 11, and "
    "names such as Emmy Noether, so that it needs more than just a few dozen tokens in all.",
    "The cat sat on the mat. " * 20,
    "Ünïcödé " * 30,
]
PAIRS = [
    ("time flies like an arrow", "fruit flies like a banana"),
    ("Who wrote it?", "Nobody knows."),
    ("naïve", "café 😀"),
    ("a", "b"),
    ("the same", "the same"),
    ("short", "much longer than the first one, with a comma, and a period."),
    ("The cat sat on the mat. " * 8, "Where did the cat sit?"),
    ("東京", "Tokyo"),
]
