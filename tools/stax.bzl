"""Rules that compile and tune models with Stax; from another workspace load("@stax//tools:stax.bzl", ...).

    stax_program(
        name = "softmax",
        model = "softmax.onnx",
        target = "cuda:sm_90a",
    )

    stax_tuned(
        name = "softmax_tuned",
        program = ":softmax",
    )

    stax_perf_test(
        name = "softmax_perf_test",
        program = "softmax_tuned.stax",
        baseline = "softmax.report",
    )

`bazel build :softmax` writes softmax.stax; `bazel run :softmax_tuned` measures on this machine and writes
softmax_tuned.stax into the current folder; `bazel test :softmax_perf_test` measures again and fails when a kernel is
slower than the report says that it was.
"""

def _stax_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.attr.name + ".stax")
    args = ctx.actions.args()
    args.add(ctx.file.model)
    args.add(ctx.attr.target, format = "--target=%s")
    args.add("-o", program)
    ctx.actions.run(
        executable = ctx.executable._compiler,
        arguments = [args],
        inputs = [ctx.file.model],
        outputs = [program],
        mnemonic = "StaxCompile",
        progress_message = "Compiling %s for %s" % (ctx.file.model.short_path, ctx.attr.target),
    )
    return [DefaultInfo(
        files = depset([program]),
        runfiles = ctx.runfiles(files = [program]),
    )]

stax_program = rule(
    implementation = _stax_program_impl,
    doc = "Compiles a model to the program NAME.stax.",
    attrs = {
        "model": attr.label(
            doc = "An ONNX model, or a graph as text.",
            allow_single_file = [
                ".onnx",
                ".textproto",
            ],
            mandatory = True,
        ),
        # The bare "cpu" means this machine's instruction set; caches shared between machines want it spelled out.
        "target": attr.string(
            doc = "What stax-compile --target takes: cuda:sm_90a, cuda:sm_80, cpu:x86-64-v3, cpu:x86-64-v4.",
            default = "cpu:x86-64-v3",
        ),
        "_compiler": attr.label(
            default = Label("//tools:stax-compile"),
            cfg = "host",
            executable = True,
        ),
    },
)

# Bazel starts it in its folder of runfiles; paths that the user writes are relative to the user's folder.
_TUNE = """#!/usr/bin/env bash
set -euo pipefail
tuner=$PWD/{tuner}
program=$PWD/{program}
cd "${{BUILD_WORKING_DIRECTORY:-.}}"
"$tuner" "$program" -o {name}.stax "$@"
"""

def _stax_tuned_impl(ctx):
    script = ctx.actions.declare_file(ctx.attr.name)
    ctx.actions.write(
        script,
        _TUNE.format(
            tuner = ctx.executable._tuner.short_path,
            program = ctx.file.program.short_path,
            name = ctx.attr.name,
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.file.program])
    return [DefaultInfo(
        executable = script,
        runfiles = runfiles.merge(ctx.attr._tuner[DefaultInfo].default_runfiles),
    )]

stax_tuned = rule(
    implementation = _stax_tuned_impl,
    doc = "`bazel run` tunes the program here and writes NAME.stax; words after -- are options of stax-tune.",
    attrs = {
        "program": attr.label(
            doc = "A stax_program, or a .stax file.",
            allow_single_file = [".stax"],
            mandatory = True,
        ),
        "_tuner": attr.label(
            default = Label("//tools:stax-tune"),
            cfg = "host",
            executable = True,
        ),
    },
    executable = True,
)

# The words of args, or of `bazel run` after --, come last.
_PERF_TEST = """#!/usr/bin/env bash
exec "./{profiler}" "{program}" --baseline="{baseline}" ${{XML_OUTPUT_FILE:+--junit="$XML_OUTPUT_FILE"}} --quiet "$@"
"""

def _stax_perf_test_impl(ctx):
    script = ctx.actions.declare_file(ctx.attr.name)
    ctx.actions.write(
        script,
        _PERF_TEST.format(
            profiler = ctx.executable._profiler.short_path,
            program = ctx.file.program.short_path,
            baseline = ctx.file.baseline.short_path,
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.file.program, ctx.file.baseline])
    return [DefaultInfo(
        executable = script,
        runfiles = runfiles.merge(ctx.attr._profiler[DefaultInfo].default_runfiles),
    )]

_stax_perf_test = rule(
    implementation = _stax_perf_test_impl,
    attrs = {
        "baseline": attr.label(
            allow_single_file = [".report"],
            mandatory = True,
        ),
        "program": attr.label(
            allow_single_file = [".stax"],
            mandatory = True,
        ),
        "_profiler": attr.label(
            default = Label("//tools:stax-profile"),
            cfg = "host",
            executable = True,
        ),
    },
    test = True,
)

def stax_perf_test(name, program, baseline, tags = [], **kwargs):
    """A test that measures a program on this machine and fails when a kernel is slower than the baseline.

    It runs alone and each time, since its result depends on the machine, and fails as well where the device is not
    the one of the baseline. Its test cases are the kernels.

    Args:
      name: of the test.
      program: a stax_program, or a .stax file (what stax-tune wrote).
      baseline: a .report file that stax-profile wrote on this device.
      tags: besides those that say how it is run.
      **kwargs: of any test; args are options of stax-profile, as in args = ["--device=cuda:1", "--threshold=10"].
    """
    _stax_perf_test(
        name = name,
        program = program,
        baseline = baseline,
        tags = tags + ["exclusive", "external", "local"],
        **kwargs
    )
