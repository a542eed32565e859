"""Keeps what only a checkout needs out of built wheels; the rest is in pyproject.toml."""

from setuptools import setup
from setuptools.command.build_py import build_py

UNSHIPPED = {"thoughtgraph.bench.speed"}


class BuildPy(build_py):
    """Leaves the measurements of speed out, except where the checkout itself is installed."""

    def run(self) -> None:
        """Copies the packages."""
        if not self.editable_mode:
            self.packages = [name for name in self.packages or () if name not in UNSHIPPED]
        super().run()


setup(cmdclass={"build_py": BuildPy})
