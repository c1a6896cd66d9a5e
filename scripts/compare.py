#!/usr/bin/env python3
"""The tables of docs/comparison.md: scenarios/compare.yaml on each platform, and DDP with each compressor.

Usage: scripts/compare.py FOLDER; writes the parts `compared` and `compressed` there. SLMSIM names the program.
"""
import json
import os
import subprocess
import sys

SLMSIM = os.environ.get("SLMSIM", "build/slmsim")
PLATFORMS = ["tacc-tacc", "utah-gpn", "utah-mass", "bris-star", "gat-amst",
             "aws-two-regions", "gcp-two-regions", "azure-two-regions"]
# Eight GPUs make batches of eight uneven for some techniques.
CLOUD = ["--set", "training.batch=16"]
COMPRESSORS = [("whole", ""), ("int8", "compress: int8"), ("int4", "compress: int4"),
               ("powersgd, rank 4", "compress: powersgd, rank: 4, warm_up: 100"),
               ("topk, 1 %", "compress: topk")]


def predictions(platform, *more):
    words = [SLMSIM, "run", "scenarios/compare.yaml", "--set", f"platform={platform}", "--format", "json", *more]
    if platform.endswith("regions"):
        words += CLOUD
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: nothing fits, which is a result too
        sys.exit(done.stderr)
    return json.loads(done.stdout)["predictions"]


def seconds(prediction):
    if prediction["status"] != "ok":
        return {"oom": "memory", "unsupported": "-"}[prediction["status"]]
    value = prediction["iteration_s"]
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 0.9995 else f"{1000 * value:.3g} ms"


def table(first, rows):
    names = [platform.removesuffix("-two-regions") for platform in PLATFORMS]
    lines = [f"| {first} | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    return "\n".join(lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows]) + "\n"


def compared():
    everything = {platform: predictions(platform) for platform in PLATFORMS}
    techniques = list(dict.fromkeys(p["technique"] for p in everything[PLATFORMS[0]]))
    rows = []
    for technique in techniques:
        together = [next(p for p in everything[platform] if p["technique"] == technique and len(p["group"]) == 2)
                    for platform in PLATFORMS]
        rows.append((f"`{technique}`", [seconds(p) for p in together]))
    alone = []
    for platform in PLATFORMS:
        best = min((p for p in everything[platform] if len(p["group"]) == 1 and p["status"] == "ok" and not p.get("remarks")),
                   key=lambda p: p["iteration_s"])
        alone.append(f"{seconds(best)}, `{best['technique']}`")
    return table("both VMs", rows + [("one VM, the fastest with the training unchanged", alone)])


def compressed():
    rows = []
    for name, options in COMPRESSORS:
        cells = []
        for platform in PLATFORMS:
            found = predictions(platform, "--set", f"techniques={{DDP: {{{options}}}}}", "--set", "groups=all")
            cells.append(seconds(found[0]))
        rows.append((name, cells))
    return table("DDP, gradients", rows)


def main():
    for name, part in (("compared", compared()), ("compressed", compressed())):
        with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8") as text:
            text.write(part)


if __name__ == "__main__":
    main()
