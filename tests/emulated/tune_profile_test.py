"""stax-tune and stax-profile with --device=emu: the same numbers always, and counters worked out by hand.

tune_profile_test.py STAX_COMPILE STAX_TUNE STAX_PROFILE STAX_CAT
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TOOLS = dict(zip(("compile", "tune", "profile", "cat"), map(os.path.abspath, sys.argv[1:5])))

ROWS, COLUMNS = 96, 1024
ELEMENTS = ROWS * COLUMNS
POINTWISE = """
name: "pointwise"
input { name: "x" dtype: "f32" dims: "%d" dims: "%d" }
input { name: "w" dtype: "f32" dims: "%d" dims: "%d" }
node { op: "mul" input: "x" input: "w" output: "a" }
node { op: "add" input: "a" input: "w" output: "y" }
output: "y"
""" % (2 * (ROWS, COLUMNS))
# Through shared memory: the sums of several warps meet there.
SUM = """
name: "sum"
symbol { name: "n" hint: 8 }
input { name: "x" dtype: "f32" dims: "n" dims: "4096" }
node { op: "sum" input: "x" output: "y" axes: -1 }
output: "y"
"""
# Rows that stay in registers on the GPU and would not fit into those of the CPU, where the reference is computed.
SOFTMAX = """
name: "softmax"
input { name: "x" dtype: "bf16" dims: "270" dims: "16384" }
node { op: "softmax" input: "x" output: "y" axes: -1 }
output: "y"
"""

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, good, what=""):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED  %s: %s" % (name, what))


def run(tool, *args, code=0):
    done = subprocess.run([TOOLS[tool], *args], capture_output=True, text=True, timeout=240)
    check("%s %s: exit code" % (tool, args), done.returncode == code, "%d; %s" % (done.returncode, done.stderr))
    return done


def content(path):
    with open(path, "rb") as f:
        return f.read()


def printed(path):
    return json.loads(run("cat", path, "--json").stdout)


def undated(text):
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "DATE", text)


def tune(name):
    """Twice without a store, and once more with one that has another device's times."""
    for i in "12":
        run("tune", name + ".stax", "--device=emu", "--quiet", "-o", name + i + ".stax")
    check(name + ": tuned twice", content(name + "1.stax") == content(name + "2.stax"), "other bytes")
    for record in printed(name + "1.stax")["tuning"]:
        check(name + ": a winner", "winner" in record)
        check(name + ": device", record["device"] == "Stax emulator of an H200", record["device"])
        check(name + ": timing", record["timing"].startswith("cost model ") and "not measured" in record["timing"],
              record["timing"])
        for measurement in record["measurements"]:
            check(name + ": measurement", measurement["status"] == "ok", measurement)
            check(name + ": one time", set(measurement["samplesNs"]) == {measurement["medianNs"]}, measurement)


def profile(name):
    texts, pages, reports = [], [], []
    for i in "12":
        args = [name + "1.stax", "--device=emu", "--quiet", "--html=page", "-o", "report"]
        texts.append(undated(run("profile", *args).stdout))
        pages.append(undated(content("page").decode()))
        report = printed("report")
        report.pop("date")
        reports.append(report)
    check(name + ": profiled twice", texts[0] == texts[1] and pages[0] == pages[1] and reports[0] == reports[1])
    report, page = reports[0], pages[0]
    check(name + ": the table says modelled", " modelled " in texts[0] and " measured " not in texts[0].split("\n")[1])
    check(name + ": the page says modelled", "<th>modelled µs</th>" in page and "<th>measured" not in page)
    check(name + ": the page says that the device was not measured", "<h2>Device, not measured</h2>" in page)
    for kernel in report["kernels"]:
        terms = kernel["emulated"]
        largest = max(terms.get(t + "Ns", 0) for t in ("dram", "l2", "l1", "issue", "tensor", "latency"))
        check(name + ": time", kernel["measuredNs"] == terms["launchNs"] + largest, kernel)
        check(name + ": distinct reads", int(terms["distinctReadBytes"]) == kernel["readBytes"], kernel)
    return report, page


