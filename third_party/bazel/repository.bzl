"""Folders beside this file as repositories."""

def _impl(repository_ctx):
    # By a label: the path of a local_repository is one of the main workspace, which Stax need not be.
    folder = repository_ctx.path(Label("//third_party/bazel:BUILD")).dirname.get_child(repository_ctx.name)
    for child in folder.readdir():
        repository_ctx.symlink(child, child.basename)

bundled_repository = repository_rule(
    implementation = _impl,
    doc = "@NAME is the folder third_party/bazel/NAME.",
    local = True,
)
