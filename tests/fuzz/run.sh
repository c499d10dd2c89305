#!/usr/bin/env bash
# Runs fuzz targets on their committed corpus and notes the minutes of clean ones in tests/fuzz/LEDGER.
# usage: run.sh MINUTES [TARGET...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/../../build/fuzz
minutes=$1
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd "$here" && ls *.cpp | sed 's/\.cpp$//')
for target in "${targets[@]}"; do
  work=$(mktemp -d)
  echo "fuzzing $target for $minutes minutes" >&2
  "$build/tests/fuzz/fuzz_$target" -max_total_time=$((minutes * 60)) -rss_limit_mb=2048 -timeout=20 -max_len=65536 \
    -print_final_stats=1 "$work" "$here/corpus/$target" >"$work.log" 2>&1 ||
    { tail -n 40 "$work.log"; echo "$target: found something, see $work.log" >&2; exit 1; }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work.log")
  echo "$(date -u +%F) $target $minutes minutes $runs runs clean (address, undefined)" >>"$here/LEDGER"
  rm -rf "$work" "$work.log"
done
