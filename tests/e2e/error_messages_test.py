"""Bad input to Stax's tools: the exit code, the message, no file left behind, no crash.

error_messages_test.py STAX_COMPILE STAX_RUN STAX_CAT STAX_TUNE STAX_PROFILE [CASE_NAME_PART]
"""

import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

TOOLS = dict(zip(("compile", "run", "cat", "tune", "profile"), map(os.path.abspath, sys.argv[1:6])))
ONLY = sys.argv[6] if len(sys.argv) > 6 else ""

counts = {"passed": 0, "failed": 0, "skipped": 0}


# --- Files to make -------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A protobuf field: a number, or bytes of a string or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_value(name, dims, dtype=1):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def onnx_model(nodes, dims=(4, 8), dtype=1, opset=13):
    """A model with inputs x and w and output y; nodes are (op, inputs, output)."""
    graph = b"".join(
        field(1, b"".join(field(1, i) for i in ins) + field(2, out) + field(4, op))
        for op, ins, out in nodes)
    graph += field(2, "g")
    graph += field(11, onnx_value("x", dims, dtype)) + field(11, onnx_value("w", dims, dtype))
    graph += field(12, onnx_value("y", dims, dtype))
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))


def npy(descr, shape, size):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(size)


ONNX = onnx_model([("Add", ["x", "w"], "a"), ("Softmax", ["a"], "b"), ("Relu", ["b"], "y")])

GOOD = """
symbol { name: "n" }
input { name: "x" dtype: "f32" dims: "n" dims: "8" }
input { name: "w" dtype: "f32" dims: "n" dims: "8" }
node { op: "add" input: "x" input: "w" output: "a" }
node { op: "sum" input: "a" output: "y" axes: -1 }
output: "y"
"""


def one_node(node, dims='dims: "4" dims: "8"', dtype="f32"):
    return 'input { name: "x" dtype: "%s" %s }\nnode { %s output: "y" }\noutput: "y"\n' % (
        dtype, dims, node)


