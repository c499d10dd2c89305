#!/usr/bin/env bash
# Ctrl-C at several instants of a search: the program ends well and prints a plan, and the next search is not taken for done.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
kept=0
for after in 0.05 0.3 0.8 1.6 3 5; do
  rm -f "$folder/plan"
  "$program" compile model:mnist --search --budget 60 > "$folder/plan" 2> "$folder/error" &
  child=$!
  sleep "$after"
  kill -INT "$child" 2>/dev/null || true
  status=0
  wait "$child" || status=$?
  # Before the search begins the signal has its usual meaning.
  if [ "$status" = 130 ] && [ ! -s "$folder/plan" ]; then continue; fi
  [ "$status" = 0 ] || { echo "after $after s: status $status"; cat "$folder/error"; exit 1; }
  # A search may have come to its end just before.
  cmp -s "$folder/error" /dev/null || grep -q 'was interrupted' "$folder/error" ||
    { echo "after $after s: says"; cat "$folder/error"; exit 1; }
  grep -q '^run ' "$folder/plan" || { echo "after $after s: no plan"; exit 1; }
  if grep -q 'was interrupted' "$folder/error"; then
    timeout -s INT 1 "$program" compile model:mnist --search --budget 60 --timing > /dev/null 2> "$folder/again" || true
    if grep -q 'the decisions were there' "$folder/again"; then echo "after $after s: the cache has it"; exit 1; fi
  fi
  "$program" compile model:mnist --search --budget 60 --candidates 3 > "$folder/again"
  grep -q '^run ' "$folder/again" || { echo "after $after s: the cache is of no use"; exit 1; }
  "$program" cache clear > /dev/null
  kept=$((kept + 1))
done
[ "$kept" -ge 3 ] || { echo "only $kept of 6 searches had begun when they were interrupted"; exit 1; }
