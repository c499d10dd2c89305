#!/usr/bin/env python3
"""Checks every #include of src/luminal against the LAYERS file: a folder may include itself and, transitively, the
folders that LAYERS names for it."""
import pathlib
import re
import sys
import tempfile

FACES = {"cli", "python"}  # the product's faces include the umbrella header, hence everything
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]luminal/([^">]+)[">]')


def read_layers(path):
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, others = line.partition(":")
        if not colon or folder in allowed:
            sys.exit(f"{path}:{number}: expected one line 'folder: folders' a folder")
        allowed[folder] = others.split()
    for folder, others in allowed.items():
        for other in others:
            if other not in allowed:
                sys.exit(f"{path}: '{folder}' names '{other}', which has no line of its own")
    return allowed


def closure(allowed):
    done = {}

    def visit(folder, path):
        if folder in path:
            sys.exit("LAYERS: a circle: " + " -> ".join(path[path.index(folder):] + [folder]))
        if folder not in done:
            reached = {folder}
            for other in allowed[folder]:
                reached |= visit(other, path + [folder])
            done[folder] = reached
        return done[folder]

    for folder in allowed:
        visit(folder, [])
    return done


def folder_of(relative, layers):
    """The layer of a path below src/luminal; None for the umbrella header."""
    parts = pathlib.PurePosixPath(relative).parts[:-1]
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in layers:
            return "/".join(parts[:length])
    return parts[0] if parts else None


def violations(root):
    layers = closure(read_layers(root / "LAYERS"))
    source = root / "src" / "luminal"
    found = []
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        relative = path.relative_to(source).as_posix()
        folder = folder_of(relative, layers)
        if folder is None or folder in FACES:
            continue
        if folder not in layers:
            found.append(f"{relative}: the folder '{folder}' is not in LAYERS")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            other = folder_of(match.group(1), layers)
            if other not in layers[folder]:
                found.append(f"src/luminal/{relative}:{number}: '{folder}' may not include luminal/{match.group(1)}")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "LAYERS").write_text("low:\nmiddle: low\nhigh: middle\n")
        for folder, text in {"low": '#include "luminal/high/a.h"\n', "middle": '#include "luminal/low/a.h"\n',
                             "high": '#include "luminal/low/a.h"\n'}.items():
            (root / "src" / "luminal" / folder).mkdir(parents=True)
            (root / "src" / "luminal" / folder / "a.h").write_text(text)
        found = violations(root)
        assert found == ["src/luminal/low/a.h:1: 'low' may not include luminal/high/a.h"], found


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
        sys.exit(0)
    problems = violations(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else "layers: every include points the right way")
    sys.exit(1 if problems else 0)
