"""Draws docs/tree.png: the viewer's page of a real search, as it looks today.

    uv run python -m thoughtgraph.bench.screenshot RUN.json

`RUN.json` is what `thoughtgraph solve … --json` wrote. A headless Chromium takes the picture, in
the light colours; Debian has it as `chromium`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from thoughtgraph.errors import InputError

COMMAND = (sys.executable, "-c", "from thoughtgraph.cli.app import run; run()", "view")
DOCS = Path(__file__).resolve().parents[1] / "docs"
SIZE = (1440, 810)
"""Width and height of the page, in CSS pixels (ours)."""
PATIENCE_MS = 20_000
"""Milliseconds of the page's own clock before the picture is taken (ours)."""


def screenshot(result: Path, to: Path, *, dark: bool = False) -> None:
    """Takes a picture of a result's page.

    Args:
        result: A stored result.
        to: The PNG file.
        dark: Whether the page is shown in its dark colours.

    Raises:
        InputError: There is no Chromium here.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise InputError("no Chromium is installed here; Debian has it as `chromium`")
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder, "tree.html")
        subprocess.run([*COMMAND, str(result), "--out", str(html)], check=True, capture_output=True)
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
            f"--window-size={SIZE[0]},{SIZE[1]}",
            f"--virtual-time-budget={PATIENCE_MS}",
            f"--screenshot={to.resolve()}",
            *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        ]
        subprocess.run([browser, *flags, html.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("result", type=Path)
    parser.add_argument("--out", type=Path, default=DOCS / "tree.png")
    parser.add_argument("--dark", action="store_true")
    arguments = parser.parse_args()
    screenshot(arguments.result, arguments.out, dark=arguments.dark)
