#!/usr/bin/env python3
"""Trains small SentencePiece models, builds tiktoken rank files, and writes each with a table of random Unicode strings, the
packages' ids (without and with the begin token) and decodes, as make_tokenizer_references.py does. What is committed in
tests/io/tokenizers/ keeps Unicode as it is, since SentencePiece's normalisation tables are large; with a FOLDER, models with
those tables are made too, and GGUF vocabularies. Needs gguf, sentencepiece, tiktoken and tokenizers (./luminal setup
--references).
usage: make_model_references.py [FOLDER [STRINGS [SEED]]]"""
import base64
import io
import json
import pathlib
import sys

sys.argv, arguments = sys.argv[:1] + ["/dev/null"], sys.argv[1:]
import make_tokenizer_references as references  # noqa: E402
import gguf  # noqa: E402
import sentencepiece  # noqa: E402
import tiktoken  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402

FOLDER = pathlib.Path(arguments[0]) if arguments else references.ROOT / "tests" / "io" / "tokenizers"
STRINGS = int(arguments[1]) if len(arguments) > 1 else 60
SEED = int(arguments[2]) if len(arguments) > 2 else 1

SENTENCEPIECE = {
    "spm_unigram": dict(model_type="unigram", byte_fallback=True, vocab_size=500),
    "spm_bpe": dict(model_type="bpe", byte_fallback=True, vocab_size=600, split_digits=True, remove_extra_whitespaces=False),
    "spm_plain": dict(model_type="unigram", vocab_size=300, add_dummy_prefix=False, user_defined_symbols=["<|x|>", "[MASK]"]),
    "spm_word": dict(model_type="word", vocab_size=300),
    "spm_char": dict(model_type="char", vocab_size=150),
}
NORMALISED = {
    "spm_nmt_nfkc": dict(model_type="unigram", vocab_size=400, normalization_rule_name="nmt_nfkc"),
    "spm_nfkc_cf": dict(model_type="bpe", vocab_size=400, byte_fallback=True, normalization_rule_name="nfkc_cf"),
}
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
# The patterns that tiktoken has for these names, by which we choose them too.
RANKS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": "|".join([rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?",
                       r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"]),
}


GPT2, LINES = RANKS["gpt2"], r"\s*[\r\n]+|\s+(?!\S)|\s+"
SYMBOLS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|" + LINES
NO_HAN_UPPER, NO_HAN_LOWER = UPPER[:-1] + r"&&[^\p{Han}]]", LOWER[:-1] + r"&&[^\p{Han}]]"
EDGE, THOUSANDS = r"[^\r\n\p{L}\p{N}]?", [r"\p{N}+", r"(?=(\d{3})+(?!\d))"]
# The splits of these pre-tokenizers as their models' own tokenizer.json have them, applied one after the other.
SPLITS = {
    "gpt-2": [GPT2], "llama-bpe": [references.LLAMA3],
    "qwen2": [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + LINES],
    "starcoder": [r"\p{N}", GPT2], "gpt-4o": [RANKS["o200k"]],
    "tekken": [rf"{EDGE}{UPPER}*{LOWER}+|{EDGE}{UPPER}+{LOWER}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|" + LINES],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", SYMBOLS],
    "kimi-k2": [rf"\p{{Han}}+|{EDGE}{NO_HAN_UPPER}*{NO_HAN_LOWER}+{CONTRACTIONS}?|{EDGE}{NO_HAN_UPPER}+{NO_HAN_LOWER}*{CONTRACTIONS}?|"
                r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + LINES],
    "superbpe": THOUSANDS,
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
}


def line(text, plain, whole, back):
    return "\t".join([text.encode().hex(), " ".join(map(str, plain)), " ".join(map(str, whole)), back.encode().hex()])


def write_table(name, encode, begin, decode, decided=lambda text: True):
    rows = []
    for text in references.strings(STRINGS, SEED):
        if not decided(text):
            continue
        ids = encode(text)
        rows.append(line(text, ids, begin + ids, decode(ids)))
    (FOLDER / f"{name}.txt").write_text("\n".join(rows) + "\n")


