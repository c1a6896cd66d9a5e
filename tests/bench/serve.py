#!/usr/bin/python3
"""From a move of a slider to new numbers on the page of `slmsim serve`, in Chromium: median of 50 moves each.

    SLMSIM_BINARY=build/slmsim tests/bench/serve.py            # 4 and 64 GPUs

Each move sets the round-trip time of a link to another value; the clock runs in the page, from the slider's event to the frame
behind the one in which the verdict was drawn anew.
"""
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "browser"))
import serve_page  # noqa: E402

MOVES = 50
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
NODE = "type: dgx-a100, gpus: [" + ", ".join(["a100-80"] * 8) + "]"
SIXTY_FOUR = f"""platform:
  name: sixty-four
  sites: {{east: {{}}, west: {{}}}}
  vms:
    a: {{count: 4, site: east, {NODE}}}
    b: {{count: 4, site: west, {NODE}}}
  links:
    wan: {{between: [east, west], rtt: 20 ms, bandwidth: 100 Gbps, loss: 1e-6}}
models: [gpt2m]
techniques: [DDP, FSDP, LocalSGD, Megatron]
groups: [all]
training: {{batch: 512, epochs: 1, blocks_per_epoch: 512000}}
"""
TIMED = """const [range, value, done] = [document.querySelector('#selection input[type=range]'), arguments[0], arguments[1]];
const verdict = document.getElementById('verdict'), start = performance.now();
const seen = new MutationObserver(() => {
  if (verdict.textContent.includes('predicting')) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
});
seen.observe(verdict, {childList: true, subtree: true});
range.value = value;
range.dispatchEvent(new Event('input', {bubbles: true}));"""


def measure(driver, server, name, text):
    with open(os.path.join(server.folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    driver.get(server.address)
    serve_page.wait(driver, lambda: driver.find_elements("css selector", "#work button"), "the page")
    area = driver.find_element("id", "yaml")
    serve_page.set_value(driver, area, text)
    serve_page.wait(driver, lambda: "Train" in driver.find_element("id", "verdict").text, "the verdict")
    driver.execute_script("document.querySelector('.part.link').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    times = []
    for move in range(MOVES + 5):
        times.append(driver.execute_async_script(TIMED, 300 + (137 * move) % 600))
    return sorted(times[5:])  # the first ones start processes


def main():
    server = serve_page.Server(serve_page.where_missing("SLMSIM_BINARY"))
    profile = tempfile.mkdtemp()
    driver = serve_page.browser(profile)
    driver.set_script_timeout(serve_page.PATIENCE)
    try:
        for name, text, bound in (("four", FOUR, 150), ("sixty-four", SIXTY_FOUR, 500)):
            times = measure(driver, server, name, text)
            print(f"{name} GPUs: median {statistics.median(times):.0f} ms of {MOVES} moves, "
                  f"from {times[0]:.0f} to {times[-1]:.0f} ms (wanted: under {bound} ms)")
    finally:
        driver.quit()
        shutil.rmtree(profile)
        server.end()


if __name__ == "__main__":
    main()
