#!/usr/bin/env python3
"""What `luminal compile --search`, `profile`, `bench`, `devices`, `cache` and tools/replay print, write and refuse.

usage: cli.py LUMINAL
"""
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from html.parser import HTMLParser

LUMINAL = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW_KEYS = {"name", "ours_us", "peers", "ratio", "limit_share", "max_error"}
NOBODY = 65534

# Answers as benches/peers/server.py does: one line in, one out. What its output is, the environment says.
FAKE_PEER = """#!/usr/bin/env python3
import array, json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"seconds": 0.001}
    if "load" in request:
        arrays = [array.array("f", open(a["file"], "rb").read()) for a in request["arrays"].values()]
        answer = {"peers": ["fake"]}
    if "output" in request:
        way = os.environ["FAKE_OUTPUT"]
        size = len(arrays[0])
        right = size if way == "right" else 7  # as far as anyone looks
        numbers = array.array("f", (a + b for a, b in zip(arrays[0][:right], arrays[1][:right])))
        numbers.extend([0] * (size - right - (way == "short")))
        if way == "nan":
            numbers[7] = float("nan")
        if way == "off":
            numbers[7] = arrays[0][7] + arrays[1][7] + 1
        open(request["file"], "wb").write(numbers.tobytes())
        answer = {"shape": [len(numbers)]}
    print(json.dumps(answer), flush=True)
"""