def pointwise(target):
    name = "pointwise_" + target
    run("compile", "pointwise.textproto", "--target=cuda:" + target, "-o", name + ".stax")
    tune(name)
    report, page = profile(name)
    check(name + ": kernels", len(report["kernels"]) == 1)
    got = report["kernels"][0]["emulated"]
    # Two inputs read and one output written, all of their sectors once.
    want = {"loadSectorBytes": 2 * 4 * ELEMENTS, "storeSectorBytes": 4 * ELEMENTS,
            "distinctReadBytes": 2 * 4 * ELEMENTS, "distinctWriteBytes": 4 * ELEMENTS,
            "flopsF32": 2 * ELEMENTS, "sharedWavefronts": 0, "sharedBankConflicts": 0}
    for field, value in want.items():
        check("%s: %s" % (name, field), int(got.get(field, 0)) == value, "%s, not %d" % (got.get(field), value))
    check(name + ": DRAM time", abs(got["dramNs"] - 3 * 4 * ELEMENTS / 4249) < 1e-6, got)
    check(name + ": the page has the bytes", "<td>%d<small>distinct %d, plan %d" % (3 * (8 * ELEMENTS,)) in page)


def sums(target):
    name = "sum_" + target
    run("compile", "sum.textproto", "--target=cuda:" + target, "-o", name + ".stax")
    tune(name)
    kernels = profile(name)[0]["kernels"]
    check(name + ": reads", int(kernels[0]["emulated"]["loadSectorBytes"]) >= 8 * 4096 * 4)


def kept_rows():
    run("compile", "softmax.textproto", "--target=cuda:sm_90a", "-o", "softmax.stax")
    run("tune", "softmax.stax", "--device=emu", "--quiet", "-o", "tuned.stax")
    (record,) = printed("tuned.stax")["tuning"]
    statuses = [measurement["status"] for measurement in record["measurements"]]
    check("softmax: measured", statuses[0] == "ok" and set(statuses) <= {"ok", "spill"}, statuses)


def store():
    """Records of another way to take time are no records of the emulator."""
    args = ["pointwise_sm_90a.stax", "--device=emu", "--quiet", "--store=store.db"]
    first = run("tune", *args).stdout
    check("store: the same from the store", run("tune", *args).stdout == first)


def baseline():
    run("profile", "pointwise_sm_90a.stax", "--device=emu", "--quiet", "-o", "base.report")
    text = run("profile", "pointwise_sm_90a.stax", "--device=emu", "--quiet", "--baseline=base.report").stdout
    check("baseline: same", re.search(r" 1\.000 +1\.000 +1\.000  same\n", text), text)


def calibration():
    text = run("profile", "--calibrate", "--device=emu", "-o", "emu.device").stdout
    check("calibration: says that it is none", ", not measured: constants of an NVIDIA H200" in text, text)
    spec = printed("emu.device")
    check("calibration: no date", "date" not in spec and "not of this machine" in spec["origin"], spec)
    run("profile", "pointwise_sm_90a.stax", "--device=emu", "--quiet", "--spec=emu.device")


def other_devices():
    run("compile", "pointwise.textproto", "--target=cpu", "-o", "cpu.stax")
    text = run("tune", "cpu.stax", "--device=emu", "--quiet", code=2).stderr
    check("tune: a cpu program", re.fullmatch(
        r"stax-tune: cpu.stax is compiled for cpu:\S+; the emu device runs cuda programs\n", text), text)
    text = run("profile", "cpu.stax", "--device=emu", "--quiet", code=2).stderr
    check("profile: a cpu program", re.fullmatch(
        r"stax-profile: the program is compiled for cpu:\S+; the emulator runs cuda programs\n", text), text)
    text = run("tune", "pointwise_sm_90a.stax", "--device=cpu", "--quiet", code=2).stderr
    check("tune: a cuda program on the cpu", text ==
          "stax-tune: pointwise_sm_90a.stax is compiled for cuda:sm_90a; the cpu device runs cpu programs\n", text)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        os.chdir(folder)
        for name, text in (("pointwise", POINTWISE), ("sum", SUM), ("softmax", SOFTMAX)):
            with open(name + ".textproto", "w") as f:
                f.write(text)
        for target in ("sm_90a", "sm_80"):
            pointwise(target)
            sums(target)
        for case in (kept_rows, store, baseline, calibration, other_devices):
            case()
        os.chdir("/")
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