def write(name, content):
    with open(name, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return name


# --- Running and judging -------------------------------------------------------------------------


def files_below(folder):
    return {os.path.join(d, f): os.lstat(os.path.join(d, f)).st_mtime_ns
            for d, _, names in os.walk(folder) for f in names}


def record(name, problem):
    counts["failed" if problem else "passed"] += 1
    if problem:
        print("FAILED  %s: %s" % (name, problem))


def run(tool, args, wrap=(), **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([*wrap, TOOLS[tool], *args], stderr=subprocess.PIPE, timeout=120, **options)


def check(name, tool, args, message, code=2, **options):
    """The tool exits with `code`; the pattern `message` matches all it says after its name."""
    if ONLY not in name:
        return
    before = files_below(".")
    done = run(tool, args, **options)
    text = done.stderr.decode(errors="replace")
    wanted = re.compile("stax-%s: (?:%s)\n" % (tool, message))
    problem = ""
    if done.returncode < 0:
        problem = "killed by signal %d" % -done.returncode
    elif done.returncode != code:
        problem = "exit code %d, not %d; it says %r" % (done.returncode, code, text)
    elif not wanted.fullmatch(text):
        problem = "says %r, not %r" % (text, wanted.pattern)
    elif files_below(".") != before:
        problem = "left or changed a file: %s" % sorted(
            set(files_below(".").items()) ^ set(before.items()))
    record(name, problem)


def check_damaged(name, tool, args, content, path, may_work, out):
    """`content` in `path`: exit 2 with a message that names it, or (may_work) 0; never a crash."""
    if ONLY not in name:
        return
    write(path, content)
    done = run(tool, args)
    text = done.stderr.decode(errors="replace")
    left = [f for f in os.listdir(".") if f.startswith(out)]
    problem = ""
    if done.returncode == 0 and may_work:
        for f in left:
            os.remove(f)
    elif done.returncode != 2:
        problem = "exit code %d; it says %r" % (done.returncode, text)
    elif not text.startswith("stax-%s: " % tool) or path not in text:
        problem = "does not name the file: %r" % text
    elif left:
        problem = "left %s" % left
    if problem:
        problem += "; the file is " + content.hex()
    os.remove(path)
    record(name, problem)


def skip(name, why):
    counts["skipped"] += 1
    print("skipped  %s: %s" % (name, why))


# --- Cases ---------------------------------------------------------------------------------------


def command_lines():
    check("no model", "compile", [], r"expected one model, got 0 \(--help explains\)")
    check("two models", "compile", ["a", "b"], r"expected one model, got 2 \(--help explains\)")
    check("no program", "run", [], r"expected one program, got 0 \(--help explains\)")
    check("no artifact", "cat", [], r"expected one artifact, got 0 \(--help explains\)")
    for tool in TOOLS:
        check("unknown option " + tool, tool, ["--bogus"],
              r"unknown option --bogus; the nearest is -.* \(--help lists all\)")
    for target in ("bogus", "cuda:sm_10", "cpu:x86-64-v9", "cuda:"):
        check("target '%s'" % target, "compile", ["good.textproto", "--target=" + target, "-o", "o"],
              "target '%s' is not known; expected cuda, cuda:sm_80, cuda:sm_90a, cpu, "
              "cpu:x86-64-v3 or cpu:x86-64-v4" % target)
    check("unknown option as it was typed", "compile", ["good.textproto", "-oP.stax"],
          r"unknown option -oP.stax; the nearest is -.* \(--help lists all\)")
    check("dump", "compile", ["good.textproto", "--dump=x"],
          "--dump=x: expected loop, kernel, llvm or ptx")
    for tool in ("run", "tune", "profile"):
        check("device " + tool, tool, ["good.stax", "--device=bogus"],
              "unknown device 'bogus'; known are cpu, cuda, cuda:N and emu")
        check("cuda:99 " + tool, tool, ["good.stax", "--device=cuda:99"], "no CUDA device.*", code=3)
    runs_cuda = r"the program is compiled for cpu:\S+; the emulator runs cuda programs"
    check("a cpu program on emu: run", "run",
          ["good.stax", "--device=emu", "--input", "x=ok.npy", "w=ok.npy"], runs_cuda)
    check("a cpu program on emu: profile", "profile", ["good.stax", "--device=emu", "--quiet", "-o", "o"], runs_cuda)
    check("a cpu program on emu: tune", "tune", ["good.stax", "--device=emu", "-o", "o"],
          r"good.stax is compiled for cpu:\S+; the emu device runs cuda programs")
    check("a cuda program on the cpu: tune", "tune", ["cuda.stax", "--device=cpu", "-o", "o"],
          "cuda.stax is compiled for cuda:sm_90a; the cpu device runs cpu programs")
    check("emu:0", "tune", ["cuda.stax", "--device=emu:0"],
          "unknown device 'emu:0'; known are cpu, cuda, cuda:N and emu")
    check("cat ptx of cpu", "cat", ["good.stax", "--ptx"],
          "good.stax is compiled for cpu:.* and has no PTX; compile it with --target=cuda:sm_90a")
    check("cat llvm", "cat", ["good.stax", "--llvm"],
          "good.stax was stored without LLVM IR; compile it with --dump=llvm -o FILE")
    for tool, args, option in (("compile", ["good.textproto"], "-o=P.stax"),
                               ("compile", ["good.textproto"], "--target=TARGET"),
                               ("compile", [], "--serve=ADDRESS"),
                               ("tune", ["good.stax"], "--store=FILE"), ("tune", ["good.stax"], "-o=T.stax"),
                               ("profile", ["good.stax"], "--html=FILE"),
                               ("run", ["good.stax"], "--output-dir=DIR"),
                               ("run", ["good.stax"], "--input=NAME=FILE"), ("run", [], "--onnx-test=DIR")):
        name = option.split("=")[0]
        for words in ([name], [name + "="], [name, "--help"]):
            check("no value: %s %s" % (tool, words), tool, args + words, "%s needs a value: %s" % (name, option))
    check("serve and a model", "compile", ["good.textproto", "--serve=unix:s"],
          "expected one model or --serve, got both; a service gets its models from its clients")
    check("program and onnx tests", "run", ["good.stax", "--onnx-test", "."],
          "expected one program or --onnx-test, got both; good.stax is the program")
    for tool in ("tune", "profile"):
        for value, message in (("n=1", r"--size n=1: n's range is \[2, 2147483647\]"),
                               ("n=-1000", r"--size n=-1000: n's range is \[2, 2147483647\]"),
                               ("m=8", "--size m: the program has no such size symbol; it has n"),
                               ("=8", "--size =8: expected NAME=NUMBER")):
            check("size %s %s" % (value, tool), tool, ["good.stax", "--size", value], message)
    for option in ("--trials=0", "--trials=-5"):
        check(option, "tune", ["good.stax", option], "--trials: expected at least 1 measurement a kernel")
    for option in ("--budget=0", "--budget=-1"):
        check(option, "tune", ["good.stax", option], "--budget: expected a number of seconds above 0")
    check("budget nan", "tune", ["good.stax", "--budget=nan"], "--budget=nan: expected a number")
    for option in ("--rtol=-1", "--atol=-1"):
        check(option, "run", ["good.stax", option],
              "--rtol and --atol: expected numbers that are not negative")


def files():
    for tool, path in (("compile", "absent.onnx"), ("compile", "absent.textproto"),
                       ("run", "absent.stax"), ("cat", "absent.stax"), ("tune", "absent.stax"),
                       ("profile", "absent.stax")):
        check("absent " + tool, tool, [path], "cannot read %s: No such file or directory" % path)
    check("a program is no model", "compile", ["good.stax"],
          r"good.stax is a Stax artifact; expected a model \(.onnx\) or a graph in text form \(.textproto\)")
    check("a tensor is no model", "compile", ["ok.npy"],
          r"ok.npy: graph text: .* \(only files ending in .onnx are read as ONNX\)")
    check("a folder", "compile", ["/tmp", "-o", "o"], "cannot read /tmp: Is a directory")
    check("output in no folder", "compile", ["good.textproto", "-o", "no/dir/o.stax"],
          "cannot write no/dir/o.stax: No such file or directory")
    check("output below a file", "compile", ["good.textproto", "-o", "good.textproto/o.stax"],
          "cannot write good.textproto/o.stax: Not a directory")
    os.mkdir("folder")
    check("output is a folder", "compile", ["good.textproto", "-o", "folder"],
          "cannot write folder: Is a directory")
    check("a name too long", "compile", ["n" * 300 + ".onnx"], "cannot read n{300}.onnx: File name too long")
    check("a model without an end", "compile", ["/dev/zero"],
          "cannot read /dev/zero: it has not ended after 2147483647 bytes")
    inputs = ["good.stax", "--input", "x=ok.npy", "w=ok.npy"]
    check("expected output that is not there", "run", inputs + ["--output-dir=d", "--expect", "z=ok.npy"],
          "--expect: the program has no output 'z'; its outputs are y")
    check("expected output that cannot be read", "run",
          inputs + ["--output-dir=d", "--expect", "y=absent.npy"],
          "cannot read absent.npy: No such file or directory")
    write("alike.textproto", 'input { name: "x" dtype: "f32" dims: "4" dims: "8" }\n'
          'node { op: "neg" input: "x" output: "a/b" }\nnode { op: "exp" input: "x" output: "a_b" }\n'
          'output: "a/b" output: "a_b"')
    record("good input: alike", run("compile", ["alike.textproto", "-o", "alike.stax"]).stderr.decode())
    check("outputs with one file name", "run", ["alike.stax", "--input", "x=ok.npy", "--output-dir=d"],
          "--output-dir: the outputs 'a/b' and 'a_b' would both be d/a_b.npy")
    check("outputs below a file", "run", inputs + ["--output-dir", "good.stax/d"],
          "cannot make folder good.stax/d: Not a directory")


def outputs_first():
    """An output that cannot be written is said before anything is measured: no progress comes before it."""
    check("tuned program in no folder", "tune", ["good.stax", "--device=cpu", "-o", "no/dir/t.stax"],
          "cannot write no/dir/t.stax: No such file or directory")
    check("tuned program below a file", "tune", ["good.stax", "--device=cpu", "-o", "ok.npy/t.stax"],
          "cannot write ok.npy/t.stax: Not a directory")
    os.symlink("a_loop", "a_loop")
    check("tuned program in a loop of links", "tune", ["good.stax", "--device=cpu", "-o", "a_loop"],
          "cannot write a_loop: Too many levels of symbolic links")
    for option in ("-o", "--html", "--junit"):
        check("a folder as profile's " + option, "profile", ["good.stax", "--device=cpu", option, "/tmp"],
              "cannot write /tmp: Is a directory")
    lost = "%s is the input itself and would be lost; give the output another name"
    os.link("good.stax", "alias.stax")
    check("the model as output", "compile", ["good.textproto", "-o", "./good.textproto"], lost % "./good.textproto")
    check("the program as output of profile", "profile", ["good.stax", "--device=cpu", "--html=alias.stax"],
          lost % "alias.stax")
    os.remove("alias.stax")
    check("two outputs of profile in one", "profile", ["good.stax", "--device=cpu", "-o", "r", "--html=r"],
          "two outputs would both be r")
    check("calibration in no folder", "profile", ["--calibrate", "--device=cpu", "-o", "no/dir/d.device"],
          "cannot write no/dir/d.device: No such file or directory")


def services():
    for address in ("unix:absent", "127.0.0.1:1", "nan"):
        check("no service on " + address, "tune", ["good.stax", "--device=cpu", "--compiler", address],
              "no compile service answers on %s within 5s; expected unix:PATH or HOST:PORT of a "
              "'stax-compile --serve'" % address, code=3)
    os.mkdir("socket_folder")
    cannot = "cannot listen on unix:%s: "
    for path, why in (("", "a socket's path has 1 to 107 bytes, this one 0"),
                      ("x" * 200, "a socket's path has 1 to 107 bytes, this one 200"),
                      ("no/dir/s", "No such file or directory"), ("ok.npy/s", "Not a directory"),
                      ("ok.npy", "a file that is no socket is there"),
                      ("socket_folder", "a file that is no socket is there")):
        check("serve on '%s'" % path[:20], "compile", ["--serve=unix:" + path], cannot % path + why)
    for address in ("127.0.0.1", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:1e3", "localhost:x",
                    "0.0.0.0:5000"):
        check("serve on " + address, "compile", ["--serve", address],
              "--serve=%s: expected unix:PATH or a loopback address such as 127.0.0.1:PORT; serving beyond this "
              "machine needs TLS, which is not there yet" % re.escape(address))


def hostile_names():
    """What a name holds must not steer the terminal, forge a line or flood it."""
    raw = b"a\n\x1b[2J\xff\xc2\x9b"
    shown = re.escape(r"a\n\x1b[2J\xff\xc2\x9b")
    for tool in TOOLS:
        check("hostile file name " + tool, tool, [raw],
              "cannot read %s: No such file or directory" % shown)
        check("hostile option " + tool, tool, [b"--" + raw], "unknown option --%s; .*" % shown)
    check("hostile target", "compile", ["good.textproto", b"--target=" + raw], "target '%s' is not known.*" % shown)
    check("hostile input", "run", ["good.stax", "--input", raw], "--input %s: expected NAME=.*" % shown)
    write("bad.npy", npy("\x1b[2J\n", "(4, 8)", 128))
    check("hostile dtype", "run", ["good.stax", "--input", "x=bad.npy", "w=ok.npy"],
          re.escape(r"bad.npy element type '\x1b[2J\n' is not supported") + ".*")
    write("bad.onnx", onnx_model([("\x1b[2J\n", ["x"], "y")]))
    check("hostile operator", "compile", ["bad.onnx"],
          re.escape(r"bad.onnx: not supported: operator \x1b[2J\n (ai.onnx 13)"))
    write("bad.onnx", onnx_model([("x" * 1000000, ["x"], "y")]))
    check("long operator", "compile", ["bad.onnx"],
          r"bad.onnx: not supported: operator x{2000,4000} \.\.\. \(\d+ bytes left out\) \.\.\. x{2000,4000} .ai.onnx 13.")
    write("names.textproto", 'input { name: "x" dtype: "f32" dims: "4" }\n'
          r'node { op: "neg" input: "x" output: "\033[2J\n" } output: "\033[2J\n"')
    explained = run("compile", ["names.textproto", "--explain", "-o", "names.stax"]).stdout
    write("four.npy", npy("<f4", "(4,)", 16))
    ran = run("run", ["names.stax", "--input", "x=four.npy"])
    record("hostile names in an explanation", "" if b"\x1b" not in explained and rb"\x1b[2J\n" in explained
           else repr(explained))
    record("hostile names of outputs", "" if ran.stdout == b"\\x1b[2J\\n: f32[4]\n" else repr(ran))


def not_utf8():
    """Programs hold text as UTF-8: what is not is refused, or escaped where it only explains."""
    graph = b'name: "g" input { name: "x" dtype: "f32" dims: "4" } node { op: "neg" input: "x" output: "a" } ' \
            b'node { op: "sum" input: "a" axes: 0 output: "y" } output: "y"'
    for name, kind in ((b'"x"', "input"), (b'"y"', "output")):
        write("bad.textproto", graph.replace(name, rb'"\377"'))
        check("%s that is no UTF-8" % kind, "compile", ["bad.textproto", "-o", "o.stax"],
              r"bad.textproto: .*%s '\\xff': the name is no UTF-8" % kind)
    for name in (b'"g"', b'"a"'):
        write("odd.textproto", graph.replace(name, rb'"\377"'))
        done = run("compile", ["odd.textproto", "-o", "odd.stax"])
        record("a name that is no UTF-8: %r" % name, done.stderr.decode() or run("cat", ["odd.stax"]).stderr.decode())


def memory():
    with open(TOOLS["compile"], "rb") as f:
        if b"__asan_init" in f.read():
            return skip("memory", "sanitizers take more address space than there is memory")
    for tool, path in (("compile", "huge.onnx"), ("run", "huge.stax"), ("cat", "huge.stax")):
        with open(path, "wb") as f:
            f.truncate(1 << 40)  # holes, no blocks
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        check("memory: " + tool, tool, [path], "out of memory: the input is too large for this machine or its "
              r"limits \(ulimit -v\)", preexec_fn=limit)
        os.remove(path)


def baselines():
    """What is no baseline, before anything is measured."""
    def bad(name, path, message):
        check("baseline: " + name, "profile",
              ["good.stax", "--device=cpu", "--baseline", path, "-o", "o.report", "--junit=o.xml"], message)

    write("empty.report", "")
    write("text.report", "hello")
    with open("good.stax", "rb") as f:
        write("cut.report", b"STAXARTR" + f.read()[8:100])
    bad("absent", "absent.report", "cannot read absent.report: No such file or directory")
    bad("empty", "empty.report", "empty.report is no Stax artifact: it does not begin with STAXART")
    bad("text", "text.report", "text.report is no Stax artifact: it does not begin with STAXART")
    bad("damaged", "cut.report", "cut.report is truncated or damaged: .*")
    bad("a program", "good.stax", "good.stax is a program, not a profile report")
    check("threshold -1", "profile", ["good.stax", "--threshold=-1"],
          "--threshold=-1: expected a percentage of at least 0")
    for value in ("nan", "inf", "x"):
        check("threshold " + value, "profile", ["good.stax", "--threshold=" + value],
              "--threshold=%s: expected a number" % value)


def standard_streams():
    with open("good.stax", "rb") as program:
        done = run("cat", ["/dev/stdin"], stdin=program)
        record("an artifact from a pipe", done.stderr.decode())
    # Whatever a tool opens first must not get the number of stdout.
    closed = {"preexec_fn": lambda: os.close(1), "stdout": None}
    for tool, args in (("cat", ["good.stax"]), ("compile", ["good.textproto", "--explain"]), ("run", ["--help"]),
                       ("tune", ["good.stax", "--device=cpu", "--quiet", "--trials=1"])):
        check("stdout closed: " + tool, tool, args, "cannot write the output: Bad file descriptor", **closed)
    with open("to_stdout.stax", "wb") as out:
        done = run("compile", ["good.textproto", "-o", "/dev/stdout"], stdout=out)
    with open("to_stdout.stax", "rb") as got, open("good.stax", "rb") as want:
        record("a program to stdout in a file", done.stderr.decode() or
               ("" if got.read() == want.read() else "other bytes"))
    os.remove("to_stdout.stax")
    record("/dev/stdout stays", "" if os.path.islink("/dev/stdout") else "it is a file now")


def full_disk():
    full = "cannot write /dev/full: No space left on device"
    check("full: program", "compile", ["good.textproto", "-o", "/dev/full"], full)
    check("full: tuned", "tune", ["good.stax", "--device=cpu", "--quiet", "--trials=1",
                                  "-o", "/dev/full"], full)
    with open("/dev/full", "wb") as sink:
        for tool, args in (("cat", ["good.stax"]), ("compile", ["good.textproto", "--explain"]),
                           ("compile", ["good.textproto", "--dump=loop"]),
                           ("run", ["good.stax", "--input", "x=ok.npy", "w=ok.npy"])):
            check("full: output of %s %s" % (tool, args[-1]), tool, args,
                  "cannot write the output: No space left on device", stdout=sink)
    # Writes fail midway, as on a disk that fills. Python ignores SIGXFSZ, and so does the tool then.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    check("full: midway", "compile", ["good.textproto", "-o", "o.stax"],
          "cannot write o.stax: File too large", preexec_fn=limit, restore_signals=False)
    shutil.copy("good.stax", "old.stax")
    check("full: the old file stays", "compile", ["good.textproto", "-o", "old.stax"],
          "cannot write old.stax: File too large", preexec_fn=limit, restore_signals=False)


def permissions():
    """As root, without the capability that lets root read and write everything."""
    wrap = []
    if os.geteuid() == 0:
        caps = "-dac_override,-dac_read_search"
        wrap = ["setpriv", "--bounding-set", caps, "--inh-caps", caps]
        if subprocess.run(wrap + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
            return skip("permissions", "this root cannot drop capabilities")
    os.mkdir("closed")
    shutil.copy("good.textproto", "closed/g.textproto")
    os.chmod("closed/g.textproto", 0)
    shutil.copy("good.stax", "closed/g.stax")
    os.chmod("closed/g.stax", 0)
    os.chmod("closed", 0o500)
    denied = "cannot %s closed/%s: Permission denied"
    check("write denied", "compile", ["good.textproto", "-o", "closed/o.stax"],
          denied % ("write", "o.stax"), wrap=wrap)
    os.makedirs("cases/closed")
    write("cases/model.onnx", ONNX)
    os.chmod("cases/closed", 0)
    check("onnx tests in a closed folder", "run", ["--device=cpu", "--onnx-test", "cases"],
          "cannot read all folders below cases: Permission denied", wrap=wrap)
    os.chmod("cases/closed", 0o700)
    check("read denied", "compile", ["closed/g.textproto"], denied % ("read", "g.textproto"),
          wrap=wrap)
    for tool in ("run", "cat", "tune", "profile"):
        check("read denied " + tool, tool, ["closed/g.stax"], denied % ("read", "g.stax"), wrap=wrap)
    os.chmod("closed", 0o700)


def graphs():
    def bad(name, text, message):
        write("bad.textproto", text)
        check("graph: " + name, "compile", ["bad.textproto", "-o", "o.stax"],
              "bad.textproto: " + message)

    bad("empty", "", 'the graph has no output; write output: "name"')
    bad("no text format", "hello", "graph text: line .*")
    bad("unknown field", "colour: 3", "graph text: line 1, column .*colour.*")
    bad("unknown operator", one_node('op: "frobnicate" input: "x"'),
        "node 'y': unknown op 'frobnicate', known are abs, .*")
    bad("cycle", 'input { name: "x" dtype: "f32" dims: "4" }\n'
        'node { op: "add" input: "x" input: "b" output: "a" }\n'
        'node { op: "neg" input: "a" output: "b" }\noutput: "b"',
        r"a \(add\): needs its own result: a from b from a")
    bad("2^40 elements", one_node('op: "neg" input: "x"', 'dims: "1048576" dims: "1048576"'),
        r"input 'x': input: f32\[1048576, 1048576\]: a tensor of 1099511627776 elements; "
        "at most 1099511627775 are supported")
    bad("2^40 by expand", one_node('op: "expand" input: "x" dims: "1099511627776"', 'dims: "1"'),
        "y.*: a tensor of 1099511627776 elements; at most 1099511627775 are supported")
    bad("2^80 elements", one_node('op: "neg" input: "x"', 'dims: "1099511627776" ' * 2), "input 'x': .*")
    bad("missing input", one_node('op: "neg" input: "z"'), r"y \(neg\): unknown input 'z', known are x.*")
    bad("dtype", one_node('op: "neg" input: "x"', dtype="f33"), "input 'x': .*f33.*")
    bad("shapes", 'input { name: "x" dtype: "f32" dims: "4" }\n'
        'input { name: "w" dtype: "f32" dims: "5" }\n'
        'node { op: "add" input: "x" input: "w" output: "y" }\noutput: "y"', r"y \(add\).*4.*5.*")
    bad("two symbols", 'symbol { name: "n" } symbol { name: "m" }\n'
        'input { name: "x" dtype: "f32" dims: "n" }\ninput { name: "w" dtype: "f32" dims: "m" }\n'
        'node { op: "add" input: "x" input: "w" output: "y" }\noutput: "y"', r"y \(add\).*n.*m.*")
    bad("mixed dtypes", 'input { name: "x" dtype: "f32" dims: "4" }\n'
        'input { name: "w" dtype: "f16" dims: "4" }\n'
        'node { op: "add" input: "x" input: "w" output: "y" }\noutput: "y"', r"y \(add\).*f32.*f16.*")
    bad("unknown symbol", one_node('op: "neg" input: "x"', 'dims: "n"'), "input 'x': .*n.*")
    bad("axis", one_node('op: "sum" input: "x" axes: 2'), r"y \(sum\).*axis 2.*")
    bad("division by zero", one_node('op: "neg" input: "x"', 'dims: "4 // 0"'), "input 'x': .*")
    bad("deep formula", one_node('op: "neg" input: "x"', 'dims: "%s"' % ("(" * 100000)),
        "input 'x': .*")
    bad("output", 'input { name: "x" dtype: "f32" dims: "4" }\noutput: "z"', "output.*'z'.*")
    bad("output twice", 'input { name: "x" dtype: "f32" dims: "4" }\noutput: "x" output: "x"',
        "output: two outputs are named 'x'")


def onnx():
    def bad(name, content, message):
        write("bad.onnx", content)
        check("onnx: " + name, "compile", ["bad.onnx", "-o", "o.stax"], "bad.onnx: " + message)

    bad("empty", b"", "the model has no graph")
    bad("text", "no model", "not a serialized ONNX ModelProto")
    bad("unknown operator", onnx_model([("Frobnicate", ["x"], "y")]), "not supported: operator Frobnicate.*")
    bad("cycle", onnx_model([("Add", ["x", "b"], "a"), ("Neg", ["a"], "b"), ("Neg", ["b"], "y")]), ".*'b'.*")
    bad("missing input", onnx_model([("Neg", ["z"], "y")]), ".*'z'.*")
    bad("2^40 elements", onnx_model([("Add", ["x", "w"], "y")], (1 << 20, 1 << 20)),
        ".*1099511627776 elements; at most 1099511627775 are supported")
    bad("opset", onnx_model([("Add", ["x", "w"], "y")], opset=99), ".*99.*")
    bad("dtype", onnx_model([("Add", ["x", "w"], "y")], dtype=77), ".*77.*")


def tensors():
    def bad(name, content, message):
        write("bad.npy", content)
        check("tensor: " + name, "run", ["good.stax", "--input", "x=bad.npy", "w=ok.npy"], message)

    check("tensor: missing", "run", ["good.stax", "--input", "x=ok.npy"],
          r"input 'w' is missing: give --input w=FILE.npy \(f32\[n, 8\]\)")
    check("tensor: surplus", "run", ["good.stax", "--input", "x=ok.npy", "w=ok.npy", "z=ok.npy"],
          "the program has no input 'z'; its inputs are x, w")
    check("tensor: a wrong name", "run", ["good.stax", "--input", "x=ok.npy", "W=ok.npy"],
          "the program has no input 'W'; its inputs are x, w")
    check("tensor: twice", "run", ["good.stax", "--input", "x=ok.npy", "x=ok.npy"],
          "--input x is given twice")
    check("tensor: no pair", "run", ["good.stax", "--input", "ok.npy"],
          "--input ok.npy: expected NAME=FILE.npy or NAME=FILE.pb")
    check("tensor: absent", "run", ["good.stax", "--input", "x=absent.npy", "w=ok.npy"],
          "cannot read absent.npy: No such file or directory")
    bad("dtype", npy("<f8", "(4, 8)", 256), ".*'x'.*f64.*f32.*")
    bad("rank", npy("<f4", "(32,)", 128), ".*'x'.*")
    bad("shape", npy("<f4", "(4, 9)", 144), ".*'x'.*9.*8.*")
    bad("sizes disagree", npy("<f4", "(5, 8)", 160), ".*'w'.*")
    bad("size out of range", npy("<f4", "(1, 8)", 32), ".*n.*1.*2.*")
    bad("truncated", npy("<f4", "(4, 8)", 100), "bad.npy.*")
    bad("big", npy("<f4", "(1099511627776, 8)", 64), "bad.npy.*")
    bad("overflowing", npy("<f4", "(4611686018427387904, 8)", 64), "bad.npy.*")
    bad("negative", npy("<f4", "(-4, 8)", 64), "bad.npy.*")
    bad("big endian", npy(">f4", "(4, 8)", 128), "bad.npy.*")
    bad("objects", npy("|O", "(4, 8)", 128), "bad.npy.*")
    bad("empty", b"", "bad.npy.*")
    bad("text", "hello", "bad.npy.*")


def damaged():
    draw = random.Random(2)
    with open("good.stax", "rb") as f:
        program = f.read()

    def stax(name, content):
        tool, args = draw.choice([("run", ["d.stax"]), ("cat", ["d.stax"]),
                                  ("tune", ["d.stax", "-o", "o.stax"]), ("profile", ["d.stax", "-o", "o.report"])])
        check_damaged("stax " + name, tool, args, content, "d.stax", False, "o.")

    def model(name, content):
        check_damaged("onnx " + name, "compile", ["d.onnx", "-o", "o.stax"], content, "d.onnx", True,
                      "o.stax")

    def graph(name, content):
        check_damaged("graph " + name, "compile", ["d.textproto", "-o", "o.stax"], content,
                      "d.textproto", True, "o.stax")

    def flipped(content, bit):
        content = bytearray(content)
        content[bit // 8] ^= 1 << bit % 8
        return bytes(content)

    for i in [*range(20), *(draw.randrange(len(program)) for _ in range(20)), len(program) - 1]:
        stax("cut at %d" % i, program[:i])
    for bit in [*range(0, 160, 3), *(draw.randrange(8 * len(program)) for _ in range(40))]:
        stax("bit %d" % bit, flipped(program, bit))
    for i in range(20):
        stax("random %d" % i, draw.randbytes(draw.randrange(1000)))
        stax("random with header %d" % i, program[:8] + draw.randbytes(draw.randrange(1000)))
        model("random %d" % i, draw.randbytes(draw.randrange(1, 500)))
        graph("random %d" % i, draw.randbytes(draw.randrange(1, 500)))
    for i in range(0, len(ONNX), 2):
        model("cut at %d" % i, ONNX[:i])
    for bit in range(0, 8 * len(ONNX), 5):
        model("bit %d" % bit, flipped(ONNX, bit))
    tensor = npy("<f4", "(4, 8)", 128)
    pairs = ["good.stax", "--input", "w=ok.npy", "x=d.npy"]
    for i in range(0, len(tensor), 7):
        check_damaged("npy cut at %d" % i, "run", pairs, tensor[:i], "d.npy", False, "o.")
    for bit in range(0, 8 * 80, 7):
        check_damaged("npy bit %d" % bit, "run", pairs, flipped(tensor, bit), "d.npy", True, "o.")
    for i in range(0, len(GOOD), 6):
        graph("cut at %d" % i, GOOD[:i].encode())
    for bit in range(0, 8 * len(GOOD), 23):
        graph("bit %d" % bit, flipped(GOOD.encode(), bit))


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        os.chdir(folder)
        write("good.textproto", GOOD)
        write("good.onnx", ONNX)
        write("ok.npy", npy("<f4", "(4, 8)", 128))
        # What the bad input is a small change of works.
        for tool, args in (("compile", ["good.textproto", "-o", "good.stax"]),
                           ("compile", ["good.onnx", "-o", "onnx.stax"]),
                           ("compile", ["good.textproto", "--target=cuda:sm_90a", "-o", "cuda.stax"]),
                           ("run", ["good.stax", "--input", "x=ok.npy", "w=ok.npy"])):
            done = run(tool, args)
            record("good input: " + tool, done.stderr.decode() if done.returncode else "")
        for part in (command_lines, files, outputs_first, services, hostile_names, not_utf8, memory, baselines,
                     standard_streams, full_disk, permissions, graphs, onnx, tensors, damaged):
            part()
        os.chdir("/")
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
