"""egglog_time.py PROGRAM RUNS: times the egglog package on a program, for `luminal bench --suite egraph --peers`.

Prints {"seconds": best of the runs, "rows": in all tables at the end}, or {"error": why} if the package refuses the
program. The runs stop early once they have taken 20 seconds together.
"""
import json
import re
import sys
import time

from egglog.bindings import EGraph

FORMS_TOGETHER = 50


def pieces(text):
    """The text cut between top-level forms: the package keeps a copy of what it parses with every node, so that a
    program of 600 KB parsed whole takes 20 GB."""
    depth, forms, start = 0, 0, 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|;[^\n]*|[()]', text):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            forms += depth == 0
            if depth == 0 and forms % FORMS_TOGETHER == 0:
                yield text[start:token.end()]
                start = token.end()
    yield text[start:]


def run(text):
    graph = EGraph()
    start = time.perf_counter()
    for piece in pieces(text):
        graph.run_program(*graph.parse_program(piece))
    seconds = time.perf_counter() - start
    sizes = graph.run_program(*graph.parse_program("(print-size)"))[0].sizes
    return seconds, sum(size for _, size in sizes)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    best, spent, rows = float("inf"), 0.0, 0
    for _ in range(int(sys.argv[2])):
        try:
            seconds, rows = run(text)
        except BaseException as error:  # the package's panics are no Exception
            print(json.dumps({"error": str(error).splitlines()[0]}))
            return
        best, spent = min(best, seconds), spent + seconds
        if spent > 20:
            break
    print(json.dumps({"seconds": best, "rows": rows}))


main()
