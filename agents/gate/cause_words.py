"""Causal wording, English and Chinese, and the records that state their own cause. Data only."""

from __future__ import annotations

import re

# for lower-case text
CAUSAL = re.compile(
    r"\b(?:because|caus(?:e|es|ed|ing)(?![-_])|due to(?!\s+(?:expire|start|run|end|be)\b)|owing to|thanks to|root[- ]cause"
    r"|as a (?:result|consequence)(?: of)?|result(?:s|ed|ing)? (?:in|from)|(?:lead|leads|led|leading) to|trigger(?:ed|s|ing)? by"
    r"|triggers? (?:a|an|the)|triggered (?:a|an|the) (?!alert|alarm)|stem(?:s|med|ming)? from|attribut(?:ed|able) to"
    r"|responsible for|therefore|hence|thus|consequently|driven by|induced by|brought (?:down|about)|the reason (?:for|why|is|was)"
    r"|explains|explained by|the culprit|to blame|is behind|which made|made .{1,40} (?:fail|slow|crash|time out)"
    r"|account(?:s|ed)? for|origin(?:ates?|ated) (?:in|from)|contribut(?:es?|ed|ing) to|responsible)\b"
    r"|因为|由于|导致|造成|引起|引发|致使|根因|根本原因|原因(?:是|为|在于|就是)|源于|源自|归因|归咎|因此|所以|从而|使得|所致|拖慢|拖垮"
    r"|促使|罪魁|触发(?!了?(?:告警|报警|警报|限流|熔断|器|条件|阈值))|(?<![原起病死内外基])因(?!素|子|果|人而异)",
)

STATED_CAUSES = re.compile(
    r"\breasons?[\"']?\s*[:=]\s*[\"']?[^,;\"'\n)}\]]{2,80}"
    r"|\b(?:caused by|due to|because(?: of)?|as a result of|triggered by|killed by)\b.{2,120}"
    r"|\b(?:out of memory|OOMKilled|oom[-_ ]?kill\w*|killed process)\b.{0,60}"
    r"|\bFailedScheduling\b.{0,300}|\bdidn't match\b.{0,120}|\bInsufficient (?:cpu|memory|\S+)"
    r"|\bBack-off (?:restarting|pulling)\b.{0,100}"
    r"|\b(?:error|exception|fatal|panic)[\"']?\s?[:=].{0,200}?\b(?:undefined|not defined|not set|missing|required|no such"
    r"|cannot find|not found)\b.{0,60}"
    r"|\bevicted\b.{0,160}|\bthe node was low on resource\b.{0,80}|\b(?:liveness|readiness|startup) probe failed\b.{0,120}"
    r"|\bno space left on device\b|\bcertificate has expired\b.{0,60}|\bx509: .{2,120}|\bexceeded quota\b.{0,200}"
    # an image: which one, and why it did not come
    r"|\bfailed to (?:pull|resolve)\b.{0,300}?\b(?:not found|denied|unauthorized|forbidden|no such|does not exist)\b.{0,60}"
    r"|\bpull access denied\b.{0,120}"
    # what a pod refers to; kubectl's own "Error from server (NotFound): secrets …" is about a look-up and does not match
    r"|\b(?:persistentvolumeclaim|configmap|secret|serviceaccount|(?:storage|runtime|priority)class(?:\.[a-z0-9.]+)?)"
    r" \"?[\w./-]+\"? (?:was )?not found\b|\bcouldn't find key \S+ in .{2,80}|\bviolates PodSecurity\b.{0,160}"
    # why one call of the system failed. A refused or timed-out connection says that it failed, not why
    r"|\blookup \S+(?: on \S+)?: no such host\b|\b(?:open|mkdir|read|write|exec|stat|listen|unlink|chown)\b.{1,120}: permission denied\b"
    r"|\bexec format error\b|\baddress already in use\b"
    r"|(?:原因|根因)\s*(?:是|为|在于)?\s*[:=]?\s*[^,;。]{2,60}|(?:由于|因为).{2,80}|.{2,40}(?:导致|引发|造成|引起).{0,40}",
    re.IGNORECASE,
)

HEALTH = re.compile(
    r"\b(?:healthy|normal(?:ly)?|fine|stable|no (?:problems?|issues?|incidents?|impact|outage)|works?|working|unaffected"
    r"|not affected|recovered|all good|is ok|is up)\b|健康|正常|没有问题|无问题|无异常|没有异常|稳定|未受影响|已恢复|良好|排除",
    re.IGNORECASE,
)
LOOKED_UP = re.compile(
    r"quer(?:y|ies|ied)|search|look(?:ed)?[- ]?(?:up|ed)|\blogs?\b|log (?:lines?|entries|records?)|metrics?|records?\b|data\b"
    r"|results?|return|\bfound\b|match|entries|\brows?\b|documents?|evidence|samples?|series|available|missing|could not|unknown"
    r"|no information|not (?:checked|visible|recorded)|lines?\b|查询|检索|搜索|查找|日志|指标|记录|数据|结果|返回|查到|找到|匹配|证据"
    r"|缺失|缺少|无法|未知|没有查|未获取|信息",
    re.IGNORECASE,
)

# Symptoms a record must bear itself, or its stated cause is that of another event.
SYMPTOMS = {
    name: re.compile(pattern)
    for name, pattern in {
        "latency": r"latenc|slow|delay|p9[059]\b|延迟|变慢|缓慢|响应慢|耗时|拖慢",
        "errors": r"error rate|error ratio|\b5xx\b|\b50[0234]s?\b|错误率|失败率|报错率",
        "timeout": r"time[- ]?outs?\b|timed out|超时",
        "outage": r"outage|unavailab|downtime|不可用|宕机|瘫痪|中断",
        "lag": r"\blag\b|backlog|积压|堆积",
        "throughput": r"throughput|\bqps\b|\btps\b|吞吐",
    }.items()
}
BUSINESS_WORDS = (
    "checkout", "payment", "login", "customer", "users", "orders", "checkouts", "下单", "支付", "登录", "客户", "用户", "订单", "结账",
)  # fmt: skip

# One thing in both languages: a cause quoted in English may be claimed in Chinese.
TERMS = {
    name: re.compile(pattern)
    for name, pattern in {
        "memory": r"oom|memory|heap|内存|堆",
        "disk": r"\bdisk|no space|storage|磁盘|存储|空间",
        "timeout": r"time[- ]?out|timed out|超时",
        "refused": r"refus|拒绝",
        "scheduling": r"schedul|didn't match|insufficient|调度",
        "selector": r"selector|affinity|选择器|亲和",
        "probe": r"probe|探针|健康检查",
        "undefined": r"undefined|not set|not defined|missing|未定义|未设置|缺少|缺失",
        "certificate": r"certificate|\bcert\b|证书",
        "expired": r"expired|过期|到期",
        "evicted": r"evict|驱逐",
        "image": r"\bimage|镜像",
        "taint": r"taint|污点",
        "connections": r"connection|连接",
        "permission": r"permission|forbidden|denied|权限|禁止",
        "dns": r"\bdns\b|resolve|域名|解析",
        "null": r"null|空指针",
        "cpu": r"\bcpu\b",
        "quota": r"quota|配额",
        "volume": r"volume|\bpvc?\b|persistentvolume|卷",
        "not_found": r"not found|no such|找不到|不存在",
    }.items()
}