def sentencepiece_model(name, options):
    path = FOLDER / f"{name}.model"
    if not path.exists():
        output = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(references.corpus()), model_writer=output, hard_vocab_limit=False, minloglevel=2,
            **{"normalization_rule_name": "identity", **options})
        path.write_bytes(output.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def decided(text):
        """Versions of the library differ where the same pieces in another order are as good."""
        best = processor.nbest_encode_as_ids(text, 2) if options["model_type"] == "unigram" and text else []
        return len(best) < 2 or sorted(best[0]) != sorted(best[1])

    write_table(name, processor.encode, [processor.bos_id()], processor.decode, decided)


def rank_file(name, pattern):
    path = FOLDER / f"{name}.tiktoken"
    if not path.exists():
        t = Tokenizer(models.BPE())
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        t.train_from_iterator(references.corpus(), trainers.BpeTrainer(
            vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
        characters = {c: b for b, c in enumerate(byte_characters())}
        ranks = sorted(t.get_vocab().items(), key=lambda entry: entry[1])
        path.write_text("".join(f"{base64.b64encode(bytes(characters[c] for c in token)).decode()} {rank}\n" for token, rank in ranks))
    ranks = {base64.b64decode(token): int(rank) for token, rank in (row.split() for row in path.read_text().splitlines())}
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    write_table(name, lambda text: encoding.encode(text, disallowed_special=()), [], encoding.decode)


def byte_characters():
    """GPT-2's character for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(others)) for b in range(256)]


def fields(message):
    """The fields of a protocol buffer as (number, bytes), for those that have a length."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            number()
        elif key & 7 == 2:
            length = number()
            yield key >> 3, message[at:at + length]
            at += length
        else:
            at += {1: 8, 5: 4}[key & 7]


def converted(name, source, steps, before):
    """A tokenizer.json from a SentencePiece model, as T5's and XLM-R's are made."""
    message = source.read_bytes()
    charsmap = next(value for number, value in fields(dict(fields(message))[3]) if number == 2)
    processor = sentencepiece.SentencePieceProcessor(model_proto=message)
    pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]
    t = Tokenizer(models.Unigram(pieces, unk_id=processor.unk_id()))
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap), *steps])
    t.pre_tokenizer = before
    t.decoder = decoders.Metaspace()
    t.save(str(FOLDER / f"{name}.json"))
    write_table(name, lambda text: t.encode(text, add_special_tokens=False).ids, [], t.decode)


def gguf_file(name, model, tokens, types, keys):
    writer = gguf.GGUFWriter(str(FOLDER / f"{name}.gguf"), "test")
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    for key, value in keys.items():
        writer.add_array(key, value) if isinstance(value, list) else writer.add_key_value(key, value, gguf.GGUFValueType.get_type(value))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_bpe(name, splits):
    t = Tokenizer(models.BPE(ignore_merges=name in ("llama-bpe", "tekken")))
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(split), "isolated") for split in splits] + [pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(references.corpus(), trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    merges = json.loads(t.to_str())["model"]["merges"]
    tokens = [t.id_to_token(i) for i in range(t.get_vocab_size())]
    gguf_file(name, "gpt2", tokens, [1] * len(tokens), {
        "tokenizer.ggml.pre": name, "tokenizer.ggml.merges": [" ".join(pair) for pair in merges], "tokenizer.ggml.add_bos_token": False})
    write_table(name, lambda text: t.encode(text).ids, [], t.decode)


def gguf_bert():
    """A word's first piece has a mark for the space in the format, and the others have none."""
    t = Tokenizer.from_file(str(references.ROOT / "tests" / "io" / "tokenizers" / "wordpiece.json"))
    tokens = [t.id_to_token(i) for i in range(t.get_vocab_size())]
    special = {"[UNK]": 2, "[CLS]": 3, "[SEP]": 3, "[MASK]": 3}
    marked = [x if x in special else x[2:] if x.startswith("##") else references.SPACE + x for x in tokens]
    gguf_file("bert", "bert", marked, [special.get(x, 1) for x in tokens], {
        "tokenizer.ggml.unknown_token_id": t.token_to_id("[UNK]"), "tokenizer.ggml.cls_token_id": t.token_to_id("[CLS]"),
        "tokenizer.ggml.seperator_token_id": t.token_to_id("[SEP]")})
    rows = []
    for text in references.strings(STRINGS, SEED):
        if references.SPACE in text:  # the format cannot tell it from its own mark
            continue
        ids = t.encode(text, add_special_tokens=False).ids
        back = "".join(x if x in special else " " + x[1:] if x.startswith(references.SPACE) else x
                       for x in (marked[i] for i in ids if tokens[i] not in special))
        rows.append(line(text, ids, t.encode(text).ids, back.removeprefix(" ")))
    (FOLDER / "bert.txt").write_text("\n".join(rows) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, options in {**SENTENCEPIECE, **(NORMALISED if arguments else {})}.items():
        sentencepiece_model(name, options)
    for name, pattern in RANKS.items():
        rank_file(name, pattern)
    if arguments:
        for name, splits in SPLITS.items():
            gguf_bpe(name, splits)
        gguf_bert()
        source = FOLDER / "spm_nmt_nfkc.model"
        converted("t5", source, [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), references.SPACE)],
                  pre_tokenizers.Metaspace())
        converted("xlm_r", source, [normalizers.Replace(Regex(" {2,}"), " ")],
                  pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))


main()
