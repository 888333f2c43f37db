"""A real Alertmanager on a port of its own choice, whose Slack receiver posts to an incoming webhook."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from live_prometheus import until

CONFIG = """
route: {receiver: slack, group_by: [alertname, service], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers:
  - name: slack
    slack_configs:
      - {api_url: "WEBHOOK", channel: "#alerts", send_resolved: true}
"""


@contextmanager
def live_alertmanager(binary: str, folder: Path, webhook: str) -> Iterator[str]:
    """Its address, once it takes alerts. The templates are its own."""
    (folder / "alertmanager.yml").write_text(CONFIG.replace("WEBHOOK", webhook))
    command = [
        binary,
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'alertmanager'}",
        "--web.listen-address=127.0.0.1:0",
        "--cluster.listen-address=",
    ]
    log = folder / "alertmanager.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, cwd=folder) as process:
        try:
            until("Alertmanager to listen", lambda: process.poll() is not None or b"address=127" in log.read_bytes())
            address = re.search(r'address=(127\S+)', log.read_text())
            assert address, log.read_text()
            yield address[1]
        finally:
            process.terminate()
            process.wait(timeout=20)
