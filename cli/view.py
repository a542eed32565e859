"""`thoughtgraph view`: search trees as one page."""

import webbrowser
from os.path import expanduser
from pathlib import Path

from thoughtgraph import results
from thoughtgraph.cli import stored
from thoughtgraph.cli.viewer import page

FOLDER_PAGE = "trees.html"


def view(path: str, out: str, *, browse: bool = False) -> None:
    """Writes the page of a result file, or of all results in a folder.

    Args:
        path: The file or folder.
        out: Where the page goes; beside the results when empty.
        browse: Whether to show it in the user's browser.
    """
    source = Path(expanduser(path))
    default = source / FOLDER_PAGE if source.is_dir() else source.with_suffix(".html")
    target = out or str(default)
    found = stored.read(path)
    results.check_writable(target)
    results.write(target, page(found))
    trees = "1 search tree" if len(found) == 1 else f"{len(found)} search trees"
    print(f"wrote {target} ({trees})")
    address = Path(expanduser(target)).resolve().as_uri()
    if browse and not webbrowser.open(address):
        print(f"no browser can be started here; open {address} yourself")
