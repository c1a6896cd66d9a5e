"""Faults at random moments: the same bytes after, or a clear refusal, and nothing half-written.

    fault_test.py                 a few kills of each kind, as ctest runs it
    fault_test.py --kills 500     by hand; --seed S draws other moments, --only ranks --only results are these kinds only

SLMSIM names the program. Processes are ended by their ids; a worker is one that the program started.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(os.environ["SLMSIM_SOURCE_DIR"]).resolve()
PROGRAM = os.path.abspath(os.environ["SLMSIM"])
MPIRUN = shutil.which("mpirun")
SCENARIO = str(ROOT / "scenarios/gat-amst.yaml")
PLAN = ["plan", SCENARIO, "--time-limit", "600", "--set", "models=gpt2m", "--technique", "ZeRO2", "--jobs", "2"]
FEW = ["--set", "models=gpt2m", "--set", "groups=all", "--set", "techniques=[Data]"]
SWEEP = """scenario: {}
set: {{models: gpt2m, groups: all, techniques: [Data]}}
axes: [{{key: platform.links.wan.rtt, from: 1 ms, to: 200 ms, points: 120, scale: log}}]
"""


delivered = 0  # signals that met a living process


class Fault(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Fault(text)


def run(words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600, **options)


def digest(*files):
    return [hashlib.sha256(pathlib.Path(f).read_bytes()).hexdigest() for f in files]


def children_of(pid):
    try:
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def interrupted(words, after, how):
    """The status and the output of the program that gets this signal after `after` seconds."""
    global delivered
    process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(after)
    if process.poll() is None:
        process.send_signal(how)
        delivered += 1
    text, _ = process.communicate(timeout=600)
    return process.returncode, text


def has_ended(pid):
    """Or waits for its parent to take note of it."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_idle(pid):
    """Until a process, with its children, has done nothing for a second."""
    spent, since = None, time.monotonic()
    while time.monotonic() - since < 1:
        now = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]
        if now != spent or children_of(pid):
            spent, since = now, time.monotonic()
        time.sleep(0.05)


