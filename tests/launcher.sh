#!/usr/bin/env bash
# The launcher keeps its own words off stdout, passes arguments on, and works from any folder.
# usage: launcher.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
case "$(basename "$build")" in release | debug | asan | ubsan | tsan | cuda) ;; *) echo "not a preset's build"; exit 0 ;; esac
export LUMINAL_PRESET
LUMINAL_PRESET=$(basename "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }
printf 'luminal graph 1\n%%0 = input "x" : f32[2]\n%%1 = exp2 %%0 : f32[2]\noutput %%1\n' >graph.txt

out=$("$source/luminal" view graph.txt 2>/dev/null)
[ "$out" = graph.txt.html ] || fail "view printed '$out'"
grep -q '<svg>' graph.txt.html || fail "no page was written to the caller's folder"
"$source/luminal" view --dot graph.txt 2>/dev/null | head -n 1 | grep -qx 'digraph luminal {' || fail "stdout is not clean"
"$source/luminal" view missing.txt 2>err && fail "a missing file was accepted"
grep -q 'missing.txt' err || fail "the error does not name the file"
[ "$("$source/luminal" nonsense 2>/dev/null)" = "" ] || fail "an unknown command wrote to stdout"
"$source/luminal" nonsense 2>err && fail "an unknown command was accepted"
"$source/luminal" test -X 2>err && fail "an unknown option was accepted"
grep -q "test takes" err || fail "the launcher does not say what test takes"
echo "the launcher behaves"
