#!/usr/bin/python3
"""Builds the documentation as a site that needs no network: scripts/build-site.py [FOLDER], by default build/site.

Gathers README.md, CONTRIBUTING.md, CHANGELOG.md, docs/ and the figures with their paths here, writes the references of the
Python package and of every room's headers from their comments, and lets mkdocs build all of it strictly. Then it checks that
every link inside leads somewhere and that no page loads anything from elsewhere. Needs Debian's mkdocs-material.
"""
import ast
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parent.parent
GATHERED = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "calibrate/README.md", "docs", "plots/figures",
            "examples"]
WIDEST = 90  # letters of a signature on one line
STYLE = """/* Tables and the program's output are wide: they scroll by themselves, and their text is small. */
.md-typeset pre > code { font-size: 0.58rem; }
.md-typeset td:first-child code { white-space: nowrap; }
.md-typeset table:not([class]) { font-size: 0.66rem; }
.md-typeset table:not([class]) th { min-width: 0; padding: 0.4em 0.7em; }
.md-typeset table:not([class]) td { padding: 0.4em 0.7em; }
.md-typeset p > img { background: white; }
.md-grid { max-width: 70rem; }
"""


# --- gathering ---

def for_mkdocs(text):
    """GitHub begins a list right below a paragraph, Python-Markdown only below an empty line."""
    lines, fenced, listed = [], False, False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        item = re.match(r"(-|\d+\.) ", line) and not fenced
        if item and not listed and lines and lines[-1].strip():
            lines.append("")
        listed = bool(item) or (listed and line.startswith(" ")) or (listed and not line.strip())
        lines.append(line)
    return "\n".join(lines)


def gather(stage):
    for name in GATHERED:
        source, target = SOURCE / name, stage / name
        if not source.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, target)
    for page in stage.rglob("*.md"):
        page.write_text(for_mkdocs(page.read_text(encoding="utf-8")), encoding="utf-8")
    (stage / "site.css").write_text(STYLE, encoding="utf-8")


# --- references ---

def header_page(room, files):
    lines = [f"# {room}", "", room_sentence(room), ""]
    for file in files:
        text = file.read_text(encoding="utf-8")
        about = re.match(r"(?://[^\n]*\n)*", text)[0]
        code = re.sub(r"#pragma once\n|#include [^\n]*\n", "", text[len(about):]).strip()
        code = re.sub(r"\n* private:\n(?:(?!\};).*\n)*", "\n", code)
        words = "\n".join(line[2:].removeprefix(" ") for line in about.strip().split("\n"))
        lines += [f"## {file.relative_to(SOURCE).as_posix()}", "", comment(words), "", "```cpp", re.sub(r"\n{3,}", "\n\n", code),
                  "```", ""]
    return "\n".join(lines)


def comment(words):
    """A comment's words as Markdown: what stands further in is as it is written, the rest has no mark-up."""
    out, block = [], False
    for line in words.split("\n"):
        indented = line.startswith("  ") and not re.match(r"\s+- ", line)
        if indented and not block:
            out += ["", "```text"]
        if not indented and block:
            out += ["```", ""]
        block = indented
        out.append(line if block else re.sub(r"([*_<>\[\]])", r"\\\1", line.strip()))
    return for_mkdocs("\n".join(out + ["```"] if block else out))


def room_sentence(room):
    found = re.search(rf"^\| `{room}` \| (.*) \|$", (SOURCE / "docs/architecture.md").read_text(encoding="utf-8"), re.M)
    return f"{found[1][0].upper()}{found[1][1:]}." if found else ""


def write_rooms(stage):
    """A page for each room, in the order of sim/CMakeLists.txt; their names."""
    order = re.findall(r"^slmsim_room\((\w+)", (SOURCE / "sim/CMakeLists.txt").read_text(encoding="utf-8"), re.M)
    (stage / "api").mkdir()
    for room in order:
        files = sorted((SOURCE / "sim" / room).rglob("*.h"))
        (stage / "api" / f"{room}.md").write_text(header_page(room, files), encoding="utf-8")
    return order


