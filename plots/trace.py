"""The trace of `slmsim run --trace`: tracks with their slices, and links with their rates."""
if __package__:
    from . import style
else:
    import style

WHAT = "the trace of `slmsim run --trace`"
PROCESSES = ("GPUs", "hosts and drives", "connections")  # in the order of the figures


class Track:
    def __init__(self, process, name, order):
        self.process, self.name, self.order = process, name, order
        self.slices = []  # (start, length, kind of work), in seconds


class Trace:
    def __init__(self, path):
        try:
            self.read(path)
        except (KeyError, TypeError, AttributeError):
            style.fail(path, f"an event lacks what it needs; {WHAT} is expected")

    def read(self, path):
        data = style.read_json(path, "traceEvents", WHAT)
        if not isinstance(data, dict) or "otherData" not in data:
            style.fail(path, f"no \"otherData\"; {WHAT} is expected")
        self.title = data["otherData"]["title"]
        self.end = data["otherData"]["iteration_s"]
        events = data["traceEvents"]
        processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        told = {name: {(e["pid"], e["tid"]): e["args"] for e in events if e["ph"] == "M" and e["name"] == name}
                for name in ("thread_name", "thread_sort_index")}
        tracks, self.links = {}, {}
        for event in events:
            if event["ph"] == "X" and processes.get(event["pid"]) in PROCESSES:
                key = event["pid"], event["tid"]
                if key not in tracks:
                    process = PROCESSES.index(processes[event["pid"]])
                    place = told["thread_sort_index"].get(key, {}).get("sort_index", event["tid"])
                    tracks[key] = Track(PROCESSES[process], told["thread_name"].get(key, {}).get("name", ""), (process, place))
                tracks[key].slices.append((event["ts"] / 1e6, event["dur"] / 1e6, event.get("cat", "")))
            elif event["ph"] == "C":
                steps = self.links.setdefault(event["name"], [])
                steps.append((event["ts"] / 1e6, event["args"]["MB/s"]))
        self.tracks = sorted(tracks.values(), key=lambda track: track.order)
        if not any(track.process == "GPUs" for track in self.tracks):
            style.fail(path, f"no GPU does anything; {WHAT} is expected")


def scale_of(end):
    """A unit for times up to `end` seconds."""
    return (1.0, "s") if end >= 2 else (1e3, "ms")
