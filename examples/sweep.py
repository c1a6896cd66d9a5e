#!/usr/bin/python3
"""From which distance on do two GPUs of one site beat all four of two? A sweep over the round-trip time, as a data frame.

    PYTHONPATH=build/python /usr/bin/python3 examples/sweep.py [FIGURE.svg]
"""
import sys

import slmsim

AXIS = "platform.links.wan.rtt"


def main() -> None:
    scenario = slmsim.load("gat-amst", {"models": "gpt2m", "groups": "[all, [gat]]"})
    times = ["0.1 ms", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "57.4 ms", "103 ms"]
    sweep = scenario.sweep({AXIS: times})
    running = sweep.frame[sweep.frame["status"] == "ok"]
    best = running.loc[running.groupby(["point", "group"])["minutes"].idxmin()]
    table = best.pivot(index=f"{AXIS}_s", columns="group", values="minutes")
    print("minutes of the job with the best technique, by round-trip time (s) and GPUs:\n")
    print(table.round(1).to_string())
    first = table.index[table["gat"] < table["gat+amst"]].min()
    print(f"\nfrom {1000 * first:g} ms on the two GPUs of gat alone are faster than all four")
    if len(sys.argv) > 1:
        sweep.plot("latency-sweep").save(sys.argv[1])


if __name__ == "__main__":
    main()