def kill_some_time(dice, words, longest, worker, how=signal.SIGKILL, launch=(PROGRAM,)):
    """Starts the program and ends it, or one of its workers, at a random time within `longest` seconds."""
    process = subprocess.Popen([*launch, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(dice.uniform(0, longest))
    global delivered
    targets = children_of(process.pid) if worker else [process.pid]
    if targets and process.poll() is None:
        try:
            os.kill(dice.choice(targets), how)
            delivered += 1
        except ProcessLookupError:
            pass
    returned = wait_for(process, launch)
    return returned if worker else None


def wait_for(process, launch):
    """Open MPI's launcher may wait for ever where a rank ended before it began to run: then it has no living child and is ended."""
    for _ in range(10):
        try:
            return process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            if launch[0] == MPIRUN and all(has_ended(c) for c in children_of(process.pid)):
                process.kill()
                return process.wait()
    raise Fault("a killed run does not end")


def length_of(words):
    begun = time.monotonic()
    run(words)
    return time.monotonic() - begun


def sweeps(dice, folder, kills):
    """Sweeps, whole and in shards, whose main process or worker is killed, go on to the same bytes."""
    sweep = folder / "sweep.yaml"
    sweep.write_text(SWEEP.format(SCENARIO))
    run(["sweep", str(sweep), "-o", str(folder / "good.csv")])
    good = digest(folder / "good.csv", folder / "good.jsonl")
    longest = length_of(["sweep", str(sweep), "-o", str(folder / "timed.csv")])
    for number in range(kills):
        out = folder / f"{number}.csv"
        words = ["sweep", str(sweep), "-o", str(out), "--jobs", "2"]
        for _ in range(dice.randint(1, 3)):
            how = dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
            kill_some_time(dice, words, longest, worker=dice.random() < 0.5, how=how)
        expect(run(words).returncode == 0, "a killed sweep does not go on")
        expect(digest(out, out.with_suffix(".jsonl")) == good, "a killed sweep ends with other bytes")
    parts = []
    for shard in (1, 2):
        words = ["sweep", str(sweep), "-o", str(folder / "part.csv"), "--shard", f"{shard}/2"]
        kill_some_time(dice, words, longest / 2, worker=False)
        expect(run(words).returncode == 0, "a killed shard does not go on")
        parts += [str(p) for p in folder.glob(f"part.{shard}-of-2.part")]
    expect(run(["merge", *parts, "-o", str(folder / "merged.csv")]).returncode == 0, "killed shards do not merge")
    expect(digest(folder / "merged.csv", folder / "merged.jsonl") == good, "killed shards merge to other bytes")


def ranks(dice, folder, kills):
    """Sweeps whose MPI rank or launcher is killed go on to the same bytes, by ranks or by workers."""
    if MPIRUN is None or "MPI" not in run(["sweep", "--help"]).stdout:
        return
    sweep = folder / "sweep.yaml"
    sweep.write_text(SWEEP.format(SCENARIO))
    run(["sweep", str(sweep), "-o", str(folder / "good.csv")])
    good = digest(folder / "good.csv", folder / "good.jsonl")
    launch = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", "3", PROGRAM]
    begun = time.monotonic()
    expect(subprocess.run([*launch, "sweep", str(sweep), "-o", str(folder / "timed.csv")], capture_output=True,
                          timeout=600).returncode == 0, "a sweep of MPI ranks fails")
    longest = time.monotonic() - begun
    expect(digest(folder / "timed.csv", folder / "timed.jsonl") == good, "MPI ranks write other bytes")
    for number in range(kills):
        out = folder / f"{number}.csv"
        words = ["sweep", str(sweep), "-o", str(out)]
        for _ in range(dice.randint(1, 2)):
            kill_some_time(dice, words, longest, worker=dice.random() < 0.8, launch=launch)
        again = subprocess.run([*(launch if dice.random() < 0.5 else [PROGRAM]), *words], capture_output=True, text=True, timeout=600)
        expect(again.returncode == 0, f"a sweep whose rank was killed does not go on: {again.stderr[-300:]}")
        expect(digest(out, out.with_suffix(".jsonl")) == good, "a sweep whose rank was killed ends with other bytes")


def plans(dice, folder, kills):
    """A search with a journal that is killed goes on to the same list; a full disk loses nothing."""
    good = run([*PLAN, "--format", "json"]).stdout
    longest = length_of(PLAN)
    for number in range(kills):
        journal, out = folder / f"{number}.journal", folder / f"{number}.json"
        words = [*PLAN, "--format", "json", "--journal", str(journal), "-o", str(out)]
        kill_some_time(dice, words, longest, worker=False, how=dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        expect(not out.exists() or out.read_text() == good, "a killed search leaves half a result")
        expect(run([*words[:-1], "/dev/full"]).returncode == 2, "a full disk is not told")
        expect(journal.exists() or out.exists(), "a full disk loses the search")
        expect(run(words).returncode == 0 and out.read_text() == good, "a killed search ends with another list")
        expect(not journal.exists(), "a finished search leaves its journal")


def results(dice, folder, kills):
    """Results appear whole or not at all."""
    runs = folder / "runs.csv"
    runs.write_text("model,technique,group,what,value,noise\ngpt2m,Data,gat+amst,iteration,58 s,\n")
    for words, name in ((["run", SCENARIO, "--format", "json"], "run"), (["report", SCENARIO, "--set", "models=gpt2m"], "page"),
                        (["fit", SCENARIO, *FEW, "--measured", str(runs), "--points", "16"], "fit")):
        out = folder / name
        expect(run([*words, "-o", str(out)]).returncode == 0, f"{name} does not run")
        good = digest(out)
        longest = length_of([*words, "-o", str(out)])
        for _ in range(kills):
            out.unlink(missing_ok=True)
            kill_some_time(dice, [*words, "-o", str(out)], longest * 1.1, worker=False)
            expect(not out.exists() or digest(out) == good, f"half a {name} was written")


def interrupts(dice, folder, kills):
    """The first SIGINT or SIGTERM prints the results so far as partial, and then the signal ends the program."""
    explain, page = ["explain", SCENARIO, "--set", "models=gpt2m", "--format", "json"], folder / "page.html"
    whole = json.loads(run(explain).stdout)["explanations"]
    longest = length_of(explain)
    for _ in range(kills):
        how = dice.choice([signal.SIGTERM, signal.SIGINT])
        code, text = interrupted(explain, dice.uniform(0, longest), how)
        if not text:
            expect(code == -how, f"an explanation without words ends with {code}")  # before it began
            continue
        told = json.loads(text)
        count = len(told["explanations"])
        expect(told["explanations"] == whole[:count], "an interrupted explanation tells something else")
        expect(told["stopped"] == (count < len(whole)), "an interrupted explanation says that it is whole")
        expect(code == -how or (code == 0 and not told["stopped"]), f"an interrupted explanation ends with {code}")
    report = ["report", SCENARIO, "-o", str(page)]
    longest = length_of(report)
    for _ in range(kills):
        page.unlink(missing_ok=True)
        how = dice.choice([signal.SIGTERM, signal.SIGINT])
        code, _ = interrupted(report, dice.uniform(0, longest), how)
        if page.exists():
            text = page.read_text()
            expect(text.endswith("</html>\n"), "half a page was written")
            expect(code in (0, -how), f"an interrupted report ends with {code}")
            expect(code == -how or "Stopped before the end" not in text, "a stopped report ends well")
        else:
            expect(code == -how, f"an interrupted report without a page ends with {code}")


def refusals(dice, folder, kills):
    """Files that cannot be read or written are refused with a message, and nothing is left behind."""
    place = folder / "refused"
    place.mkdir()
    fifo = folder / "pipe.yaml"
    os.mkfifo(fifo)
    unread = folder / "unread.json"
    os.mkfifo(unread)
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    base = ["run", SCENARIO, "-t", "Data", "--format", "csv"]
    cases = [["run", str(fifo)], ["fit", SCENARIO, "--measured", str(fifo)], ["run", "/dev/zero"], [*base, "-o", "/dev/full"], [*base, "-o", str(folder / "no/such/x")],
             [*base, "-o", str(place)]]
    if os.geteuid() != 0:
        cases.append([*base, "-o", str(closed / "x")])
    for words in cases:
        done = run(words)
        expect(done.returncode == 2 and done.stderr.strip(), f"{words}: {done.returncode}, {done.stderr[:200]!r}")
    waiting = subprocess.Popen([PROGRAM, "next", SCENARIO, "--set", "models=gpt2m", "-o", str(unread)])
    wait_until_idle(waiting.pid)
    waiting.terminate()
    expect(waiting.wait(60) == -signal.SIGTERM, "a pipe that nobody reads holds a program that is to end")
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    ignore = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), small())
    done = run([*base, "-o", str(place / "x")], preexec_fn=ignore)
    expect(done.returncode == 2 and not list(place.iterdir()), "a limit of the file's size leaves half a file")
    reader, writer = os.pipe()
    os.close(reader)
    traced = [PROGRAM, *base, "--trace", str(place / "trace.json")]
    done = subprocess.run(traced, stdout=writer, stderr=subprocess.PIPE, timeout=600)
    os.close(writer)
    expect(done.returncode in (2, -signal.SIGPIPE), f"a closed pipe ends with {done.returncode}")
    expect(not list(place.iterdir()), "a closed pipe leaves half a result")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))
    done = run(base, preexec_fn=few)
    expect(done.returncode in (0, 2, 3) and (done.returncode == 0 or done.stderr.strip()), "few files: no words")
    half = lambda: resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
    done = run(["run", SCENARIO, "--set", "models=gpt2m", "-t", "Shard", "--set", "training.batch=65536", "--whole"],
               preexec_fn=half)
    expect(done.returncode == 2 and "out of memory; reduce" in done.stderr, f"half a GiB: {done.returncode}, {done.stderr[:200]!r}")
    little = lambda: resource.setrlimit(resource.RLIMIT_AS, (48 << 20, 48 << 20))
    done = run(base, preexec_fn=little)
    expect(done.returncode != 0 or done.stdout, "little memory: neither a result nor words")


