"""What the program prints on the pages of its commands, docs/commands/*.md, between markers.

`commands` of the index lists the commands of `slmsim --help`. On NAME.md, `help-NAME` is the
usage that `slmsim NAME --help` prints, and `example-NAME` holds commands, the lines that begin with `$`, with their output.

    python3 tests/docs/command_page.py    # writes what the program prints into the pages
"""
import os
import re
import subprocess
import tempfile

import example

PAGES = os.path.join(example.SOURCE, "docs/commands")


def read(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


def commands():
    """Name and sentence of each command, in the program's order."""
    listed = subprocess.run([example.SLMSIM, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+) {2,}(.*)$", listed.split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)


def as_code(text):
    return "".join(f"    {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))


def index():
    rows = "".join(f"| [`{name}`]({name}.md) | {what} |\n" for name, what in commands())
    return "| command | does |\n|---|---|\n" + rows


def help_of(name):
    printed = subprocess.run([example.SLMSIM, name, "--help"], capture_output=True, text=True, check=True).stdout
    text = re.sub(r"\n\n\n+", "\n\n", printed[printed.index("Usage:"):])
    return as_code(text.replace("  -h,--help                   Print this help message and exit\n", ""))


def run(lines):
    """Commands of a page with what they print, in a folder that shows the project's files as the clone does."""
    out = []
    with tempfile.TemporaryDirectory() as work:
        for name in os.listdir(example.SOURCE):
            if name != "build" and not name.startswith("."):
                os.symlink(os.path.join(example.SOURCE, name), os.path.join(work, name))
        os.mkdir(os.path.join(work, "build"))
        os.symlink(example.SLMSIM, os.path.join(work, "build/slmsim"))
        for line in lines:
            done = subprocess.run(["bash", "-c", line], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=280, check=False)
            progress = ("choices planned", " explained", "slmsim: stops within ")
            told = "".join(text for text in done.stdout.splitlines(True) if not any(word in text for word in progress))
            out.append(f"$ {line}\n{told}".rstrip("\n") + "\n")
    return as_code("".join(out))


def commands_shown(part):
    return [line[6:] for line in part.split("\n") if line.startswith("    $ ")]


def parts_of(page):
    """Name and text of the parts that the program prints."""
    return re.findall(r"<!-- (commands|(?:help|example)-[a-z-]+) -->\n(.*?)<!-- /\1 -->\n", page, re.DOTALL)


def printed(part, text):
    if part == "commands":
        return index()
    kind, name = part.split("-", 1)
    return help_of(name) if kind == "help" else run(commands_shown(text))


def main():
    for name in sorted(os.listdir(PAGES)):
        page = read(name)
        for part, text in parts_of(page):
            page = page.replace(f"<!-- {part} -->\n{text}<!-- /{part} -->", f"<!-- {part} -->\n{printed(part, text)}<!-- /{part} -->")
        with open(os.path.join(PAGES, name), "w", encoding="utf-8") as file:
            file.write(page)


if __name__ == "__main__":
    main()
