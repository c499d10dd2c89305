#!/usr/bin/env python3
"""Trains tokenizers of every model type anew and compares ids and decodes on random Unicode strings: 2,000 a tokenizer, or
100,000 in all with LUMINAL_FULL=1. Then SentencePiece models and tiktoken rank files, and tokenizers put together at random
from the package's steps. usage: peers_tokenizers.py TEST_IO LUMINAL"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import sentencepiece  # noqa: F401
    import tiktoken  # noqa: F401
    import tokenizers  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}; './luminal setup --references' installs it")
    sys.exit(77)

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
FULL = os.environ.get("LUMINAL_FULL") == "1"


def compare(tool, *arguments):
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, "-B", TOOLS / tool, work, *map(str, arguments)], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([sys.argv[1], "--gtest_brief=1", "--gtest_filter=Tokenizer.TrainedTokenizersGiveTheReferencesIds"],
                       check=True, env={**os.environ, "LUMINAL_TOKENIZER_REFERENCES": work})
    print(f"{tool} {' '.join(map(str, arguments))}: all agree with the package", flush=True)


compare("make_tokenizer_references.py", 12500 if FULL else 2000, 2)
compare("make_model_references.py", 10000 if FULL else 1000, 2)
compare("make_random_tokenizers.py", 200 if FULL else 20, 100, 2)
