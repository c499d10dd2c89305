#!/usr/bin/env python3
"""Puts tokenizers together at random from the steps that the `tokenizers` package has (normalizers, pre-tokenizers, models,
post-processors, decoders, added tokens), and writes each with a table of strings, ids and decodes, as
make_tokenizer_references.py does. Needs tokenizers (./luminal setup --references).
usage: make_random_tokenizers.py FOLDER [COUNT [STRINGS [SEED]]]"""
import json
import pathlib
import random
import sys

sys.argv, arguments = sys.argv[:1] + ["/dev/null"], sys.argv[1:]
import make_tokenizer_references as references  # noqa: E402
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

FOLDER = pathlib.Path(arguments[0])
COUNT = int(arguments[1]) if len(arguments) > 1 else 40
STRINGS = int(arguments[2]) if len(arguments) > 2 else 60
SEED = int(arguments[3]) if len(arguments) > 3 else 1
SPACE = references.SPACE
SPECIAL = ["<unk>", "<s>", "</s>", "[CLS]", "[SEP]"]
BEHAVIOURS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'ll)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PATTERNS = [references.LLAMA3, GPT2, QWEN2, CLIP, O200K, r"\d{3}", r"[A-Z]", r"\s+", r"(?<=[a-z])(?=[A-Z])", r"\p{Han}+", r"[^\x00-\x7F]+",
            r"(?=\d)", r"\b", r"(?=(\d{3})+(?!\d))", r"x*", r"^|$",
            BLOOM, KIMI, r"[a-z&&[^aeiou]]+", r"[^[a-m][x-z]]+", r"[^\W\d_]+", r"[[:alpha:]]+|[[:punct:]]", r"\p{N}{1,3}+", r"\p{Letter}+|\p{^L}"]


