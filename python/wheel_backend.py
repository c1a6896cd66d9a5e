"""Build backend of `pip install .` (PEP 517): makes a wheel of what `cmake --install` installs.

None of the existing backends serves Debian 12 offline: it lacks scikit-build-core, and a fresh virtual environment there has
neither scikit-build, meson-python nor `wheel`, so that pip would download them. This one needs only the standard library and
the packages that a build needs anyway.

The wheel keeps the places that its files have below the prefix relative to each other: the package goes to site-packages,
bin/ to the environment's bin/, lib/ and share/ to its root. So the program and the module find their libraries and data.

    wheel_backend.py OUT [BUILD]   writes the wheel into the folder OUT, from the build tree BUILD if it is given

`pip install --config-settings build-dir=BUILD .` uses an existing build tree, which must be for the same Python.
"""
from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
TAG = "-".join((PYTHON, PYTHON, re.sub(r"[-.]", "_", sysconfig.get_platform())))
MODULE = "_core" + str(sysconfig.get_config_var("EXT_SUFFIX"))
PACKAGE = Path("lib/python3/dist-packages")  # SLMSIM_PYTHON_DIR


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, str] | None = None) -> str:
    """Writes what pip reads before it builds, and returns the folder's name."""
    name, files = _dist_info()
    folder = Path(metadata_directory, f"{name}.dist-info")
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text)
    return folder.name


def build_wheel(wheel_directory: str, config_settings: dict[str, str] | None = None,
                metadata_directory: str | None = None) -> str:
    """Writes the wheel and returns its name."""
    name, files = _dist_info()
    tree = _built((config_settings or {}).get("build-dir"))
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    target = Path(wheel_directory, f"{name}-{TAG}.whl")
    with tempfile.TemporaryDirectory(prefix="slmsim-wheel-") as folder:
        _run("cmake", "--install", str(tree), "--component", "slmsim", "--strip", "--prefix", folder, output=subprocess.DEVNULL)
        if not Path(folder, PACKAGE, "slmsim", MODULE).exists():
            sys.exit(f"error: {tree} has no module for Python {PYTHON[2]}.{PYTHON[3:]} ({MODULE}).\n  {_advice()}")
        with zipfile.ZipFile(target.with_suffix(".tmp"), "w", zipfile.ZIP_DEFLATED) as wheel:
            record = [_add(wheel, place, file.read_bytes(), file.stat().st_mode) for place, file in _places(Path(folder), name)]
            record += [_add(wheel, f"{name}.dist-info/{file}", text.encode()) for file, text in files.items()]
            record.append(f"{name}.dist-info/RECORD,,\n")
            _add(wheel, f"{name}.dist-info/RECORD", "".join(record).encode())
    target.with_suffix(".tmp").rename(target)
    return target.name


def build_sdist(sdist_directory: str, config_settings: dict[str, str] | None = None) -> str:
    sys.exit("error: slmsim has no source distribution; use its repository.")


def _built(given: str | None) -> Path:
    """The build tree with everything that a package contains."""
    # Relative to the source tree: pip may run this anywhere.
    tree = ROOT / (given or f"build/wheel-{PYTHON}")
    if not given:
        generator = ["-GNinja"] if shutil.which("ninja") else []
        _run("cmake", "-S", str(ROOT), "-B", str(tree), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DSLMSIM_TESTS=OFF",
             "-DSLMSIM_WERROR=OFF", "-DSLMSIM_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}")
    _run("cmake", "--build", str(tree), "--parallel", str(os.cpu_count() or 1), "--target", "slmsim_package")
    return tree


def _run(*words: str, output: IO[str] | int = sys.stderr) -> None:
    """Standard output is for the wheel's name."""
    try:
        subprocess.run(words, check=True, stdout=output)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}\n  {_advice()}")


def _advice() -> str:
    lists = 'source scripts/setup.sh; echo "${build_packages[@]}" "${module_packages[@]}"'
    packages = subprocess.run(["bash", "-c", lists], cwd=ROOT, check=False, capture_output=True, text=True).stdout.split()
    return "A build needs these packages of Debian 12:\n    apt-get install " + " ".join(packages)


def _places(prefix: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Each installed file with its place in the wheel."""
    for folder, folders, files in os.walk(prefix, followlinks=True):
        folders.sort()
        for file in sorted(Path(folder, file) for file in files):
            below = file.relative_to(prefix)
            if below.is_relative_to(PACKAGE):
                yield str(below.relative_to(PACKAGE)), file
            elif below.parts[0] == "bin":
                yield f"{name}.data/scripts/{below.name}", file
            else:
                yield f"{name}.data/data/{below}", file


def _add(wheel: zipfile.ZipFile, place: str, content: bytes, mode: int = 0o100644) -> str:
    """Stores a file and returns its line of RECORD. Equal contents give equal wheels, whenever they are built."""
    entry = zipfile.ZipInfo(place)
    entry.external_attr = mode << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{place},sha256={digest},{len(content)}\n"


def _dist_info() -> tuple[str, dict[str, str]]:
    """Name with version, and the files METADATA and WHEEL."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.search(r"^project\(slmsim VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert version, "CMakeLists.txt has no version"
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version[1]}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    wheel = ["Wheel-Version: 1.0", "Generator: slmsim", "Root-Is-Purelib: false", f"Tag: {TAG}"]
    return f"slmsim-{version[1]}", {"METADATA": "\n".join(lines) + "\n", "WHEEL": "\n".join(wheel) + "\n"}


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    print(build_wheel(sys.argv[1], {"build-dir": sys.argv[2]} if len(sys.argv) == 3 else None))
