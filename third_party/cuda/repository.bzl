"""The CUDA toolkit's headers, where there is a toolkit."""

def _impl(repository_ctx):
    home = repository_ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    include = repository_ctx.path(home + "/include")
    found = include.get_child("cuda.h").exists
    if found:
        repository_ctx.symlink(include, "include")
    repository_ctx.file("defs.bzl", "HAVE_CUDA_HEADERS = %r\n" % found)
    repository_ctx.file("BUILD", """\
cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/crt/*", "include/*.hpp"], allow_empty = True),
    defines = {defines},
    includes = {includes},
    visibility = ["//visibility:public"],
)
""".format(
        defines = repr(["STAX_HAVE_CUDA_HEADERS"] if found else []),
        includes = repr(["include"] if found else []),
    ))

cuda_headers = repository_rule(
    implementation = _impl,
    doc = """@NAME//:headers has the headers of $CUDA_HOME, else of /usr/local/cuda, and defines STAX_HAVE_CUDA_HEADERS.
Without a toolkit it is empty. @NAME//:defs.bzl says which, as HAVE_CUDA_HEADERS.""",
    environ = ["CUDA_HOME"],
    local = True,
)
