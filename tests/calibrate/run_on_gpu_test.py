#!/usr/bin/env python3
"""run_on_gpu.sh with stand-ins for the GPU's programs: order, bounds, failures, hangs, interruptions, resumption."""
import os
import re
import signal
import subprocess
import tempfile
import unittest

ROOT = os.environ["SLMSIM_SOURCE_DIR"]
SCRIPT = os.path.join(ROOT, "calibrate/run_on_gpu.sh")

# Each stand-in notes its call in $CALLS. The step named by $FAIL fails with status $STATUS; that named by $INTERRUPT is
# interrupted as by Ctrl-C. `timeout` notes the seconds and lets what $HANG names hang until they are over, at once.
COMMON = """#!/bin/bash
act() {  # act STEP
  echo "$1" >> "$CALLS"
  [[ ${FAIL-} == "$1" ]] && exit "${STATUS:-7}"
  [[ ${INTERRUPT-} == "$1" ]] && trap - INT && kill -INT 0 && sleep 60
  return 0
}
value_of() {  # value_of OPTION WORD...
  local option=$1
  shift
  while (($#)); do [[ $1 == "$option" ]] && echo "$2"; shift; done
}
"""
STAND_INS = {
    "nvidia-smi": """
case "$*" in
  --list-gpus) for ((i = 0; i < ${GPUS:-1}; ++i)); do echo "GPU $i: Stand-in"; done ;;
  *compute_cap*) echo 9.0 ;;
  *--loop-ms*) echo "a sample of $*"; exec sleep 600 ;;
  *clocks_event_reasons*) exit 1 ;;
  *) echo machine ;;
esac
""",
    "nvcc": "echo sm_90\n",
    "cmake": """
case $1 in
  --version) ;;
  --build) act build; mkdir -p "$2"; cp "$(dirname "$0")/slmsim-calibrate" "$2" ;;
  *) act configure ;;
esac
""",
    "slmsim-calibrate": """
[[ $1 == info ]] && echo info && exit
out=$(value_of --output "$@")
case $1 in
  all) if [[ -e $out.journal ]]; then act resumed; else : > "$out.journal"; act kernels; fi
       echo profile > "$out"; [[ ${UNFINISHED-} ]] || rm "$out.journal" ;;
  nccl) act nccl; echo profile > "$out" ;;
  *) act gemm ;;
esac
""",
    "python3": """
out=$(value_of --output "$@")
case $1 in
  */torch_step.py) act torch; echo '[]' > "$out"; echo rows > "$(value_of --kernels "$@")" ;;
  *) act flash; echo rows > "$out" ;;
esac
""",
    "torchrun": """act torch-ddp; echo '[]' > "$(value_of --output "$@")"\n""",
    "timeout": """
while [[ $1 == -* ]]; do shift; done
limit=$1
shift
[[ $* == *torch_step.py* ]] && name=torch || name=$(basename "$1")
echo "$limit" >> "$LIMITS"
[[ ${HANG-} && $* == *"$HANG"* ]] && echo "hangs" >> "$CALLS" && exit 124
exec "$@"
""",
}
ONE_GPU = ["configure", "build", "torch", "flash", "kernels", "gemm"]
FILES = ["clocks.csv", "flash.csv", "gpu.yaml", "info.txt", "kernels.csv", "log.txt", "steps.json"]


class RunOnGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.bin = os.path.join(self.folder, "bin")
        self.out = os.path.join(self.folder, "out put")
        os.mkdir(self.bin)
        for name, text in STAND_INS.items():
            file = os.path.join(self.bin, name)
            with open(file, "w", encoding="utf-8") as stand_in:
                stand_in.write(COMMON + text)
            os.chmod(file, 0o755)

    def read(self, name):
        file = os.path.join(self.folder, name)
        if not os.path.exists(file):
            return ""
        with open(file, encoding="utf-8") as text:
            return text.read()

    def run_script(self, *words, **environment):
        """The script's end, what was called, and the seconds that each command had."""
        for name in ("calls", "limits"):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
                pass
        environment = {**os.environ, "PATH": self.bin + ":/usr/bin:/bin", "BUILD": os.path.join(self.folder, "build"),
                       "CALLS": os.path.join(self.folder, "calls"), "LIMITS": os.path.join(self.folder, "limits"),
                       **environment}
        # A session of its own, so that the stand-in's Ctrl-C reaches the script and its children only.
        done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, env=environment,
                              start_new_session=True)
        return done, self.read("calls").split(), [int(line) for line in self.read("limits").split()]

    def test_takes_all_steps_in_order_within_the_minutes(self):
        done, calls, limits = self.run_script("--minutes", "8", self.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(calls, ONE_GPU)
        self.assertEqual(sorted(os.listdir(self.out)), FILES)
        self.assertLessEqual(max(limits), 470)
        clocks = self.read("out put/clocks.csv")
        self.assertIn("clocks_throttle_reasons.active", clocks)  # the driver does not know the newer word
        self.assertRegex(clocks, r"# \S+ \S+ kernels-1 begins\n")
        self.assertIn("== done", self.read("out put/log.txt"))

    def test_collectives_and_data_parallel_steps_need_several_gpus(self):
        done, calls, _ = self.run_script(self.out, GPUS="2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(calls, [*ONE_GPU, "nccl", "torch-ddp"])

    def test_later_steps_have_what_earlier_ones_left_and_none_begins_late(self):
        _, _, early = self.run_script("--minutes", "8", self.out, "torch", "kernels")
        _, _, late = self.run_script("--minutes", "8", self.out, "torch", "kernels", SECONDS="400")
        self.assertGreater(max(early), 200)
        self.assertLessEqual(max(late), 70)
        done, calls, _ = self.run_script("--minutes", "8", self.out, "build", "gemm", SECONDS="471")
        self.assertEqual((done.returncode, calls), (1, []))
        self.assertIn("== gemm: no time left", done.stdout)

    def test_a_failed_step_stops_no_other(self):
        for step in ONE_GPU:
            with self.subTest(step):
                out = os.path.join(self.folder, step)
                done, calls, _ = self.run_script(out, FAIL=step)
                self.assertEqual(done.returncode, 1)
                # Without its program slmsim-calibrate takes no step.
                able = {"torch", "flash"} if step in ("configure", "build") else set(ONE_GPU)
                self.assertLessEqual(able | {step}, set(calls))
                self.assertRegex(done.stdout, rf"== failed: .*{step}")

    def test_a_hanging_step_stops_no_other(self):
        for step, hanging in (("torch", "torch_step.py"), ("flash", "torch_attention.py"), ("kernels", "calibrate all"),
                              ("gemm", "compare"), ("build", "--build")):
            with self.subTest(step):
                done, calls, _ = self.run_script(os.path.join(self.folder, step), HANG=hanging)
                self.assertEqual(done.returncode, 1)
                self.assertIn("hangs", calls)
                self.assertNotIn(step, calls)
                self.assertRegex(done.stdout, rf"== {step}[-0-9]*: status 124")
                self.assertTrue({"torch", "flash"} - {step} <= set(calls))

    def test_a_hanging_step_is_ended_in_time(self):
        os.remove(os.path.join(self.bin, "timeout"))
        with open(os.path.join(self.bin, "python3"), "w", encoding="utf-8") as hangs:
            hangs.write("#!/bin/bash\nexec sleep 600\n")
        done, _, _ = self.run_script("--minutes", "1", self.out, "flash", SECONDS="48")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "== flash: status 124 after [0-9] s")

    def test_an_interrupted_run_resumes(self):
        for step in ONE_GPU:
            with self.subTest(step):
                out = os.path.join(self.folder, "interrupted " + step)
                done, calls, _ = self.run_script(out, INTERRUPT=step)
                self.assertIn(done.returncode, (130, -signal.SIGINT), done.stdout + done.stderr)
                self.assertEqual(calls[-1], step)  # none after it
                done, calls, _ = self.run_script(out)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(sorted(os.listdir(out)), FILES)
                self.assertEqual("resumed" in calls, step == "kernels")
                self.assertEqual("kernels" in calls, step not in ("kernels", "gemm"))

    def test_kernels_are_done_once_their_journal_is_gone(self):
        self.run_script(self.out, "build", "kernels", UNFINISHED="yes")
        self.assertEqual(self.run_script(self.out, "kernels")[1], ["resumed"])
        done, calls, _ = self.run_script(self.out, "kernels")
        self.assertEqual((done.returncode, calls), (0, []))
        self.assertIn("done before", done.stdout)

    def test_pytorch_is_taken_up_where_it_broke_off_and_not_where_it_ended(self):
        for status, attempts in (("1", 6), ("3", 1), ("2", 1)):
            done, calls, _ = self.run_script(self.out, "torch", FAIL="torch", STATUS=status)
            self.assertEqual((done.returncode, len(calls)), (1, attempts))

    def test_kernels_that_bring_the_program_down_are_taken_up(self):
        done, calls, _ = self.run_script(self.out, "build", "kernels", FAIL="kernels")
        self.assertEqual(calls, ["configure", "build", "kernels", "resumed"])
        self.assertEqual(done.returncode, 1)

    def test_says_what_is_wrong(self):
        for words, text in ((["--minutes", "x", self.out], "a whole number from 1"), (["--minutes"], "a whole number"),
                            ([self.out, "all", "nothing"], "unknown step")):
            done, calls, _ = self.run_script(*words)
            self.assertEqual((done.returncode, calls), (2, []))
            self.assertIn(text, done.stderr)
        done, _, _ = self.run_script(self.out, GPUS="0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no NVIDIA GPU", done.stderr)
        self.assertEqual(self.run_script(self.out, "build", GPUS="0")[1], ["configure", "build"])
        self.assertEqual(self.run_script("--help")[0].returncode, 0)
        self.assertEqual(self.run_script()[0].returncode, 2)

    def test_help_names_all_steps(self):
        text = self.run_script("--help")[0].stdout
        self.assertEqual(re.findall(r"^  (\w+) ", text, re.M), ["build", "info", "torch", "flash", "kernels", "gemm", "nccl"])


if __name__ == "__main__":
    unittest.main()
