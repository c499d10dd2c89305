#!/usr/bin/env python3
"""Trains tokenizers of every model type anew and compares ids and decodes on random Unicode strings: 2,000 a tokenizer, or
100,000 in all with LUMINAL_FULL=1. usage: peers_tokenizers.py TEST_IO LUMINAL"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import tokenizers  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}; './luminal setup --references' installs it")
    sys.exit(77)

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "make_tokenizer_references.py"
count = 12500 if os.environ.get("LUMINAL_FULL") == "1" else 2000
with tempfile.TemporaryDirectory() as work:
    subprocess.run([sys.executable, TOOL, work, str(count), "2"], check=True)
    subprocess.run([sys.argv[1], "--gtest_brief=1", "--gtest_filter=Tokenizer.TrainedTokenizersGiveTheReferencesIds"],
                   check=True, env={**os.environ, "LUMINAL_TOKENIZER_REFERENCES": work})
print(f"{count} strings a tokenizer agree with the package")
