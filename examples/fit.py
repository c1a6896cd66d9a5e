#!/usr/bin/python3
"""What three pilot runs tell of a cluster that nobody knows well: intervals before them and after them.

    PYTHONPATH=build/python /usr/bin/python3 examples/fit.py
"""
import pathlib
import tempfile

import slmsim

# Made up, as if somebody had let these run for a few minutes (docs/commands/fit.md tells what a table may hold).
RUNS = """model,technique,group,what,value
gpt2m,Data,gat,iteration,1.31 s
gpt2m,Data,gat+amst,iteration,58.1 s
gpt2m,Shard,gat,fits,yes
"""


def main() -> None:
    scenario = slmsim.load("gat-amst", {"models": "gpt2m"})
    groups, techniques = ["gat+amst", "gat"], ["Data", "Pipeshard"]
    with tempfile.TemporaryDirectory() as folder:
        measured = pathlib.Path(folder, "runs.csv")
        measured.write_text(RUNS, encoding="utf-8")
        fit = scenario.fit(measured, points=64)
    print("what is unknown, and how much of its interval the runs leave:\n")
    print(fit.unknowns[["path", "value", "left"]].round(2).to_string(index=False))
    columns = ["technique", "group", "minutes", "minutes_low", "minutes_high"]
    before = scenario.run(groups=groups, techniques=techniques, intervals=True)
    after = scenario.run(groups=groups, techniques=techniques, fitted=fit)
    for title, run in (("before", before), ("after", after)):
        print(f"\n{title}, minutes of the job and where 8 of 10 lie:\n")
        print(run.frame[columns].round(1).to_string(index=False))


if __name__ == "__main__":
    main()
