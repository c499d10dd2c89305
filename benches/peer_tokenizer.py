#!/usr/bin/env python3
"""Encoding speed on 1 MB of text against the `tokenizers` package on one thread, as a ratio (more than 1: we are faster).
usage: peer_tokenizer.py BENCH_TOKENIZER FOLDER_OF_TOKENIZER_JSONS"""
import os
import pathlib
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
try:
    from tokenizers import Tokenizer
except ImportError as error:
    sys.exit(f"{error}: './luminal setup --references' installs it")

if len(sys.argv) != 3:
    sys.exit(__doc__)
bench, folder = sys.argv[1:3]
root = pathlib.Path(__file__).resolve().parent.parent
source = "".join(p.read_text() for p in sorted(root.glob("docs/*.md")) + sorted(root.glob("src/luminal/*/*.cpp")))
text = (source * (1 + 1_000_000 // len(source)))[:1_000_000]
pathlib.Path("bench_text.tmp").write_text(text)
try:
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        theirs = float("inf")
        tokenizer = Tokenizer.from_file(str(path))
        for _ in range(3):
            start = time.perf_counter()
            tokenizer.encode(text, add_special_tokens=False)
            theirs = min(theirs, time.perf_counter() - start)
        ours = float(subprocess.run([bench, path, "bench_text.tmp"], check=True, capture_output=True, text=True).stdout)
        print(f"{path.stem:24} ours {1 / ours:6.2f} MB/s   package {1 / theirs:6.2f} MB/s   ratio {theirs / ours:5.2f}")
finally:
    os.remove("bench_text.tmp")
