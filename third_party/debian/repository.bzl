"""Installed Debian packages as Bazel repositories."""

def _package_file(repository_ctx, package, extension):
    # Multi-arch packages carry the architecture in dpkg's file names.
    for suffix in ["", ":amd64"]:
        path = repository_ctx.path("/var/lib/dpkg/info/%s%s.%s" % (package, suffix, extension))
        if path.exists:
            return path
    fail("Debian package %s is missing: run ./stax build, or apt-get install %s" % (package, package))

def _impl(repository_ctx):
    exported = []
    for package in repository_ctx.attr.packages:
        # Headers under /usr/include count as part of the compiler, so Bazel doesn't watch them. The package's checksums
        # stand for all of its files: an upgrade rebuilds what depends on the package.
        sums = package + ".md5sums"
        repository_ctx.symlink(_package_file(repository_ctx, package, "md5sums"), sums)
        exported.append(sums)
        for line in repository_ctx.read(_package_file(repository_ctx, package, "list")).splitlines():
            if line.endswith(".a") or line.endswith(".so") or line.endswith(".proto") or line.startswith("/usr/bin/"):
                name = line[len("/usr/"):].replace("lib/x86_64-linux-gnu/", "lib/").replace("lib/llvm-22/lib/", "lib/")
                repository_ctx.symlink(line, name)
                exported.append(name)

    include = repository_ctx.attr.include
    if include:
        repository_ctx.symlink("/" + include, "include")

    repository_ctx.file("BUILD", """\
package(default_visibility = ["//visibility:public"])

exports_files({exported})

# What an upgrade of the packages changes.
filegroup(
    name = "package",
    srcs = glob(["*.md5sums"]),
)

filegroup(
    name = "archives",
    srcs = glob(["lib/*.a"], allow_empty = True),
)

filegroup(
    name = "shared_libraries",
    srcs = glob(["lib/*.so"], allow_empty = True),
)

# Headers that don't lie in /usr/include itself.
cc_library(
    name = "headers",
    hdrs = glob(["include/**"], allow_empty = True, exclude = ["include/**/*.proto"]),
    includes = {includes},
)
""".format(exported = repr(sorted(exported)), includes = repr(["include"] if include else [])))

debian_package = repository_rule(
    implementation = _impl,
    doc = """Makes files of installed Debian packages available as @NAME//:PATH, with PATH below /usr: static archives as
lib/libX.a (all of them as @NAME//:archives), .proto files, and programs as bin/X.""",
    attrs = {
        "include": attr.string(doc = "A folder of headers outside the compiler's search path, as @NAME//:headers."),
        "packages": attr.string_list(mandatory = True),
    },
    local = True,
)
