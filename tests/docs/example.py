"""Runs a worked example of docs/examples as its reader would.

An example is a folder of YAML files with a file `commands`, one command per line (# begins a comment). Command number N
prints expected/N.txt; any other file of expected/ is one that a command writes.

    python3 tests/docs/example.py FOLDER...    # writes what the commands print into FOLDER/expected
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SLMSIM_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLMSIM = os.path.abspath(os.environ.get("SLMSIM_BINARY") or os.path.join(SOURCE, "build/slmsim"))
PICTURES = (".svg", ".png", ".pdf")


class CommandFailed(Exception):
    pass


def commands_of(folder):
    with open(os.path.join(folder, "commands"), encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def draws(command):
    return command.startswith("slmsim plot ")


def run(folder, with_pictures=True):
    """The texts that the commands print and write, by the names of expected/; pictures by their own, as bytes."""
    texts = {}
    with tempfile.TemporaryDirectory() as work:
        for name in os.listdir(folder):
            if name.endswith(".yaml"):
                shutil.copy(os.path.join(folder, name), work)
        given = set(os.listdir(work))
        for number, command in enumerate(commands_of(folder), 1):
            if draws(command) and not with_pictures:
                continue
            words = shlex.split(command)
            assert words[0] == "slmsim", command
            done = subprocess.run([SLMSIM, *words[1:]], cwd=work, capture_output=True, text=True, timeout=280, check=False)
            if done.returncode != 0:
                raise CommandFailed(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
            # Progress lines of a long search depend on the machine.
            progress = ("choices planned", " explained", "slmsim: stops within ")
            told = "".join(line for line in done.stderr.splitlines(True) if not any(word in line for word in progress))
            if done.stdout or told:
                texts[f"{number}.txt"] = done.stdout + told
        for name in sorted(set(os.listdir(work)) - given):
            if name.endswith(".jsonl"):  # the CSV's rows once more
                continue
            with open(os.path.join(work, name), "rb") as file:
                content = file.read()
            texts[name] = content if name.endswith(PICTURES) else content.decode()
    return texts


def update(folder):
    expected = os.path.join(folder, "expected")
    shutil.rmtree(expected, ignore_errors=True)
    os.mkdir(expected)
    for name, text in run(folder).items():
        picture = isinstance(text, bytes)
        with open(os.path.join(folder if picture else expected, name), "wb") as file:
            file.write(text if picture else text.encode())


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update(argument)
