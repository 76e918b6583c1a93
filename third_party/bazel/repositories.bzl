"""What Bazel 4.2.3 would download at its first build, as local repositories."""

def bazel_repositories():
    """Declares the rules that Bazel's own tools load."""
    native.local_repository(
        name = "rules_cc",
        path = "third_party/bazel/rules_cc",
    )
    native.local_repository(
        name = "remote_coverage_tools",
        path = "third_party/bazel/remote_coverage_tools",
    )
    native.local_repository(
        name = "rules_java",
        path = "/usr/share/bazel/rules/java",
    )
    native.local_repository(
        name = "rules_proto",
        path = "/usr/share/bazel/rules/proto",
    )
    native.local_repository(
        name = "bazel_skylib",
        path = "/usr/share/bazel/tools/skylib",
    )
