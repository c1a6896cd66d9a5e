"""What the programs of this folder share: how they end with an error, and PyTorch, where it is and sees the device."""
import os
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
