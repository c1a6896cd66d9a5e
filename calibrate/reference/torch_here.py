"""What the programs of this folder share: how they end with an error, PyTorch, where it is and sees the device, what they note
of a step, and how they write."""
import os
import statistics
import sys


def fail(text):
    print(f"{os.path.basename(sys.argv[0])}: error: {text}", file=sys.stderr)
    sys.exit(2)


def load_torch(device):
    """PyTorch for the device "cuda" or "cpu"; without it, or without a GPU that it sees, the program fails."""
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch is not installed ({error})")
    if device == "cuda" and not torch.cuda.is_available():
        fail("PyTorch sees no GPU (nvidia-smi and CUDA_VISIBLE_DEVICES list the visible ones)")
    return torch


def spread(values):
    values = sorted(values)
    return {"median": statistics.median(values), "least": values[0], "most": values[-1], "count": len(values)}


class Memory:
    """Bytes of tensors on the GPU at the end of each phase of a step, and the most within it."""

    def __init__(self, torch, device):
        self.cuda = torch.cuda if device.type == "cuda" else None
        self.at = {}

    def note(self, phase):
        if self.cuda:
            end, peak = self.cuda.memory_allocated(), self.cuda.max_memory_allocated()
            peak = max(peak, self.at.get(phase, {}).get("peak", 0))
            self.at[phase] = {"end": end, "peak": peak}
            self.cuda.reset_peak_memory_stats()

    def outside(self):
        """What the GPU holds beside PyTorch's pool: the CUDA context, its modules, and other programs."""
        free, total = self.cuda.mem_get_info()
        return total - free - self.cuda.memory_reserved()


def write_file(name, write):
    """The file is whole at any time: write(file) fills another one, which takes its place."""
    with open(name + ".tmp", "w", encoding="utf-8", newline="") as file:
        write(file)
    os.replace(name + ".tmp", name)
