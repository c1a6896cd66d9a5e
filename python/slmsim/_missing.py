"""The words of `import slmsim` where its compiled module is not built."""
import os
import sys
import sysconfig


def advice() -> str:
    """What is missing, and which commands build it."""
    folder = os.path.dirname(os.path.abspath(__file__))
    own = f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    others = sorted(name for name in os.listdir(folder) if name.startswith("_core.") and name.endswith(".so"))
    lines = [f"slmsim's compiled module {own} is missing in", f"  {folder}"]
    configure = "cmake build"
    if others:
        lines.append(f"which has one for another Python ({', '.join(others)}).")
        configure = f"cmake -DPython3_EXECUTABLE={sys.executable} build"
    lines += ["Build it in slmsim's source tree, after scripts/quickstart.sh:",
              "  sudo apt-get install python3-dev pybind11-dev",
              f"  {configure} && cmake --build build --target slmsim_python",
              "  PYTHONPATH=build/python python3"]
    return "\n".join(lines)
