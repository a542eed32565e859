"""Real servers of the graphs for tests: `langgraph dev`, and aegra where it is installed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
READY = 120.0
"""Seconds a slow machine may need to start a server."""
AEGRA = os.environ.get("THOUGHTGRAPH_AEGRA") or str(ROOT / ".aegra" / "bin" / "aegra")
"""aegra's command, in an environment of Python 3.12 that has thoughtgraph."""
POSTGRES = os.environ.get("THOUGHTGRAPH_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
"""Where a database may be made for a test; trusted connections only."""
FOREIGN = ("OPENAI_", "LANGSMITH_", "THOUGHTGRAPH_")


class Server(NamedTuple):
    url: str
    log: Path
    group: int = 0
    """Its process group: a server may serve from a child."""


class Answer(NamedTuple):
    status: int
    body: Any
    text: str


def missing(kind: str) -> str:
    """Returns why a kind of server cannot be tested here; empty if it can."""
    if kind != "aegra":
        return "" if find_spec("langgraph_api") else "langgraph-cli[inmem] is not installed"
    return no_database() if Path(AEGRA).is_file() else f"no aegra at {AEGRA}"


def no_database() -> str:
    """Returns why nothing can be tested on PostgreSQL here; empty if it can."""
    if shutil.which("psql") is None:
        return "psql is not installed"
    with suppress(subprocess.CalledProcessError):
        _sql("select 1")
        return ""
    return f"no PostgreSQL at {POSTGRES}"


@contextmanager
def serving(kind: str, folder: Path, config: Path, **variables: str) -> Iterator[Server]:
    """Starts `aegra` or `langgraph dev`, and ends it.

    It writes its log to the folder, and runs, and may write, where its configuration lies. Its
    environment has the variables and no keys of its own. With `DATABASE_URL` aegra has that
    database, else one of its own, which is dropped with it.
    """
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", folder / "log"
    env = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
    env |= {"LANGSMITH_TRACING": "false", **variables}
    database = f"thoughtgraph_{os.getpid()}_{port}"
    if kind == "aegra":
        # As the image does: `aegra serve` would start it as a child that gets no signal.
        uvicorn = str(Path(AEGRA).with_name("uvicorn"))
        command = [uvicorn, "aegra_api.main:app", "--host", "127.0.0.1", "--port", str(port)]
        env["AEGRA_CONFIG"] = str(config)
        env = {"DATABASE_URL": f"{POSTGRES}/{database}", "AUTH_TYPE": "custom", **env}
        env["ENV_MODE"] = "PRODUCTION"  # else each refusal costs a second, for a coloured traceback
    else:
        command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
        command += ["--n-jobs-per-worker", "5", "--config", config.name, "--port", str(port)]
    own = kind == "aegra" and "DATABASE_URL" not in variables
    with database_of(database) if own else nullcontext(), log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=config.parent,
            env=env,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            _wait_until_ready(process, url, log)
            yield Server(url, log, process.pid)
        finally:
            with suppress(ProcessLookupError):  # a test may have killed it
                os.killpg(process.pid, signal.SIGTERM)  # aegra serves from a child
            process.wait(timeout=60)


@contextmanager
def database_of(name: str) -> Iterator[str]:
    """Makes a database of PostgreSQL, whose address it gives, and drops it."""
    _sql(f"create database {name}")
    try:
        yield f"{POSTGRES}/{name}"
    finally:
        _sql(f"drop database {name} with (force)")


def ask(
    server: Server, method: str, path: str, body: Any = None, *, key: str = "", **headers: str
) -> Answer:
    """Sends one request and returns its answer, whatever it is."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers, **({"x-api-key": key} if key else {})}
    request = urllib.request.Request(server.url + path, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            status, text = reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            status, text = error.code, error.read().decode()
    try:
        return Answer(status, json.loads(text), text)
    except ValueError:
        return Answer(status, None, text)


def copied(folder: Path, config: str) -> Path:
    """Copies one of the checkout's configurations to an empty folder, where a server may write."""
    file = folder / config
    file.parent.mkdir(exist_ok=True)
    (folder / "graphs").symlink_to(ROOT / "graphs")
    for each in (ROOT / config).parent.glob("*"):
        if each.suffix in (".py", ".json"):
            shutil.copy(each, file.parent)
    return file


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + READY
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/docs", timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-4000:]}")


def _sql(command: str) -> None:
    arguments = ["psql", "-q", f"{POSTGRES}/postgres", "-c", command]
    subprocess.run(arguments, check=True, capture_output=True, timeout=60)