def surroundings(dice, folder, kills):
    """Locale, time zone and folder change nothing."""
    words = ["run", SCENARIO, "--set", "models=gpt2m", "--format", "json"]
    good = run(words).stdout
    for change in ({"LC_ALL": "de_DE.UTF-8"}, {"LC_NUMERIC": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8"}, {"TZ": "Pacific/Apia"},
                   {"LC_ALL": "C", "HOME": "/nonexistent"}):
        expect(run(words, env={**os.environ, **change}).stdout == good, f"{change} changes the result")
    expect(run(words, cwd=folder).stdout == good, "the folder changes the result")


def writers(dice, folder, kills):
    """The second of two writers of one journal is refused, and the other's result is complete."""
    sweep = folder / "two.yaml"
    sweep.write_text(SWEEP.format(SCENARIO))
    words = ["sweep", str(sweep), "-o", str(folder / "two.csv"), "--jobs", "1"]
    run(["sweep", str(sweep), "-o", str(folder / "one.csv")])
    both = [subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(p.communicate(timeout=600)[1], p.returncode) for p in both]
    expect(any(code == 0 for _, code in ends), f"neither writer ends well: {ends}")
    expect(all(code == 0 or "another sweep is writing" in text for text, code in ends), f"two writers: {ends}")
    expect(digest(folder / "two.csv", folder / "two.jsonl") == digest(folder / "one.csv", folder / "one.jsonl"), "two writers")
    sweep.write_text(SWEEP.format(SCENARIO).replace("200 ms", "100 ms"))
    kill_some_time(dice, words, 0.3, worker=False)
    sweep.write_text(SWEEP.format(SCENARIO))
    done = run(words)
    changed = (folder / "two.journal").exists()
    expect(done.returncode == (2 if changed else 0), f"changed inputs: {done.returncode}, {done.stderr[:200]}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=3)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", action="append", metavar="KIND")
    options.add_argument("-v", action="store_true")
    given = options.parse_args()
    failed = 0
    kinds = (sweeps, ranks, plans, results, interrupts, refusals, surroundings, writers)
    unknown = set(given.only or ()) - {kind.__name__ for kind in kinds}
    if unknown:
        options.error(f"no kinds: {', '.join(sorted(unknown))}")
    for kind in kinds:
        if given.only and kind.__name__ not in given.only:
            continue
        before = delivered
        with tempfile.TemporaryDirectory(prefix="slmsim-fault-") as folder:
            try:
                kind(random.Random(f"{given.seed} {kind.__name__}"), pathlib.Path(folder), given.kills)
                print(f"{kind.__name__}: holds; {delivered - before} signals met a living process", flush=True)
            except (Fault, subprocess.TimeoutExpired) as fault:
                failed += 1
                print(f"{kind.__name__}: {fault}", flush=True)
            for path in pathlib.Path(folder).rglob("*"):
                if path.is_dir():
                    path.chmod(0o700)
    print(f"{delivered} signals met a living process in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
