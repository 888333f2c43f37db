"""Units of measure, and the readings a number has with one."""

from __future__ import annotations

import re

Reading = tuple[str, float]  # dimension ("" = plain count), factor to its base unit

_TIME = {
    1e-9: "ns nanos nanosecond nanoseconds 纳秒",
    1e-6: "us µs μs micros microsecond microseconds 微秒",
    1e-3: "ms msec msecs millis millisecond milliseconds 毫秒",
    1.0: "s sec secs second seconds 秒 秒钟",
    60.0: "m min mins minute minutes 分钟 分",
    3600.0: "h hr hrs hour hours 小时 个小时 钟头",
    86400.0: "d day days 天",
}
_BYTES = {
    (1.0,): "B byte bytes 字节",
    (1e3, 1024.0): "KB kB kb K",
    (1024.0,): "KiB Ki kib",
    (1e6, 1024.0**2): "MB mb M",
    (1024.0**2,): "MiB Mi mib",
    (1e9, 1024.0**3): "GB gb G",
    (1024.0**3,): "GiB Gi gib",
    (1e12, 1024.0**4): "TB tb T",
    (1024.0**4,): "TiB Ti tib",
}
_RATIO = {0.01: "% percent pct per_cent", 0.001: "‰"}
_MULTIPLIERS = {
    1e3: "K k thousand 千",
    1e4: "万",
    1e6: "M million 百万",
    1e7: "千万",
    1e8: "亿",
    1e9: "billion",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNITS: dict[str, tuple[Reading, ...]] = {}
for _factor, _names in _TIME.items():
    for _name in _names.split():
        UNITS[_name] = (("time", _factor),)
for _factors, _names in _BYTES.items():
    for _name in _names.split():
        UNITS[_name] = tuple(("bytes", _one) for _one in _factors)
for _factor, _names in _RATIO.items():
    for _name in _names.split():
        UNITS[_name] = (("ratio", _factor),)
for _factor, _names in _MULTIPLIERS.items():
    for _name in _names.split():
        UNITS[_name] = (*UNITS.get(_name, ()), ("", _factor))

# Single letters count as units only when they touch the number; "s" and "h" may stand after a space.
_LETTERS = sorted((name for name in UNITS if len(name) > 1 or not name.isascii() or name in "%"), key=len, reverse=True)
_ATTACHED = "|".join(re.escape(name) for name in [*_LETTERS, "s", "m", "h", "d", "B", "K", "k", "M", "G", "T"])
_SPACED = "|".join(re.escape(name) for name in [*_LETTERS, "s", "h", "B"])
UNIT = re.compile(rf"(?:-?(?P<attached>{_ATTACHED})|\s(?P<spaced>{_SPACED}))(?![A-Za-z0-9_]|-[a-z]{{3}})")

# Units that a key states: latency_ms, duration_seconds, timeoutMs, PodLatencyP90(s), memory_bytes
KEY_UNITS = {
    "ns", "nanos", "us", "micros", "ms", "msec", "millis", "milliseconds", "s", "sec", "secs", "seconds", "minutes",
    "mins", "hours", "days", "bytes", "kb", "mb", "gb", "kib", "mib", "gib", "percent", "pct", "%",
}  # fmt: skip

TIME_KEYS = _words(
    "time duration latency elapsed cost took take taken rt timeout delay lag wait 耗时 超时 延迟 时延 用时"
)
BYTE_KEYS = _words("memory mem size heap limit disk rss bytes byte usage used free 内存 磁盘 大小")
RATIO_KEYS = _words(
    "usage util utilization utilisation rate ratio percent percentage pct cpu mem memory disk used load success"
    " saturation 使用率 利用率 占用率 成功率 错误率 失败率"
)