def maker(source):
    pick, flip = source.choice, lambda: source.random() < 0.5

    def normalizer():
        return pick([
            normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD, normalizers.Lowercase, normalizers.StripAccents,
            normalizers.Nmt, lambda: normalizers.Strip(flip(), flip()), lambda: normalizers.Prepend(pick([SPACE, "x ", "é"])),
            lambda: normalizers.Replace(pick([" ", "e", "``", "''", "ß"]), pick([SPACE, "", '"', "ss", "é"])),
            lambda: normalizers.Replace(Regex(pick([r"\s+", r"\d", r" {2,}", r"[aeiou]+", r"^\s+|\s+$", r"^", r"$", r"e*"])), pick([" ", "0", "", SPACE])),
            lambda: normalizers.BertNormalizer(flip(), flip(), pick([None, True, False]), flip())])()

    def pre_tokenizer():
        return pick([
            lambda: pre_tokenizers.ByteLevel(flip(), use_regex=flip()), pre_tokenizers.Whitespace, pre_tokenizers.WhitespaceSplit,
            pre_tokenizers.BertPreTokenizer, lambda: pre_tokenizers.Metaspace(pick([SPACE, "_"]), pick(["always", "first", "never"]), flip()),
            lambda: pre_tokenizers.CharDelimiterSplit(pick([" ", "-", "e"])), lambda: pre_tokenizers.Punctuation(pick(BEHAVIOURS)),
            lambda: pre_tokenizers.Digits(flip()), lambda: pre_tokenizers.Split(Regex(pick(PATTERNS)), pick(BEHAVIOURS), flip()),
            lambda: pre_tokenizers.Split(pick([" ", "a", "..", SPACE]), pick(BEHAVIOURS), flip()),
            lambda: pre_tokenizers.FixedLength(pick([1, 3]))])()

    def post_processor(t):
        ids = [(name, t.token_to_id(name)) for name in SPECIAL if t.token_to_id(name) is not None]
        if not ids:
            return processors.ByteLevel()
        a, b = pick(ids), pick(ids)
        template = lambda: processors.TemplateProcessing(
            single=pick(["$A", f"{a[0]} $A", f"$A {b[0]}", f"{a[0]} $0 {b[0]}", f"{a[0]} {b[0]} $A {a[0]}:1"]), pair="$A $B:1",
            special_tokens=list(dict(ids).items()))
        return pick([template, template, lambda: processors.BertProcessing(b, a), lambda: processors.RobertaProcessing(b, a, flip(), flip()),
                     lambda: processors.ByteLevel(trim_offsets=flip()), lambda: processors.Sequence([processors.ByteLevel(), template()])])()

    def decoder():
        one = lambda: pick([
            decoders.ByteLevel, decoders.ByteFallback, decoders.Fuse, lambda: decoders.Strip(pick([" ", SPACE]), pick([0, 1, 2]), pick([0, 1])),
            lambda: decoders.Replace(pick([SPACE, "e"]), pick([" ", "", "ab"])), lambda: decoders.WordPiece(pick(["##", "e"]), flip()),
            lambda: decoders.Metaspace(pick([SPACE, "_"]), pick(["always", "first", "never"])), lambda: decoders.BPEDecoder(pick(["</w>", "e"])),
            decoders.CTC])()
        return one() if flip() else decoders.Sequence([one() for _ in range(pick([1, 2, 3]))])

    def model(kind):
        if kind == "bpe":
            prefix, suffix = pick(["", "", "##"]), pick(["", "", "</w>"])
            unknown = pick([None, "<unk>"])
            given = {"unk_token": unknown, "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
            given = {key: value for key, value in given.items() if value}
            fallback = flip()
            m = models.BPE(fuse_unk=flip(), byte_fallback=fallback, ignore_merges=flip(), **given)
            given.pop("unk_token", None)
            special = SPECIAL + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
            return m, trainers.BpeTrainer(vocab_size=700, special_tokens=special, show_progress=False, limit_alphabet=pick([60, 300]), **given)
        if kind == "unigram":
            return models.Unigram(), trainers.UnigramTrainer(vocab_size=400, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
        if kind == "wordpiece":
            return (models.WordPiece(unk_token="<unk>", max_input_chars_per_word=pick([5, 100])),
                    trainers.WordPieceTrainer(vocab_size=500, special_tokens=SPECIAL, show_progress=False, limit_alphabet=100))
        return models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=300, special_tokens=SPECIAL, show_progress=False)

    def tokenizer():
        kind = pick(["bpe", "bpe", "unigram", "wordpiece", "wordlevel"])
        m, trainer = model(kind)
        t = Tokenizer(m)
        if flip():
            t.normalizer = normalizer() if flip() else normalizers.Sequence([normalizer() for _ in range(pick([1, 2, 3]))])
        if source.random() < 0.9:
            t.pre_tokenizer = pre_tokenizer() if flip() else pre_tokenizers.Sequence([pre_tokenizer() for _ in range(pick([1, 2, 3]))])
        try:
            t.train_from_iterator(references.corpus(), trainer)
        except BaseException:  # steps that leave nothing to train on
            return None
        if t.get_vocab_size() < 20:
            return None
        for text in source.sample(["<|x|>", "[MASK]", "hi", "Hello", "  ", "é", "world!", "\n", "the", "<mask>", "Köln", "E"], pick([0, 2, 4])):
            t.add_tokens([AddedToken(text, single_word=flip(), lstrip=flip(), rstrip=flip(), normalized=flip(), special=flip())])
        if flip():
            t.post_processor = post_processor(t)
        if flip():
            t.decoder = decoder()
        return t

    return tokenizer


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = random.Random(SEED)
    make, made = maker(source), 0
    while made < COUNT:
        t = make()
        if t is None:
            continue
        lines = []
        for text in references.strings(STRINGS, SEED * 1000 + made):
            try:
                plain, whole = t.encode(text, add_special_tokens=False).ids, t.encode(text).ids
                back = t.decode(plain)
            except BaseException:  # the package panics at some texts, as where nothing is left of a token
                continue
            lines.append("\t".join([text.encode().hex(), " ".join(map(str, plain)), " ".join(map(str, whole)), back.encode().hex()]))
        t.save(str(FOLDER / f"random{made}.json"), pretty=False)
        json.loads((FOLDER / f"random{made}.json").read_text())
        (FOLDER / f"random{made}.txt").write_text("\n".join(lines) + "\n")
        made += 1


main()