class Page(HTMLParser):
    """The words of a page, and what it would have to load."""

    def __init__(self, text):
        super().__init__()
        self.words, self.loads, self.open = "", [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.loads += [(tag, value) for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words += data


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_it(self, *words, program=LUMINAL, **options):
        return subprocess.run([program, *words], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              env=self.environment, **options)

    def accepts(self, *words):
        done = self.run_it(*words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done

    def refuses(self, said, *words, code=1, **options):
        start = time.monotonic()
        done = self.run_it(*words, **options)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout[-500:]} {done.stderr}")
        self.assertIn(said, done.stderr, words)
        self.assertLess(time.monotonic() - start, 8, f"{words}: refused, but late")
        return done

    def rows(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            rows = json.load(file)
        for row in rows:
            self.assertLessEqual(ROW_KEYS, row.keys())
            self.assertGreater(row["ours_us"], 0)
            self.assertIsInstance(row["peers"], dict)
        return rows

    def trace(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertTrue(events)
        for event in events:
            self.assertEqual(event["ph"], "X")
            for key in ("ts", "dur", "pid", "tid"):
                self.assertGreaterEqual(event[key], 0)
        return events

    def search(self, *words):
        return ["compile", "model:mnist", "--search", "--budget", "1", *words]

    # compile

    def test_budgets_are_refused_with_their_range(self):
        for command in ("compile", "profile"):
            for word in ("nan", "inf", "0", "-1", "1e7", "x"):
                self.refuses(f'"{word}" is no number of seconds above 0 and up to 1000000', command, "model:mnist",
                             "--search", "--budget", word, code=2)
            for word in ("-1", "1.5", "99999999999999999999"):
                self.refuses(f'"{word}" is no whole number from 0 to 999999999', command, "model:mnist", "--search",
                             "--candidates", word, code=2)
        self.refuses("is no number of seconds", "bench", "--search", "--budget", "nan", code=2)

    def test_options_that_need_a_search(self):
        for option, word in (("--budget", "5"), ("--candidates", "5"), ("--record", self.path("r")),
                             ("--replay", self.path("r"))):
            for command in ("compile", "profile"):
                self.refuses(f"{command}: {option} needs --search", command, "model:mnist", option, word)
            self.refuses(f"{option} means nothing with --stage graph", "compile", "model:mnist", "--stage", "graph",
                         option, word)
        self.refuses("bench: --budget needs --search", "bench", "--budget", "5")
        self.refuses("bench: --longer needs --search", "bench", "--longer", "5")
        self.assertFalse(os.path.exists(self.path("r")))

    def test_files_that_cannot_be_written_are_refused_before_the_work(self):
        search = ("compile", "model:mnist", "--search", "--budget", "30", "--no-cache")
        for path in (self.path("no", "file"), self.path()):
            for option in ("--record", "--html", "--trace"):
                self.refuses(f"compile: the file {json.dumps(path)} cannot be written", *search, option, path)
            self.refuses("profile: the file", "profile", "model:mnist", "--search", "--budget", "30", "--trace", path)
            self.refuses("bench: the file", "bench", "--suite", "models", "--json", path)
        # Root may write anywhere; so another tries.
        user = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        os.chmod(self.folder.name, 0o755)
        os.mkdir(self.path("closed"), 0o555)
        with open(self.path("closed", "there"), "w", encoding="utf-8") as file:
            file.write("as it was")
        for name in ("fresh", "there"):
            self.refuses("cannot be written", *search, "--record", self.path("closed", name),
                         program=self.program_of_all(), **user)
        os.chmod(self.path("closed"), 0o755)
        self.assertEqual(os.listdir(self.path("closed")), ["there"])

    def test_a_record_replayed_gives_the_same_plan(self):
        record = self.path("record")
        first = self.accepts(*self.search("--stage", "source", "--record", record, "--no-cache"))
        self.assertGreater(os.path.getsize(record), 0)
        for number in range(2):
            again = self.accepts(*self.search("--stage", "source", "--replay", record, "--no-cache", "--record",
                                              self.path(f"again{number}")))
            self.assertEqual(first.stdout, again.stdout)

    def test_explain(self):
        done = self.accepts(*self.search("--explain", "--html", self.path("why.html"), "--timing", "--no-cache",
                                         "--trace", self.path("stages.json")))
        self.assertRegex(done.stderr, r"(?m)^search +\d+\.\d+ ms  \d+ candidates")
        seconds = {m[1]: float(m[2]) for m in re.finditer(r"(?m)^(\w+) +(\d+\.\d+) ms", done.stderr)}
        self.assertGreater(seconds["search"], 100)
        self.assertGreaterEqual(seconds["all"], seconds["search"])
        self.assertRegex(done.stdout, r"(?m)^  plan +its kernels +whole +outcome$")
        self.assertRegex(done.stdout, r"(?m)^  schedule +time +of the limit +outcome$")
        self.assertRegex(done.stdout, r"(?m)^\* \S.* us .*chosen")
        plans = done.stdout.split("its kernels")[1].split("\n\n")[0].splitlines()[1:]
        self.assertGreaterEqual(len(plans), 2)  # as fast compiles it, and tuned; other mappings if they promise more
        at = re.search(r"(?m)^  plan .*(?=whole)", done.stdout)[0]
        for line in plans:  # a plan has a time, or a reason
            if not line[len(at):].strip()[:1].isdigit():
                self.assertRegex(line, "not timed: |wrong: |crashed: |hung: |refused: ")
        with open(self.path("why.html"), encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual(page.loads, [])
        self.assertEqual(page.open, [])
        kernels = re.findall(r"(?m)^-- (Kernel \d+: .*)$", done.stdout)
        self.assertTrue(kernels)
        for kernel in kernels:
            self.assertIn(kernel, page.words)
        self.assertIn("its kernels", page.words)
        self.assertIn("Rules that led there", page.words)
        self.assertIn("saturate", [event["name"] for event in self.trace("stages.json")])

    def test_explain_says_why_plans_were_not_run(self):
        with open(self.path("graph"), "w", encoding="utf-8") as file:
            file.write('luminal graph 1\n%0 = input "x" : f32[8, 8]\n%1 = exp2 %0 : f32[8, 8]\n'
                       "%2 = sort {ascending} %1 : f32[8, 8], i64[8, 8]\noutput %2\n")
        done = self.accepts("compile", self.path("graph"), "--search", "--budget", "1", "--explain", "--no-cache")
        self.assertRegex(done.stdout, r"(?m)^  as fast compiles it +not timed: steps on the host are not run for")

    # profile, devices

    def test_profile(self):
        done = self.accepts("profile", "model:mnist", "--runs", "2", "--trace", self.path("trace.json"))
        self.assertRegex(done.stdout.splitlines()[0], r"^step +us +share +MB +GFLOP/s +GB/s +of limit$")
        names = [event["name"] for event in self.trace("trace.json")]
        self.assertTrue(all(name.startswith("kernel ") for name in names), names)
        for name in names:
            self.assertIn(name, done.stdout)

    def test_devices(self):
        for device in json.loads(self.accepts("devices", "--json").stdout):
            for key in ("workers", "vector_bytes", "memory_bytes", "bandwidth", "middle_bandwidth",
                        "cache_bandwidth", "flops", "vector_ops", "launch_seconds"):
                self.assertGreater(device[key], 0, key)
            self.assertIn(device["name"], self.accepts("devices").stdout)

    # bench

    def test_bench_rows_and_filters(self):
        self.accepts("bench", "--filter", "^mnist$", "--json", self.path("models.json"))
        rows = self.rows("models.json")
        self.assertEqual([row["name"] for row in rows], ["mnist"])
        self.assertIsNone(rows[0]["max_error"])
        self.accepts("bench", "--suite", "egraph", "--filter", "algebra 8|growth 20000$|idle rules 14", "--json",
                     self.path("egraph.json"))
        rows = self.rows("egraph.json")
        self.assertEqual([row["name"] for row in rows], ["algebra 8 steps", "growth 20000", "idle rules 14 atoms"])
        for row in rows:
            self.assertEqual(row["peers"], {})
            self.assertIsNone(row["ratio"])
        self.accepts("bench", "--suite", "compile", "--filter", "16", "--json", self.path("compile.json"))
        rows = self.rows("compile.json")
        self.assertEqual([row["name"] for row in rows], ["llama-3.2-1b 16 layers"])
        self.assertGreater(rows[0]["kernels"], 1)
        self.assertIn("default", self.accepts("bench", "--help").stdout)

    def test_bench_refuses(self):
        self.refuses("--filter takes a regular expression", "bench", "--suite", "egraph", "--filter", "[")
        self.refuses("no row of the suite 'models' matches \"^none$\"; there is mnist", "bench", "--filter", "^none$")
        self.refuses("--suite", "bench", "--suite", "nothing", code=2)
        for suite, option in (("compile", "--peers"), ("compile", "--search"), ("egraph", "--search"),
                              ("egraph", "--interpreter"), ("compile", "--interpreter")):
            self.refuses(f"{option} means nothing for the suite '{suite}'", "bench", "--suite", suite, option)
        self.refuses("--programs means nothing", "bench", "--suite", "ops", "--programs", self.path())

    def test_bench_compares_search_with_fast(self):
        self.accepts("bench", "--filter", "^mnist$", "--search", "--budget", "1", "--longer", "2", "--json",
                     self.path("search.json"))
        row = self.rows("search.json")[0]
        self.assertEqual(set(row["peers"]), {"luminal fast", "luminal search 2 s"})
        self.assertGreaterEqual(row["max_error"], 0)
        self.assertLess(row["max_error"], 1e-3)

    def test_bench_compares_first_runs(self):
        # The weights of a training step change from run to run.
        self.accepts("bench", "--suite", "train", "--filter", "^mnist-training$", "--interpreter", "--json",
                     self.path("rows.json"))
        self.assertLess(self.rows("rows.json")[0]["max_error"], 1e-3)

    def test_bench_refuses_wrong_results(self):
        with open(self.path("peer"), "w", encoding="utf-8") as file:
            file.write(FAKE_PEER)
        os.chmod(self.path("peer"), 0o700)
        self.environment["LUMINAL_PEER_PYTHON"] = self.path("peer")
        words = ("bench", "--suite", "ops", "--filter", "^add 4M$", "--peers", "--json", self.path("peers.json"))
        self.environment["FAKE_OUTPUT"] = "right"
        self.accepts(*words)
        row = self.rows("peers.json")[0]
        self.assertEqual(row["max_error"], 0)
        self.assertAlmostEqual(row["ratio"], row["peers"]["fake"] / row["ours_us"])
        for way, said in (("short", "our result has 4194304 elements, that of fake has 4194303"),
                          ("nan", "at element 7: "), ("off", "at element 7: ")):
            self.environment["FAKE_OUTPUT"] = way
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 1, way)
            self.assertIn(said, done.stderr)
            self.assertEqual(self.rows("peers.json"), [])

    def test_bench_of_programs_says_what_the_peer_did(self):
        with open(self.path("peer"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n[ "$1" = -c ] && exit 0\nprintf %s "$FAKE_ANSWER"\nexit $FAKE_STATUS\n')
        os.chmod(self.path("peer"), 0o700)
        self.environment["LUMINAL_PEER_PYTHON"] = self.path("peer")
        words = ("bench", "--suite", "egraph", "--filter", "algebra 8", "--peers", "--json", self.path("rows"))

        def bench(answer, status):
            self.environment |= {"FAKE_ANSWER": answer, "FAKE_STATUS": status}
            return self.run_it(*words)

        rows = int(self.accepts(*words[:5]).stdout.split(" rows,")[0].split("(")[1])
        done = bench('{"seconds": 0.5, "rows": %d}' % rows, "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = self.rows("rows")[0]
        self.assertAlmostEqual(row["ratio"], 500000 / row["ours_us"])
        done = bench('{"seconds": 0.5, "rows": 7}', "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("egglog ends with 7 rows, ours with %d" % rows, done.stderr)
        for answer, status, said in (('{"error": "unbound x"}', "0", "egglog refuses it: unbound x"),
                                     ("", "124", "egglog had not ended after 600 s"),
                                     ("", "3", "egglog ended with status 3"), ("noise", "0", "egglog ended with status 0")):
            done = bench(answer, status)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stdout)
            self.assertEqual(self.rows("rows")[0]["peers"], {})

    def test_an_interrupted_bench_keeps_its_rows(self):
        command = [LUMINAL, "bench", "--suite", "egraph", "--filter", "algebra 8|growth", "--json", self.path("rows")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self.environment) as child:
            for _ in range(300):
                if os.path.exists(self.path("rows")):
                    break
                time.sleep(0.02)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(), -signal.SIGINT)
        names = [row["name"] for row in self.rows("rows")]
        self.assertIn("algebra 8 steps", names)
        self.assertNotIn("growth 20000000", names)

    # cache

    def test_cache_without_a_home(self):
        del self.environment["XDG_CACHE_HOME"]
        self.environment.pop("HOME", None)
        for words in (["path"], ["clear"], ["list"], []):
            self.refuses("set HOME or XDG_CACHE_HOME", "cache", *words)

    def test_cache_that_cannot_be_cleared(self):
        os.chmod(self.folder.name, 0o755)
        self.accepts("compile", "model:mnist")
        cache = self.path("cache", "luminal")
        root = os.geteuid() == 0
        for folder, _, names in os.walk(self.path("cache")):
            os.chmod(folder, 0o500)
            if root:
                for path in [folder] + [os.path.join(folder, name) for name in names]:
                    os.chown(path, NOBODY, NOBODY)
        before = sorted(os.listdir(cache))
        self.assertTrue(before)
        user = {"user": NOBODY, "group": NOBODY} if root else {}
        self.refuses(f"cache: {len(before)} entries of {cache} cannot be removed", "cache", "clear",
                     program=self.program_of_all(), **user)
        self.assertEqual(sorted(os.listdir(cache)), before)
        os.chmod(cache, 0o700)
        open(os.path.join(cache, "new-1-1"), "wb").close()
        if root:
            os.chown(cache, 0, 0)
        self.assertIn(f"{len(before)} entries removed", self.accepts("cache", "clear").stdout)
        self.assertEqual(os.listdir(cache), [])

    def program_of_all(self):
        """The program where everyone can run it."""
        copy = self.path("luminal")
        if not os.path.exists(copy):
            with open(LUMINAL, "rb") as source, open(copy, "wb") as target:
                target.write(source.read())
            os.chmod(copy, 0o755)
        return copy

    def test_cache_that_others_can_write_to(self):
        cache = self.path("cache", "luminal")
        os.makedirs(cache)
        os.chmod(cache, 0o777)
        self.accepts("compile", "model:mnist")
        self.assertEqual(os.listdir(cache), [])
        self.refuses(f"cache: {cache} can be written to by others", "cache")
        self.assertEqual(stat.S_IMODE(os.stat(cache).st_mode), 0o777)
        self.assertEqual(self.accepts("cache", "path").stdout.strip(), cache)

    # tools/replay

    def replay(self):
        loader = importlib.machinery.SourceFileLoader("replay", os.path.join(SOURCE, "tools", "replay"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("replay", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(module)
        return module

    def test_replay_refuses_before_it_builds(self):
        program = os.path.join(SOURCE, "tools", "replay")
        for said, words in (("argument --rounds: takes a number of at least 1, got '0'", ["--rounds", "0"]),
                            ("argument --filter: takes a regular expression, got '['", ["--filter", "["]),
                            ("--filter matches no model; there is mnist", ["--filter", "^none$"]),
                            ("'no-such-commit' names no commit", [])):
            self.refuses(said, "no-such-commit", "HEAD", *words, program=program, code=2)
            if not words:
                self.refuses(said, "HEAD", "no-such-commit", program=program, code=2)

    def test_replay_leaves_out_models_that_a_commit_lacks(self):
        replay = self.replay()
        made = self.path("old")
        with open(made, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'luminal: compile: no model is named \"mnist\"' >&2\nexit 1\n")
        os.chmod(made, 0o700)

        class Given:
            old, new, no_times, rounds = "before", "after", True, 1

        said = io.StringIO()
        with redirect_stdout(said):
            self.assertFalse(replay.compare([made, LUMINAL], "mnist", Given))
        self.assertEqual(said.getvalue(), "mnist: left out, before has no such model\n")
        with open(made, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'something broke' >&2\nexit 1\n")
        with self.assertRaisesRegex(replay.Failure, "mnist does not compile: something broke"):
            replay.compare([made, LUMINAL], "mnist", Given)


if __name__ == "__main__":
    unittest.main()
