#!/usr/bin/env python3
"""Times PyTorch's causal attention, which CUDA's own libraries lack: flash-forward and flash-backward of a profile.

Writes CSV in slmsim's own columns, for `slmsim import csv FILE --where backend=flash`: kernel, precision, batch (heads
of all sequences), m (queries), n (keys), k (a head's width), seconds (median of one launch in a row of launches, by
CUDA events, on data beyond the L2 cache), low and high (quartiles), samples, and the backend of
scaled_dot_product_attention: flash, efficient, cudnn, or math (separate kernels). The file is whole after each size, and
the same command skips what it holds.

  torch_attention.py --output flash.csv

--device cpu tries the program out. Exit status: 0 done, 2 bad usage, no PyTorch or no GPU.
"""
import argparse
import csv
import os
import statistics
import sys
import time

from torch_here import fail, load_torch, write_file

COLUMNS = ("kernel", "precision", "batch", "m", "n", "k", "seconds", "low", "high", "samples", "backend", "gpu")
BACKENDS = ("flash", "efficient", "math", "cudnn")


def numbers(text):
    return [int(word) for word in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=numbers, default=[1024, 2048, 512, 4096], help="lengths of sequences")
    parser.add_argument("--widths", type=numbers, default=[64, 128], help="widths of a head")
    parser.add_argument("--heads", type=numbers, default=[192, 48, 12],
                        help="heads of all sequences at length 1024; fewer of longer ones")
    parser.add_argument("--precisions", default="bf16,fp16", help="bf16, fp16, fp32")
    parser.add_argument("--backends", default=",".join(BACKENDS[:3]), help=", ".join(BACKENDS))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--point", type=float, default=0.04, help="measured seconds per size and pass")
    parser.add_argument("--budget", type=float, help="seconds of the whole run; no size starts later")
    parser.add_argument("--output", default="flash.csv")
    return parser.parse_args()


def only(torch, backend):
    """Leaves this backend of scaled_dot_product_attention on, by switches that PyTorch has had since 2.0."""
    switches = torch.backends.cuda
    for name, switch in (("flash", "enable_flash_sdp"), ("efficient", "enable_mem_efficient_sdp"),
                         ("math", "enable_math_sdp"), ("cudnn", "enable_cudnn_sdp")):
        if hasattr(switches, switch):
            getattr(switches, switch)(name == backend)


class Clock:
    """Seconds of a row of launches: on a GPU of a CUDA graph, by events, since the host is slower than short kernels."""

    def __init__(self, torch, on_gpu):
        self.torch, self.on_gpu = torch, on_gpu
        self.graphs = on_gpu
        if on_gpu:  # a graph is not captured on the default stream, and gradients run on the stream of their forward pass
            self.stream = torch.cuda.Stream()
            torch.cuda.set_stream(self.stream)

    def row(self, act, launches):
        """What launches a row."""
        def plain():
            for index in range(launches):
                act(index)
        if not self.graphs:
            return plain
        try:
            graph = self.torch.cuda.CUDAGraph()
            with self.torch.cuda.graph(graph, stream=self.stream):
                plain()
            return graph.replay
        except RuntimeError as error:
            print(f"torch_attention.py: without CUDA graphs: {str(error).splitlines()[0]}", file=sys.stderr)
            self.graphs = False
            return plain

    def seconds(self, launch):
        if not self.on_gpu:
            begun = time.perf_counter()
            launch()
            return time.perf_counter() - begun
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        launch()
        stop.record()
        stop.synchronize()
        return 1e-3 * start.elapsed_time(stop)

    def median(self, act, limit):
        """Median and quartiles of samples of about a millisecond each, and how many there were."""
        act(0)
        act(0)
        launches = max(1, min(50, int(1e-3 / max(self.seconds(lambda: act(0)), 1e-7))))
        launch = self.row(act, launches)
        launch()
        samples, begun = [], time.monotonic()
        while len(samples) < 9 or (time.monotonic() - begun < limit and len(samples) < 200):
            samples.append(self.seconds(launch) / launches)
        low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
        return middle, low, high, len(samples)


def times(torch, clock, device, size, dtype, limit):
    """Of the forward and the backward pass; sets of inputs that together exceed the L2 cache take turns."""
    heads, length, width = size
    each = 4 * heads * length * width * torch.finfo(dtype).bits // 8
    count = max(1, min(16, (128 << 20) // each)) if clock.on_gpu else 1
    sets = [[torch.randn(1, heads, length, width, device=device, dtype=dtype, requires_grad=True) for _ in range(3)]
            for _ in range(count)]
    gradient = torch.randn(1, heads, length, width, device=device, dtype=dtype)
    attention = torch.nn.functional.scaled_dot_product_attention
    with torch.no_grad():
        forward = clock.median(lambda i: attention(*sets[i % count], is_causal=True), limit)
    outputs = [attention(*inputs, is_causal=True) for inputs in sets]
    backward = clock.median(
        lambda i: torch.autograd.grad(outputs[i % count], sets[i % count], gradient, retain_graph=True), limit)
    return {"flash-forward": forward, "flash-backward": backward}


def sizes_of(options):
    for heads in options.heads:
        for length in options.lengths:
            for width in options.widths:
                yield max(1, heads * 1024 // length), length, width


def main():
    options = arguments()
    begun = time.monotonic()
    torch = load_torch(options.device)
    on_gpu = options.device == "cuda"
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        fail(f"PyTorch {torch.__version__} has no scaled_dot_product_attention; 2.0 is the first that has")
    dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    gpu = torch.cuda.get_device_name() if on_gpu else "none"
    rows = []
    if os.path.exists(options.output):
        with open(options.output, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
    known = {(row[1], *row[2:6], row[10]) for row in rows}
    clock = Clock(torch, on_gpu)
    # All points of one backend and precision before the next.
    for backend, precision in ((b, p) for b in options.backends.split(",") for p in options.precisions.split(",")):
        only(torch, backend)
        for heads, length, width in sizes_of(options):
            if options.budget and time.monotonic() - begun > options.budget:
                print("torch_attention.py: the time is up", file=sys.stderr)
                return
            key = (str(heads), str(length), str(length), str(width))
            if (precision, *key, backend) in known:
                continue
            try:
                measured = times(torch, clock, options.device, (heads, length, width), dtypes[precision], options.point)
            except RuntimeError as error:  # this backend does not support the size, or memory does not suffice
                print(f"{backend} {precision} {heads}x{length}x{width}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            for kernel, (middle, low, high, samples) in measured.items():
                rows.append([kernel, precision, *key, *(f"{value:.4g}" for value in (middle, low, high)), samples,
                             backend, gpu])
                print(f"{backend} {precision} {kernel} {heads}x{length}x{width}: {1e6 * middle:.1f} us", file=sys.stderr)
            write_file(options.output, lambda file: csv.writer(file).writerows([COLUMNS, *rows]))


if __name__ == "__main__":
    main()
