#!/usr/bin/python3
"""From a move of a slider to new numbers on the page of `slmsim serve`, in Chromium.

    SLMSIM_BINARY=build/slmsim tests/bench/serve.py

Each move sets the round-trip time of a link to another value; the clock runs in the page, from the slider's event to the frame
behind the one in which its answer was drawn. Of 4 GPUs, of 64 that exchange by steps of rings, and of 64 in nodes that
describe their inside, which exchange chunk by chunk.
"""
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "browser"))
import serve_page  # noqa: E402

FOUR = """platform:
  name: four
  sites: {gat: {}, amst: {}}
  vms:
    gat: {site: gat, type: fabric-vm, gpus: [a30, a30]}
    amst: {site: amst, type: fabric-vm, gpus: [a30, a30]}
  links:
    wan: {between: [gat, amst], rtt: 103 ms, bandwidth: 10 Gbps, loss: 1e-5}
models: [gpt2m]
training: {batch: 8, epochs: 20, blocks_per_epoch: 570}
"""
SIXTY_FOUR = """platform:
  name: sixty-four
  sites: {{east: {{}}, west: {{}}}}
  vms:
    a: {{count: {0}, site: east, {1}}}
    b: {{count: {0}, site: west, {1}}}
  links:
    wan: {{between: [east, west], rtt: 20 ms, bandwidth: 100 Gbps, loss: 1e-6}}
models: [gpt2m]
techniques: {2}
groups: [all]
training: {{batch: 512, epochs: 1, blocks_per_epoch: 512000}}
"""
# Name, scenario, wanted milliseconds, moves.
CASES = [
    ("4 GPUs", FOUR, 150, 50),
    ("64 GPUs", SIXTY_FOUR.format(8, "type: fabric-vm, gpus: [a30, a30, a30, a30]", "{Data: {}, ZeRO2: {}, LocalSGD: {inner_steps: 100}}"), 500, 50),
    ("64 GPUs, NVLink", SIXTY_FOUR.format(4, f"type: dgx-a100, gpus: [{', '.join(['a100-80'] * 8)}]", "[DDP, FSDP, LocalSGD]"), 500, 50),
]
TIMED = """const [range, value, done] = [document.querySelector('#selection input[type=range]'), arguments[0], arguments[1]];
const root = document.documentElement, start = performance.now();
performance.clearResourceTimings();
const seen = new MutationObserver(() => {
  seen.disconnect();
  const asked = performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/api/view'));
  requestAnimationFrame(() => setTimeout(() => done([performance.now() - start, asked[0]?.duration ?? 0]), 0));
});
seen.observe(root, {attributes: true, attributeFilter: ['data-answered']});
range.value = value;
range.dispatchEvent(new Event('input', {bubbles: true}));"""


def seconds_of(process):
    """That it and what it started have computed."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        own = file.read().rpartition(")")[2].split()
    total = (int(own[11]) + int(own[12])) / os.sysconf("SC_CLK_TCK")
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children", encoding="utf-8") as file:
            total += sum(seconds_of(child) for child in file.read().split())
    return total


def measure(driver, server, text, moves):
    driver.get(server.address)
    serve_page.wait(lambda: driver.find_elements("css selector", "#work button"), "the page")
    area = driver.find_element("id", "yaml")
    serve_page.set_value(driver, area, text)
    serve_page.wait(lambda: "Train" in driver.find_element("id", "verdict").text, "the verdict")
    driver.execute_script("document.querySelector('.part.link').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    times, answers = [], []
    for move in range(moves + 3):
        if move == 3:  # the first ones start processes
            times, answers, before = [], [], seconds_of(server.process.pid)
        whole, answer = driver.execute_async_script(TIMED, 300 + (137 * move) % 600)
        times.append(whole)
        answers.append(answer)
    return sorted(times), statistics.median(answers), (seconds_of(server.process.pid) - before) / moves


def main():
    server = serve_page.Server(serve_page.where_missing("SLMSIM_BINARY"))
    profile = tempfile.mkdtemp()
    driver = serve_page.browser(profile)
    driver.set_script_timeout(serve_page.PATIENCE)
    try:
        for name, text, bound, moves in CASES:
            times, answer, computed = measure(driver, server, text, moves)
            print(f"{name}: median {statistics.median(times):.0f} ms of {moves} moves, from {times[0]:.0f} to {times[-1]:.0f} ms "
                  f"(wanted: under {bound} ms); of it {answer:.0f} ms for the answer, for which the server computed "
                  f"{1000 * computed:.0f} ms; load {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        driver.quit()
        shutil.rmtree(profile)
        server.end()


if __name__ == "__main__":
    main()
