#!/usr/bin/env bash
# The main job, whole, with three seeds: at least 95 % of 2,000 held-out sums exactly right.
# usage: demo.sh LUMINAL
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for seed in 0 1 2; do
  "$1" demo --seed $seed --json demo.json </dev/null >out 2>err || { cat err; exit 1; }
  python3 -c 'import json,sys; d = json.load(open("demo.json")); print(d); sys.exit(d["exact"] < 0.95 or d["pairs"] != 2000)' ||
    { echo "seed $seed is below 95 %"; exit 1; }
done