def signature(function):
    """As it is written, without `self`."""
    arguments = ast.unparse(function.args).removeprefix("self").removeprefix("cls").removeprefix(", ")
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    text = f"{function.name}({arguments}){returns}"
    if len(text) <= WIDEST:
        return text
    # Splits at commas between arguments, not inside brackets.
    parts = re.sub(r", (?=(?:\*, )?\w+: |\*,)", ",\n    ", arguments)
    return f"{function.name}(\n    {parts},\n){returns}"


def is_shown(node):
    return isinstance(node, ast.FunctionDef) and (not node.name.startswith("_"))


def member(node):
    decorators = [ast.unparse(one) for one in node.decorator_list]
    is_value = any(one in ("property", "cached_property") for one in decorators)
    text = f"{node.name}: {ast.unparse(node.returns)}" if is_value and node.returns else signature(node)
    return ["```python", text, "```", "", ast.get_docstring(node) or "", ""]


def write_python(stage):
    package = SOURCE / "python/slmsim"
    lines = ["# Python package", "", ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))), "",
             "How to use it: [Python](../docs/python.md).", ""]
    nodes = {}
    for file in sorted(package.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                nodes[node.name] = node
    public = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    names = next(ast.literal_eval(node.value) for node in public.body
                 if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    for name in sorted((name for name in names if name in nodes), key=lambda name: (name[0].isupper(), name)):
        node = nodes[name]
        lines += [f"## {name}", ""]
        if isinstance(node, ast.FunctionDef):
            lines += member(node)
            continue
        lines += [ast.get_docstring(node) or "", ""]
        for inner in node.body:
            if isinstance(inner, ast.AnnAssign):
                lines += ["```python", ast.unparse(inner), "```", ""]
            elif is_shown(inner):
                lines += member(inner)
    (stage / "api" / "python.md").write_text("\n".join(lines), encoding="utf-8")


# --- checks ---

class Page(html.parser.HTMLParser):
    """What a page links to, loads and can be linked at."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.anchors.update(of for of in (known.get("id"), known.get("name")) if of)
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        for name in ("src", "href", "srcset", "data"):
            # A canonical link or a preconnection would also name another place.
            if tag != "a" and known.get(name):
                self.loads.append(known[name])


def problems_of(site):
    pages = {file: Page(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        if file.name == "404.html":  # served at any path
            continue
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            where = file.relative_to(site).as_posix()
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    yield f"{where}: loads {link} from elsewhere"
                continue
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{where}: {link} leads nowhere"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: {link} has no such place"
    for style in site.rglob("*.css"):
        for found in re.findall(r"url\((?:\"|')?(https?:)?//[^)]*\)|@import[^;]*https?:", style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: loads from elsewhere: {found}"


def build(folder):
    with tempfile.TemporaryDirectory(prefix="slmsim-site-") as work:
        stage = pathlib.Path(work, "pages")
        stage.mkdir()
        gather(stage)
        rooms = write_rooms(stage)
        write_python(stage)
        config = (SOURCE / "mkdocs.yml").read_text(encoding="utf-8")
        entries = "\n".join(f"      - sim/{room}: api/{room}.md" for room in rooms)
        config = config.replace("docs_dir: .", f"docs_dir: {stage}").replace("      # rooms", entries)
        file = pathlib.Path(work, "mkdocs.yml")
        file.write_text(config, encoding="utf-8")
        subprocess.run(["/usr/bin/mkdocs", "build", "--strict", "--quiet", "--config-file", file, "--site-dir", folder], check=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "0"})


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build/site").resolve()
    if not shutil.which("mkdocs", path="/usr/bin"):
        print("error: mkdocs is missing; apt-get install mkdocs-material", file=sys.stderr)
        return 2
    try:
        build(folder)
    except subprocess.CalledProcessError:
        return 1
    problems = list(problems_of(folder))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
