#!/usr/bin/env python3
"""Trains small tokenizers of every model type with the `tokenizers` package and writes, to tests/io/tokenizers/, their
tokenizer.json and a table of random Unicode strings with the package's ids and decodes. Needs tokenizers
(./luminal setup --references). usage: make_tokenizer_references.py [FOLDER [STRINGS [SEED]]]"""
import pathlib
import random
import sys
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers)

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests" / "io" / "tokenizers"
STRINGS = int(sys.argv[2]) if len(sys.argv) > 2 else 150
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")
SPACE = "\u2581"


def corpus():
    text = []
    for path in sorted(ROOT.glob("docs/*.md")) + [ROOT / "README.md", ROOT / "CMakeLists.txt"]:
        text += path.read_text().splitlines()
    return text + ["Grüße aus Köln, œuvre naïve façade", "Привет, мир! Как дела?", "日本語のテキストと中文文本", "🙂🚀 emoji 👩‍👩‍👧"] * 5


def characters():
    """Characters whose properties the package's tables, some of them of Unicode 8, and Unicode 14 agree on."""
    marks, punctuation = normalizers.StripAccents(), pre_tokenizers.Punctuation()
    clean = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False, lowercase=False)
    bare = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    forms = {name: getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKC", "NFKD")}

    def agreed(c):
        kind = unicodedata.category(c)
        if kind in ("Cn", "Cs", "Co"):
            return False
        if (marks.normalize_str(c) == "") != (kind[0] == "M"):
            return False
        if (bare.normalize_str(c) == "") != all(unicodedata.category(d) == "Mn" for d in unicodedata.normalize("NFD", c)):
            return False
        if not c.isascii() and (len(punctuation.pre_tokenize_str(f"a{c}b")) == 3) != (kind[0] == "P"):
            return False
        if (clean.normalize_str(c) == "") != (kind[0] == "C" and c not in "\t\n\r" or c == "\ufffd"):
            return False
        return all(form.normalize_str(c) == unicodedata.normalize(name, c) for name, form in forms.items())

    return [chr(c) for c in range(1, 0x1FFFF) if agreed(chr(c))]


def strings(count, seed):
    source = random.Random(seed)
    alphabet = characters()
    words = " ".join(corpus()).split()
    special = ["<s>", "</s>", "[CLS]", "[MASK]", "<|x|>", "  ", "\n", "\r\n", "\t", "'s", "'LL", "123456", " \u00a0", "\u180e", SPACE, "e\u0301"]
    result = ["", " ", "  ", "\n", "a", "<s>", " <s> hi", "hi<|x|>", "Hello, world!", "[MASK]", "x [MASK] y"]
    while len(result) < count:
        parts = []
        for _ in range(source.randrange(0, 12)):
            kind = source.random()
            if kind < 0.35:
                parts.append(source.choice(words))
            elif kind < 0.55:
                parts.append(" ")
            elif kind < 0.7:
                parts.append(source.choice(special))
            else:
                parts.append("".join(source.choice(alphabet) for _ in range(source.randrange(1, 6))))
        result.append("".join(parts))
    return result[:count]


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def bert_template(tokenizer, first, last):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(first, tokenizer.token_to_id(first)), (last, tokenizer.token_to_id(last))])


def bpe_byte_level():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    train(t, trainers.BpeTrainer(vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>"], show_progress=False))
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def bpe_llama3():
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    train(t, trainers.BpeTrainer(vocab_size=700, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>", "<|x|>"], show_progress=False))
    bert_template(t, "<s>", "</s>")
    return t


def bpe_byte_fallback():
    """As Llama 2's: SentencePiece's spaces by normalisers, bytes for what is unknown."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    t.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    train(t, trainers.BpeTrainer(vocab_size=800, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], show_progress=False, limit_alphabet=120))
    bert_template(t, "<s>", "</s>")
    return t


def bpe_plain():
    """Old style: an end-of-word suffix, an unknown token, lower case."""
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.BPEDecoder()
    train(t, trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False, limit_alphabet=80))
    t.add_tokens([AddedToken("[MASK]", lstrip=True, rstrip=True), AddedToken("hi", single_word=True)])
    return t


def unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    train(t, trainers.UnigramTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", show_progress=False))
    bert_template(t, "<s>", "</s>")
    return t


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    train(t, trainers.WordPieceTrainer(vocab_size=600, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False, limit_alphabet=150))
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    return t


def wordlevel():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.NFC()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(individual_digits=True)])
    train(t, trainers.WordLevelTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False))
    return t


def bpe_metaspace_first():
    """As newer SentencePiece conversions: a space is prepended to the first piece only."""
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Split(Regex(r"[A-Z]"), "merged_with_previous", invert=False), pre_tokenizers.Metaspace(prepend_scheme="first", split=False)])
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    train(t, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", "<s>"], show_progress=False, limit_alphabet=100))
    t.add_special_tokens([AddedToken("<|x|>", rstrip=True, special=True)])
    return t


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (bpe_byte_level, bpe_llama3, bpe_byte_fallback, bpe_plain, unigram, wordpiece, wordlevel, bpe_metaspace_first):
        path = FOLDER / f"{make.__name__}.json"
        # Training's ties are broken differently from run to run, so a tokenizer that is there stays.
        if not path.exists():
            make().save(str(path), pretty=False)
        tokenizer = Tokenizer.from_file(str(path))
        lines = []
        for text in strings(STRINGS, SEED):
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            whole = tokenizer.encode(text, add_special_tokens=True).ids
            lines.append("\t".join([text.encode().hex(), " ".join(map(str, plain)), " ".join(map(str, whole)), tokenizer.decode(plain).encode().hex()]))
        (FOLDER / f"{make.__name__}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
