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

`bazel build :softmax` writes softmax.stax; `bazel run :softmax_tuned` measures on this machine and writes
softmax_tuned.stax into the current folder.
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
            cfg = "target",
            executable = True,
        ),
    },
    executable = True,
)
