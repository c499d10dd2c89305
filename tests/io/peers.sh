#!/usr/bin/env bash
# Runs a comparison with Python packages, or skips (status 77) where there is no Python with them.
# usage: peers.sh PYTHON SCRIPT ARGUMENTS...
set -euo pipefail
python=$1
shift
[ -x "$python" ] || { echo "skipped: $python does not exist; './luminal setup --references' makes it"; exit 77; }
exec "$python" "$@"
