"""clang-tidy as an aspect: each source is checked with the flags that compile it, and again only when it changes.

    bazel build --config=tidy //...
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _flags(ctx, toolchain, context):
    """The flags that compile the target's sources."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    options = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        cc_toolchain = toolchain,
        feature_configuration = features,
        include_directories = context.includes,
        preprocessor_defines = depset(
            ctx.rule.attr.defines + ctx.rule.attr.local_defines,
            transitive = [context.defines],
        ),
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        user_compile_flags = options.copts + options.cxxopts + ctx.rule.attr.copts,
    )
    return cc_common.get_memory_inefficient_command_line(
        action_name = "c++-compile",
        feature_configuration = features,
        variables = variables,
    )

def _impl(target, ctx):
    if target.label.workspace_name or not hasattr(ctx.rule.attr, "copts"):
        return []
    files = ctx.rule.files.srcs + getattr(ctx.rule.files, "hdrs", [])
    sources = [file for file in files if file.is_source and file.extension == "cc"]
    if not sources:
        return []

    toolchain = find_cpp_toolchain(ctx)
    context = cc_common.merge_cc_infos(
        cc_infos = [info[CcInfo] for info in [target] + ctx.rule.attr.deps if CcInfo in info],
    ).compilation_context
    flags = _flags(ctx, toolchain, context)

    # What a header of another target deserves is said there.
    headers = "|".join([file.path for file in files if file.extension == "h"]) or "^$"
    reports = []
    for source in sources:
        report = ctx.actions.declare_file("%s.%s.tidy" % (ctx.rule.attr.name, source.basename))
        ctx.actions.run_shell(
            arguments = [report.path, "--header-filter=(%s)$" % headers, "--warnings-as-errors=*", source.path, "--"] + flags,
            command = """
                clang-tidy-22 --quiet --config-file=.clang-tidy "${@:2}" >"$1" 2>&1 || {
                  sed "s|^$PWD/||" "$1"
                  exit 1
                }""",
            inputs = depset(files + [ctx.file._config], transitive = [context.headers, toolchain.all_files]),
            mnemonic = "ClangTidy",
            outputs = [report],
            progress_message = "Checking %s with clang-tidy" % source.short_path,
            use_default_shell_env = True,
        )
        reports.append(report)
    return [OutputGroupInfo(tidy = depset(reports))]

clang_tidy = aspect(
    implementation = _impl,
    attrs = {
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_config": attr.label(
            allow_single_file = True,
            default = "//:.clang-tidy",
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
