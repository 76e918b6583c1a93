"""C++ code from .proto files with Debian's protoc.

    stax_cc_proto_library(
        name = "graph_proto",
        srcs = ["graph.proto"],     # import "ir/artifact/graph.proto"; #include "ir/artifact/graph.pb.h"
        deps = [":shape_proto"],    # libraries of the imported files
    )

    stax_cc_grpc_library(
        name = "compile_grpc",
        srcs = ["compile.proto"],   # #include "compiler/service/compile.grpc.pb.h"
        deps = [":compile_proto"],  # the messages; the file's own library comes first
    )
"""

def _protos(label):
    """The label of the .proto files of a library: its own and those they import."""
    if ":" not in label:
        label += ":" + label.split("/")[-1]
    return label + "_protos"

def _generated():
    """The folder of the generated files of the repository whose BUILD file is read."""
    root = _root()
    return "$(GENDIR)/" + root if root else "$(GENDIR)"

def _root():
    """That repository's folder in the workspace: external/NAME, or nothing for the workspace itself."""
    return Label(native.repository_name() + "//:root").workspace_root

def _generate(name, srcs, protos, extension, command, tools):
    """Runs protoc on srcs; returns the generated sources and headers."""
    stems = [src[:-len(".proto")] for src in srcs]
    sources = [stem + extension + ".cc" for stem in stems]
    headers = [stem + extension + ".h" for stem in stems]
    locations = " ".join(["$(locations %s)" % src for src in srcs])
    native.genrule(
        name = name + "_generate",
        srcs = srcs + protos,
        outs = sources + headers,
        cmd = "$(location @debian_protobuf//:bin/protoc) -I%s -I%s %s %s" %
              (_generated(), _root() or ".", command, locations),
        tools = tools + ["@debian_protobuf//:bin/protoc"],
        visibility = ["//visibility:private"],
    )
    return sources, headers

def stax_cc_proto_library(name, srcs, deps = [], **kwargs):
    """A cc_library of the messages in srcs."""
    protos = [_protos(dep) for dep in deps]
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + protos,
        **kwargs
    )
    sources, headers = _generate(name, srcs, protos, ".pb", "--cpp_out=" + _generated(), [])
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        deps = deps + ["//third_party/protobuf"],
        **kwargs
    )

def stax_cc_grpc_library(name, srcs, deps, **kwargs):
    """A cc_library of the service stubs in srcs."""
    plugin = "@debian_grpc//:bin/grpc_cpp_plugin"
    command = "--plugin=protoc-gen-grpc=$(location %s) --grpc_out=%s" % (plugin, _generated())
    sources, headers = _generate(name, srcs, [_protos(dep) for dep in deps], ".grpc.pb", command, [plugin])
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        deps = deps + ["//third_party/grpc"],
        **kwargs
    )
