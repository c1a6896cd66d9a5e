#!/usr/bin/python3
"""How time and memory of whole `slmsim run` processes grow with the cluster, from 64 to 16 384 GPUs.

    tests/bench/size.py                     # the table of docs/performance.md, in some minutes
    tests/bench/size.py --figure FILE.svg   # and its figure
    tests/bench/size.py --most 1024         # no larger ones

Times are the processor's (user), so that other work on the machine counts little. Three columns are ratios to the same run's
`--format json` (with the use of links for up to 64 GPUs), `--whole` (every GPU simulated) and `--engine simgrid` (every GPU, by
SimGrid), where these end within --patience seconds. What did not is not tried with more GPUs.
"""
import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "plots"))

GPT_175B = "{name: gpt-175b, family: gpt2, hidden: 12288, heads: 96, layers: 96, sequence: 2048, vocabulary: 51200}"
GPT_3B = "{name: gpt-3.6b, family: gpt2, hidden: 3072, heads: 32, layers: 30, sequence: 2048, vocabulary: 51200}"
GPT_1T = "{name: gpt-1t, family: gpt2, hidden: 25600, heads: 160, layers: 128, sequence: 2048, vocabulary: 51200}"
NODE = "site: lab, type: dgx-a100, gpus: [" + ", ".join(["a100-80"] * 8) + "]"


WRONG_INPUT = 2  # the program's exit status


def scenario(model, tensor, pipeline, data, micro_batches, vms=None):
    vms = vms or f"node: {{count: {tensor * pipeline * data // 8}, {NODE}}}"
    return f"""models: [{model}]
techniques:
  Megatron: {{tensor: {tensor}, pipeline: {pipeline}, data: {data}, micro_batches: {micro_batches}, recompute: full}}
training: {{batch: {data * micro_batches}, epochs: 1, blocks_per_epoch: {100 * data * micro_batches}, precision: fp16,
           gradient_precision: fp32}}
groups: all
software: {{stack: megatron}}
platform: {{name: cluster, sites: {{lab: {{rtt: 2 us}}}}, vms: {{{vms}}}}}
"""


def slow_node(nodes, slow):
    return f"node: {{count: {nodes - 1}, {NODE}}}, slow: {{{slow}}}"


def cases(most):
    for pipeline, data in [(8, 1), (16, 1), (16, 2), (16, 4), (16, 8), (16, 16), (16, 32), (16, 64), (16, 128)]:
        gpus = 8 * pipeline * data
        if gpus <= most:
            yield f"{gpus} GPUs, 175 B, 8 x {pipeline} x {data}", "equal", gpus, scenario(GPT_175B, 8, pipeline, data, 32)
    with open(os.path.join(SOURCE, "platforms/vms/dgx-a100.yaml"), encoding="utf-8") as file:
        dgx = file.read()
    with open("slow-nic.yaml", "w", encoding="utf-8") as file:
        file.write(dgx.replace("name: dgx-a100", "name: slow-nic").replace("value: 25 GB/s", "value: 12.5 GB/s"))
    slow_nic = NODE.replace("type: dgx-a100", "type: ./slow-nic.yaml")
    slow_gpu = NODE.replace("[a100-80", "[a100-40", 1)
    for data in (8, 32):
        gpus = 128 * data
        for name, node in (("cards", slow_nic), ("GPU", slow_gpu)):
            if gpus <= most:
                yield f"{gpus} GPUs, one node's {name} slower" if name == "cards" else f"{gpus} GPUs, one slower", name, None, \
                    scenario(GPT_175B, 8, 16, data, 32, slow_node(gpus // 8, node))
    yield "64 GPUs, 3.6 B, 16 x 1 x 4", "wide", None, scenario(GPT_3B, 16, 1, 4, 8)
    yield "16 GPUs, 3.6 B, 16 x 1 x 1, 256 micro-batches", "wide", None, scenario(GPT_3B, 16, 1, 1, 256)
    if most >= 512:
        yield "512 GPUs, 1 T, 8 x 64 x 1, 512 micro-batches", "deep", None, scenario(GPT_1T, 8, 64, 1, 512)


def measured(program, options, file, patience):
    """(user seconds, peak MB) of a process; None where it takes too long or needs too much."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (patience, patience + 5))
        resource.setrlimit(resource.RLIMIT_AS, (10 << 30, 10 << 30))
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen([program, "run", file, *options], stdout=subprocess.DEVNULL, stderr=told,
                                   preexec_fn=limited)
        _, status, usage = os.wait4(process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        told.seek(0)
        if code == WRONG_INPUT:
            sys.exit(told.read())
    if code != 0:
        return None
    return usage.ru_utime, usage.ru_maxrss / 1024


def draw(path, points):
    import style  # matplotlib is needed for the figure alone
    with style.in_look():
        figure, axes = style.subplots(figsize=(style.WIDTH, 3))
        gpus = [point[0] for point in points]
        for column, (label, unit) in enumerate((("time (s, user)", 1), ("peak memory (GB)", 1000)), 1):
            axes.plot(gpus, [point[column] / unit for point in points], "k-o" if column == 1 else "k--s",
                      label=label, fillstyle="full" if column == 1 else "none")
        first = points[0]
        growth = [first[1] * n * math.log(n) / (first[0] * math.log(first[0])) for n in gpus]
        axes.plot(gpus, growth, ":", color="#888888", label="n log n from the first")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(gpus, [str(n) for n in gpus])
        axes.set_xlabel("GPUs")
        axes.legend(frameon=False)
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(SOURCE, "build/slmsim"))
    parser.add_argument("--most", type=int, default=16384, help="GPUs")
    parser.add_argument("--patience", type=int, default=120, help="processor seconds for each process")
    parser.add_argument("--figure", help="draw growth here")
    options = parser.parse_args()
    program, figure = os.path.abspath(options.program), options.figure and os.path.abspath(options.figure)
    points = []
    print("| case | time, user | peak memory | as JSON | every GPU takes | by SimGrid |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        failed = set()
        for name, kind, gpus, text in cases(options.most):
            with open("size.yaml", "w", encoding="utf-8") as file:
                file.write(text)

            def tried(*words):
                if (kind, words) in failed:
                    return None
                told = measured(program, words, "size.yaml", options.patience)
                if not told:
                    failed.add((kind, words))
                return told
            own = tried()
            if not own:
                print(f"| {name} | more than {options.patience} s or 10 GB | | | | |", flush=True)
                continue
            others = [tried("--format", "json"), tried("--whole"), tried("--engine", "simgrid")]
            ratios = [f"{other[0] / own[0]:.1f} x, {other[1] / own[1]:.1f} x memory" if other else "-" for other in others]
            print(f"| {name} | {own[0]:.2f} s | {own[1]:.0f} MB | {' | '.join(ratios)} |", flush=True)
            if gpus:
                points.append((gpus, *own))
        os.chdir(SOURCE)
    if figure:
        draw(figure, points)


if __name__ == "__main__":
    main()
