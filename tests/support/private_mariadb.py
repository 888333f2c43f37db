"""A private MariaDB in a temporary folder on a free loopback port.

Run as a script it is the server's guard: it starts the server, starts it again after a crash, and kills it when the
process that wanted it is gone, however that process died. `MariaDB` is the handle that tests hold.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pymysql
from sqlalchemy import create_engine, make_url, text

POLL_SECONDS = 0.05
# A machine that runs many tests at once starts a server slowly.
START_SECONDS = 180.0


@dataclass(frozen=True)
class MariaDB:
    """`folder` holds `ready` ("port pid") while the server answers, and `failed` where it could not start."""

    folder: Path

    @classmethod
    def start(cls, folder: Path, binary: str, owner: int) -> "MariaDB":
        """Start a guard that outlives the calling process but not the process `owner`."""
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, str(folder), binary, str(owner)]
        subprocess.run(command, check=True, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return cls(folder)

    @property
    def port(self) -> int:
        return self._ready()[0]

    @property
    def pid(self) -> int:
        return self._ready()[1]

    def url(self, database: str) -> str:
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/{database}"

    def kill(self) -> None:
        """As a crash would; returns when the guard has started the server again."""
        before = self.pid
        os.kill(before, signal.SIGKILL)
        _until(lambda: self._ready()[1] != before, "the server did not come back")

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "stop").touch()

    def _ready(self) -> tuple[int, int]:
        _until(lambda: (self.folder / "ready").exists() or (self.folder / "failed").exists(), "no answer")
        if (self.folder / "failed").exists():
            raise RuntimeError((self.folder / "failed").read_text())
        port, pid = (self.folder / "ready").read_text().split()
        return int(port), int(pid)


def _until(happened, complaint: str, seconds: float = START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(complaint)
        time.sleep(POLL_SECONDS)


def new_schema(server: str, suffix: str) -> str:
    """A fresh schema beside the one that the server's address names; gives its address."""
    url = make_url(server)
    name = f"{url.database}_test_{suffix}"
    engine = create_engine(url.set(database=""))
    with engine.begin() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS `{name}`"))
        connection.execute(text(f"CREATE DATABASE `{name}`"))
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)


def guard(folder: Path, binary: str, owner: int) -> None:
    server = None
    try:
        install(folder)
        port = free_port()  # at the last moment: others look for one too
        while lives(owner) and not (folder / "stop").exists():
            if server is None or server.poll() is not None:
                (folder / "ready").unlink(missing_ok=True)
                server = serve(folder, binary, port)
                announce(folder, server, port)
            time.sleep(4 * POLL_SECONDS)
    except (OSError, subprocess.SubprocessError, TimeoutError) as error:
        write(folder / "failed", f"{error}\n{(folder / 'log').read_text()[-2000:]}")
        _until(lambda: not lives(owner), "", seconds=3600)
    finally:
        if server is not None:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def install(folder: Path) -> None:
    command = ["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data", "--skip-test-db"]
    command += ["--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"]
    command += [own_tmpdir(folder), *as_user()]
    with (folder / "log").open("wb") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)


def serve(folder: Path, binary: str, port: int) -> "subprocess.Popen[bytes]":
    command = [binary, "--no-defaults", f"--datadir={folder}/data", f"--port={port}", "--bind-address=127.0.0.1"]
    command += ["--socket=private.sock", "--skip-name-resolve", "--innodb-log-file-size=8M", "--max-connections=300"]
    # A crash of the server keeps what was committed; a crash of the machine need not.
    command += ["--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2"]
    command += [own_tmpdir(folder), *as_user()]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=(folder / "log").open("ab"))


def announce(folder: Path, server: "subprocess.Popen[bytes]", port: int) -> None:
    _until(lambda: server.poll() is not None or answers(port), "the server did not start")
    if server.poll() is not None:
        raise OSError(f"mariadbd ended with {server.returncode}")
    write(folder / "ready", f"{port} {server.pid}")


def answers(port: int) -> bool:
    try:
        pymysql.connect(host="127.0.0.1", port=port, user="root", connect_timeout=1, read_timeout=5).close()
    except pymysql.err.OperationalError:
        return False
    return True


def own_tmpdir(folder: Path) -> str:
    """A MariaDB that starts removes every temporary table that it finds in its folder for those, other servers' too."""
    (folder / "tmp").mkdir(exist_ok=True)
    return f"--tmpdir={folder}/tmp"


def as_user() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write(path: Path, text: str) -> None:
    """Whole or not at all: a reader polls for the file."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


if __name__ == "__main__":
    if os.fork():
        os._exit(0)  # the starter goes on; the guard belongs to nobody
    guard(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
