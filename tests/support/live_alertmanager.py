"""A real Alertmanager on a port of its own choice, whose Slack receiver posts to an incoming webhook."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from listening_process import listening

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
    with listening(command, folder, ready=b"address=127", address=r"address=(127\S+)") as address:
        yield address
