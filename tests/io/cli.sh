#!/usr/bin/env bash
# What `luminal tokenize` and `luminal quantize` refuse, and that what they were given stays as it was.
# usage: cli.sh LUMINAL SOURCE_DIR
set -euo pipefail
luminal=$1 tokenizers=$2/tests/io/tokenizers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }
refuses() { # WORDS COMMAND...
  local words=$1
  shift
  "$luminal" "$@" >out 2>err </dev/null && fail "accepted: $*"
  grep -qF -- "$words" err || fail "'$*' does not say '$words' but: $(cat err)"
}

model=$tokenizers/bpe_byte_level.json
ids=$("$luminal" tokenize --model "$model" --json "Hello there")
[ "$("$luminal" tokenize --model "$model" --decode "$ids")" = "Hello there" ] || fail "printed ids do not decode: $ids"
refuses '"abc" is not an id' tokenize --model "$model" --decode abc
refuses '"-1" is not an id' tokenize --model "$model" --decode "1 -1"
refuses '"1.5" is not an id' tokenize --model "$model" --decode "[1.5]"
refuses '"99999999999" is not an id' tokenize --model "$model" --decode 99999999999
echo "no tokenizer at all" >notes.txt
refuses 'tokenizer.json' tokenize --model notes.txt x
refuses '.tiktoken' tokenize --model notes.txt x

safetensors() { # FILE VALUE-BYTES: one tensor "w" of 32 x 32 floats that all have these bytes
  local header='{"w":{"dtype":"F32","shape":[32,32],"data_offsets":[0,4096]}}'
  { printf "$(printf '\\x%02x\\0\\0\\0\\0\\0\\0\\0' ${#header})%s" "$header"
    for _ in $(seq 1024); do printf "$2"; done; } >"$1"
}
safetensors one.safetensors '\x00\x00\x80\x3f'
"$luminal" quantize one.safetensors one.gguf --type q8_0 2>/dev/null
cp one.gguf kept.gguf
refuses 'is the input' quantize one.gguf one.gguf --type f16
refuses 'is the input' quantize one.gguf ./../"$(basename "$work")"/one.gguf --type f16
cmp one.gguf kept.gguf || fail "a refused quantize changed its input"
refuses 'does not end in ".gguf"' quantize one.safetensors one.safetensors
safetensors huge.safetensors '\x28\x6b\x6e\x4e' # 1e9
for type in q8_0 q4_0; do
  refuses 'tensor "w"' quantize huge.safetensors huge.gguf --type $type
  refuses 'exceeds f16' quantize huge.safetensors huge.gguf --type $type
done
[ ! -e huge.gguf ] || fail "a refused quantize left a file"
echo "tokenize and quantize refuse what they should"
