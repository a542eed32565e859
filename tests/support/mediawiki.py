"""A real MediaWiki on 127.0.0.1: Debian's package, SQLite and PHP's own web server.

To install it: apt-get install --no-install-recommends mediawiki php-cli
php-sqlite3 php-xml php-mbstring php-intl php-apcu php-curl
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from support.serving import free_port

HOME = Path("/usr/share/mediawiki")
READY = 60.0
"""Seconds a slow machine may need to start it."""
SETTINGS = r"""
$wgServer = 'http://127.0.0.1:' . getenv('MW_PORT');
$wgCacheDirectory = __DIR__ . '/cache';
$wgMainCacheType = CACHE_NONE;
$wgJobRunRate = 0;
wfLoadExtension('TextExtracts');
# As the extension Disambiguator does: __DISAMBIG__ becomes the page property that the API tells.
$wgHooks['GetDoubleUnderscoreIDs'][] = static function (&$ids) { $ids[] = 'disambiguation'; };
$wgExtensionMessagesFiles['LocalDisambig'] = __DIR__ . '/disambig.i18n.php';
"""
MAGIC_WORD = "<?php\n$magicWords = ['en' => ['disambiguation' => [0, '__DISAMBIG__']]];\n"
REVISION = (
    "<revision><id>{id}</id><timestamp>2020-01-01T00:00:00Z</timestamp>"
    "<contributor><username>Test</username><id>1</id></contributor>"
    "<model>wikitext</model><format>text/x-wiki</format>"
    '<text xml:space="preserve">{text}</text></revision>'
)


def missing() -> str:
    """Says what is not installed; empty if nothing is missing."""
    if shutil.which("php") is None:
        return "php is not installed"
    if not (HOME / "maintenance/install.php").exists():
        return f"there is no MediaWiki in {HOME} (Debian's package mediawiki)"
    return ""


@contextmanager
def mediawiki(folder: Path, pages: Mapping[str, str]) -> Iterator[str]:
    """Starts a wiki with these pages (wikitext by title); gives the address of its api.php."""
    port = str(free_port())
    url = f"http://127.0.0.1:{port}"
    env = {**os.environ, "MW_PORT": port}
    _install(folder, url, env)
    env["MW_CONFIG_FILE"] = str(folder / "LocalSettings.php")
    _import(folder, pages, env)
    command = ["php", "-d", "opcache.enable_cli=1", "-d", "memory_limit=256M"]
    command += ["-S", f"127.0.0.1:{port}", "-t", str(HOME)]
    with (folder / "log").open("wb") as log:
        # A session of its own: its workers do not end with it and would keep the port.
        server = subprocess.Popen(
            command,
            env={**env, "PHP_CLI_SERVER_WORKERS": "2"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait(server, f"{url}/api.php?action=query&meta=siteinfo&format=json", folder / "log")
            yield f"{url}/api.php"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=30)


def _install(folder: Path, url: str, env: Mapping[str, str]) -> None:
    (folder / "cache").mkdir()
    given = ["--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", str(folder / "data")]
    given += ["--server", url, "--scriptpath", "", "--confpath", str(folder)]
    given += ["--pass", "wikitest-pass-12345", "TestWiki", "Admin"]
    _php("install.php", given, env)
    with (folder / "LocalSettings.php").open("a") as settings:
        settings.write(SETTINGS)
    (folder / "disambig.i18n.php").write_text(MAGIC_WORD)


def _import(folder: Path, pages: Mapping[str, str], env: Mapping[str, str]) -> None:
    dump = folder / "dump.xml"
    dump.write_text(_dump(pages), encoding="utf-8")
    _php("importDump.php", ["--quiet", str(dump)], env)
    with sqlite3.connect(folder / "data/wiki.sqlite") as db:
        # Wikipedia's search does not find redirects either.
        db.execute(
            "DELETE FROM searchindex WHERE rowid IN "
            "(SELECT page_id FROM page WHERE page_is_redirect = 1)"
        )
    db.close()


def _dump(pages: Mapping[str, str]) -> str:
    parts = [
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{at}</id>{_redirect(text)}"
        f"{REVISION.format(id=at, text=escape(text))}</page>"
        for at, (title, text) in enumerate(pages.items(), 100)
    ]
    space = "http://www.mediawiki.org/xml/export-0.11/"
    return f'<mediawiki xmlns="{space}" version="0.11" xml:lang="en">{"".join(parts)}</mediawiki>'


def _redirect(text: str) -> str:
    if not text.startswith("#REDIRECT"):
        return ""
    return f"<redirect title={quoteattr(text[text.index('[[') + 2 : text.index(']]')])} />"


def _php(script: str, given: list[str], env: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["php", str(HOME / "maintenance" / script), *given],
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{script}: {done.stdout[-2000:]}{done.stderr[-2000:]}"


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + READY
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"MediaWiki did not start:\n{log.read_text()[-4000:]}")
