"""The trace of `slmsim run --trace`: tracks by name, with their slices, and links with their rates."""
import style

WHAT = "the trace of `slmsim run --trace`"


class Trace:
    def __init__(self, path):
        data = style.read_json(path, "traceEvents", WHAT)
        if not isinstance(data, dict) or "otherData" not in data:
            style.fail(path, f"no \"otherData\"; {WHAT} is expected")
        self.title = data["otherData"]["title"]
        self.end = data["otherData"]["iteration_s"]
        names = {}
        self.gpus, self.connections, self.links = {}, {}, {}
        for event in data["traceEvents"]:
            if event["ph"] == "M" and event["name"] == "process_name":
                names[event["pid"]] = event["args"]["name"]
            elif event["ph"] == "M" and event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
        for event in data["traceEvents"]:
            process = names.get(event["pid"])
            if event["ph"] == "X" and process in ("GPUs", "connections"):
                tracks = self.gpus if process == "GPUs" else self.connections
                slices = tracks.setdefault(names[event["pid"], event["tid"]], [])
                slices.append((event["ts"] / 1e6, event["dur"] / 1e6, event["name"]))
            elif event["ph"] == "C":
                steps = self.links.setdefault(event["name"], [])
                steps.append((event["ts"] / 1e6, event["args"]["MB/s"]))
        if not self.gpus:
            style.fail(path, f"no GPU does anything; {WHAT} is expected")


def scale_of(end):
    """A unit for times up to `end` seconds."""
    return (1.0, "s") if end >= 2 else (1e3, "ms")
