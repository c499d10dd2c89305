#!/usr/bin/env bash
# 'luminal train' and 'luminal demo' as their users meet them, shortened.
# usage: cli.sh LUMINAL SOURCE_DIR
set -euo pipefail
luminal=$(realpath "$1") configs=$2/examples/configs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }
refuses() { # MESSAGE ARGUMENTS...
  local message=$1
  shift
  "$luminal" "$@" >out 2>err </dev/null && fail "accepted: $*"
  grep -qF -- "$message" err || fail "'$*' said: $(cat err)"
}

# Every configuration works.
short=(--set steps=2 --set optimiser.warm_up=0 --set evaluate_every=0 --set checkpoints=null)
for config in math_net digits characters addition; do
  held=()
  case $config in digits | addition) held=(--set data.held_out=300) ;; esac
  "$luminal" train "$configs/$config.json" "${short[@]}" "${held[@]}" >out 2>err || fail "$config: $(cat err)"
  grep -qx 'steps 2' out || fail "$config printed: $(cat out)"
done
"$luminal" train "$configs/math_net.json" --set save=net.safetensors --set page=page.html >out 2>err
grep -qx 'right 1' out || fail "the math net: $(cat out)"
"$luminal" inspect net.safetensors | grep -q 'layers.0.weight' || fail "the saved net has no layers.0.weight"
grep -q '<polyline' page.html || fail "the page has no curves"

# A wrong key is an error that suggests the right one.
refuses 'math_net.json: there is no key "stpes"; did you mean "steps"?' train "$configs/math_net.json" --set stpes=5
refuses 'model: there is no key "hiden"; did you mean "hidden"?' train "$configs/math_net.json" --set model.hiden=5
refuses 'optimiser: "kind" is "adamW"; did you mean "adamw"?' train "$configs/math_net.json" --set optimiser.kind=adamW
refuses '"steps" is "many": expected a whole number' train "$configs/math_net.json" --set steps=many
refuses '"steps" is 0: expected at least 1' train "$configs/math_net.json" --set steps=0
refuses 'missing.json' train missing.json
printf '{"data": {' >broken.json
refuses 'broken.json' train broken.json
refuses 'a llama takes tokens' train "$configs/math_net.json" --set 'model={"kind":"llama"}'
refuses 'cannot be' train "$configs/math_net.json" --set checkpoints=/proc/nowhere
printf 'a,b\n1,oops\n' >bad.csv
refuses 'line 2, column "b": "oops" is not a number' train "$configs/math_net.json" \
  --set "data={\"kind\":\"csv\",\"file\":\"$work/bad.csv\",\"targets\":[\"b\"]}"
: >empty.txt
refuses 'is empty' train "$configs/characters.json" --set "data.file=$work/empty.txt"

# Ctrl-C for the last job once FILE has more than so many lines; its exit code is in $status.
interrupt_after() {
  local pid=$!
  for _ in $(seq 600); do
    [ -f "$1" ] && [ "$(wc -l <"$1")" -gt "$2" ] && break
    sleep 0.1
  done
  kill -INT $pid
  status=0
  wait $pid || status=$?
}

# Ctrl-C saves and ends; the same command goes on.
"$luminal" train "$configs/math_net.json" --set steps=100000000 --set checkpoints=run --set evaluate_every=0 \
  --set log=log.csv >out 2>err &
interrupt_after log.csv 3
[ $status = 130 ] || fail "an interrupted run ended with $status: $(cat err)"
grep -q 'saved; the same command goes on from here' out || fail "an interrupted run printed: $(cat out)"
ls run | grep -q '^step-' || fail "an interrupted run saved nothing"
last=$(ls run | sed 's/step-0*//')
"$luminal" train "$configs/math_net.json" --set steps=$((last + 5)) --set checkpoints=run >out 2>err
grep -q "going on from step $last" err || fail "the run did not go on: $(cat err)"

# The demo does not wait for input where there is no terminal, and its folder is an ordinary model.
"$luminal" demo --steps 2 --seed 3 --json demo.json </dev/null >out 2>err || fail "demo: $(cat err)"
for key in exact steps seconds tokens_per_s kernels; do grep -q "\"$key\"" demo.json || fail "demo.json lacks $key"; done
for file in config.json tokenizer.json model.safetensors; do [ -s luminal-demo/model/$file ] || fail "no $file"; done
for view in graph egraph training training-graph; do [ -s luminal-demo/$view.html ] || fail "no $view.html"; done
grep -q '123 + 456 = ' out || fail "the demo answered nothing: $(cat out)"
"$luminal" inspect luminal-demo/model | grep -q 'model.layers.1.self_attn.q_proj.weight' || fail "the model's names"
refuses 'cannot be' demo --steps 2 --out /proc/nowhere
refuses 'cannot be written' demo --steps 2 --json /proc/nowhere/x.json

# Ctrl-C while it trains ends it, with a word on what is there.
"$luminal" demo --out stopped-demo </dev/null >out 2>err &
interrupt_after stopped-demo/training.csv 1
[ $status = 130 ] || fail "an interrupted demo ended with $status: $(cat err)"
grep -q 'interrupted after [0-9]* of 600 steps: no model was saved' out || fail "an interrupted demo printed: $(cat out)"
[ -s stopped-demo/training.html ] && [ ! -e stopped-demo/model ] || fail "what an interrupted demo left"

# At a terminal it asks for sums, and a sum typed wrong gets a kind answer.
python3 - "$luminal" >typed <<'END' || fail "at a terminal: $(cat typed)"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "demo", "--steps", "2", "--out", "typed-demo"])
shown, asked = b"", False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if not asked and b"\n> " in shown:
        os.write(terminal, b"12+34\ntwo and two\n5000+1\n1+\n\n")
        asked = True
text = shown.decode(errors="replace")
print(text)
ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(not (ended == 0 and "12 + 34 = " in text and "only learnt numbers up to 999" in text and text.count("Would you try again?") == 2))
END
echo "train and demo behave"
