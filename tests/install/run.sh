#!/usr/bin/env bash
# Installs the built library, builds a consumer against it by find_package and by pkg-config, and runs both.
# usage: run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
flags=$(grep -E '^LUMINAL_SANITIZE:' "$build/CMakeCache.txt" | cut -d= -f2)
flags=${flags:+-fsanitize=$flags}
cmake -G Ninja -S "$source/tests/install/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_FLAGS="$flags" >"$work/log" ||
  { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/build/consumer"
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
  # shellcheck disable=SC2046
  c++ $flags -o "$work/consumer" "$source/tests/install/consumer/main.cpp" $(pkg-config --cflags --libs luminal)
  "$work/consumer"
else
  echo "pkg-config is not installed: its file was not tried"
fi
echo "an installed tree can be used"
