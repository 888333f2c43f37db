"""Word lists of the rules, English and Chinese. Data only."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


def _alternatives(text: str) -> list[str]:
    return text.split("|")


STOP_WORDS = frozenset(
    _words(
        """a an and are as at be been being but by can could did do does for from had has have he her him his how i if in
    into is it its me my no nor not of off on or our out over own per s she should so such t than that the their them
    then there these they this those to too up us very was we were what when where which while who whom why will with
    would you your
    ts time timestamp datetime date level lvl severity utc gmt cst am pm msg message log"""
    )
)
STOP_WORDS_ZH = frozenset(_words("的了 了一 一个 这个 那个 以及 并且 或者 但是 出现 发生 存在 进行"))
LEVELS = frozenset(
    _words(
        """trace debug info information notice warn warning error err fatal critical crit alert emerg emergency severe
    panic fine finer finest config stdout stderr"""
    )
)
DAYS_AND_MONTHS = frozenset(
    _words(
        """monday tuesday wednesday thursday friday saturday sunday tues thur january february march april june july august
    september sept october november december time beijing"""
    )
)

# Keys that mean the same. A word of the claim that names a key literally outweighs one that only means it.
CONCEPTS: dict[str, list[str]] = {
    "count": _words("""count counts times occurrence occurrences occurred entry entries line lines event events message messages
        hit hits error errors warnings exception exceptions logged number num qty 次数 数量 次 条 个 行 笔 错误 日志"""),
    "before": _words("before earlier previous previously prior preceding baseline 之前 此前 先前 以前"),
    "first": _words("first started began begin initial initially 首次 最初 首个 最早"),
    "last": _words("last latest now current currently final finally 最后 最新 当前 目前 现在 末次 最近一次"),
    "max": _words("max maximum peak peaked highest 最大 最高 峰值"),
    "min": _words("min minimum lowest 最小 最低"),
    "average": _words("avg average mean 平均 均值"),
    "total": _words("total overall 总数 总计 总共 共"),
    "active": _words("active busy 活跃 活动"),
    "idle": _words("idle 空闲"),
    "waiting": _words("waiting wait waited waits pending queued 等待 排队"),
    "failed": _words("failed fail fails failing failure failures 失败"),
    "success": _words("success successes succeeded succeeds successful 成功"),
    "retry": _words("retry retries retried retrying 重试"),
    "used": _words("used 已用 已使用"),
    "free": _words("free avail available remaining 可用 剩余"),
    "restart": _words("restart restarts restarted restarting 重启"),
    "status": _words("status http 状态码"),
    "read": _words("read reads reading 读"),
    "write": _words("write writes written writing 写"),
}

# "from A to B" gives its numbers a side; a key may be on one, or on both.
SIDES = {
    "from": _words(
        "old previous first before from initial baseline prior min max peak lowest highest 旧 原 之前 此前 首"
    ),
    "to": _words("new last after to current now latest min max peak lowest highest 新 之后 当前 最新 最后"),
}

# Words after which digits are a code: compared exactly, never rounded, never counted.
CODE_WORDS = _alternatives(
    "http|https|status|status code|code|exit code|exit status|exit|errno|error|err|signal|sqlstate|port|line|pid|id|thread|worker"
    "|partition|shard|broker|node|attempt|step|version|build|revision|release|order|job|task|request|user|trace|batch"
    "|状态码|错误码|返回码|退出码|编号|端口|行号|版本|线程|分区|订单|订单号|第"
)

NUMBER_WORDS = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
}  # fmt: skip

WORKLOAD_SUFFIXES = frozenset(
    _words(
        """service services svc api server db gateway worker workers proxy exporter controller pod node cluster prod job
    operator app web frontend backend deployment cache queue topic consumer producer manager agent scheduler ingress
    master primary replica slave dlq staging test dev canary bff ui client store cron sidecar daemon broker registry
    database redis mysql postgres kafka mongo nginx"""
    )
)
WORKLOAD_KINDS = _alternatives(
    "service|services|pod|pods|topic|deployment|namespace|container|database|queue|cluster|bucket"
    "|服务|容器|主题|实例|命名空间|队列|数据库|应用|模块"
)

# A hyphenated word with one of these is English.
COMPOUND_GLUE = frozenset(
    _words(
        """of to in up out off on by the and per time back long short high low read write only non re pre post un self
    related side based level facing wide bound free running way like specific induced heavy end over under down third
    first second single multi half full cross well known due able aware age hour minute day week so called one two three
    old new near real safe less more much few top left right last next hard soft fast slow"""
    )
)
KNOWN_TECH = frozenset(
    _words(
        """redis kafka mysql postgres postgresql mariadb nginx java jvm http https tcp udp dns api sql db cpu gpu ram disk
    rabbitmq elasticsearch mongo mongodb etcd consul kubernetes docker linux kernel envoy istio grpc rest jdbc tls ssl
    prometheus hikari hikaricp tomcat spring netty zookeeper oracle python node golang php aws rds ec2 s3 eks gke gc
    oom io qps tps rpc json yaml xml html jedis lettuce dubbo nacos sentinel seata"""
    )
)
# Code-like spelling, but words of the trade that no evidence need bear.
ORDINARY_CODE = frozenset(
    _words(
        """k8s ipv4 ipv6 i/o n/a tcp/ip and/or 24/7 ci/cd e.g i.e vs etc a.m p.m postgresql mysql mariadb mongodb rabbitmq
    activemq rocketmq elasticsearch opensearch github gitlab javascript typescript nodejs devops coredns websocket
    graphql grpc hikaricp openai saas paas iaas ios macos iops apis dbs qps cpus gpus pvcs pvs urls ids jvms slos slas
    read/write cpu/memory client/server request/response http/1.1 http/2 http/3 utf-8 utf8 x86 arm64 amd64 log4j
    s3 ec2 rds eks oauth2 oauth http2 sha256 md5 base64 h2 p2p b2b java8 java11 java17 kubernetes openshift"""
    )
)
ORDINARY_WORDS = frozenset(
    _words(
        """this that these those each other same whole every any some all both the its their our new old upstream downstream
    affected failing failed called calling target remote internal external dependent dependency local main single
    backend frontend web cloud data production staging test client server application core shared central master
    primary secondary replica standby public private healthy unhealthy running pending crashed restarted terminated
    ready unready multiple several many few more most another one two three first last next previous single no
    connection connections thread threads pool pools circuit breaker rate limit limiter load balancer health check
    message messages queue dead letter memory leak heap stack trace error errors latency request requests response
    responses timeout timeouts retry retries cache hit miss disk space file files system network socket port host
    database container pod service cluster node query queries transaction transactions lock deadlock index table slow
    log logs alert alerts metric metrics cpu page pages
    config configuration certificate expiry key keys value values exit code status state reason event events window
    baseline number count total average maximum minimum percent percentage usage utilization throughput traffic volume
    select insert update delete create failed failure success warning fatal critical timeout refused closed opened
    denied forbidden notfound invalid missing unknown unavailable exceeded overloaded exhausted third party messages
    and for with from under when while was were has have had does did which whose via per into onto off
    job worker consumer producer broker lag offset partition deployment rollout release version image mount volume"""
    )
)
