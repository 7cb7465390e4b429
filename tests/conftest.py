"""For every test: no network, and the shapes in glassformer's signatures checked at each call."""

import os

# Read when huggingface_hub and tokenizers are imported, so set before anything imports them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from jaxtyping import install_import_hook

install_import_hook("glassformer", "beartype.beartype")
