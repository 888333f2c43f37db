"""Each kind of secret is masked where it is one, and left where it only looks like one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.errors import ToolConfigError
from tools.redaction import Redactor, placeholder
from tools.redaction_rules import RULES, luhn

# Joined from parts, so that scanners of this repository do not take the examples for leaks.
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJmZHNlIn0." + "c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83vEg==\n-----END RSA PRIVATE KEY-----"
CARD = "4111 1111 1111 1111"
CN_ID = "11010519491231002X"

SECRETS = [
    ("private-key", f"{PEM} end", PEM),
    ("private-key", "key: " + PEM.replace("\n", "\\n"), PEM.replace("\n", "\\n")),
    ("private-key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg", "MIIEvQIBADANBg"),
    ("aws-access-key", "id AKIA" + "IOSFODNN7EXAMPLE used", "AKIA" + "IOSFODNN7EXAMPLE"),
    (
        "aws-secret-key",
        "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
        "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    ),
    ("gcp-api-key", "key=AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    ("gcp-oauth", "ya29." + "a0AfH6SMBx1y2z3A4b5C6d7", "a0AfH6SMBx1y2z3A4b5C6d7"),
    ("azure-key", "DefaultEndpointsProtocol=https;AccountKey=Zm9vYmFyYmF6cXV4+/==;Suffix=x", "Zm9vYmFyYmF6cXV4+/=="),
    (
        "azure-sas",
        "https://x.blob.core.windows.net/c?sv=2022&sig=AbCdEfGhIjKlMnOpQrStUvWxYz0123456789%3D",
        "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    ),
    ("aliyun-access-key", "LTAI" + "4FzT8wq2mNcVbXsJdKhR", "LTAI4FzT8wq2mNcVbXsJdKhR"),
    ("tencent-secret-id", "AKID" + "z8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE", "z8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE"),
    ("slack-token", "xoxb-" + "123456789012-abcdefGHIJKL", "123456789012-abcdefGHIJKL"),
    ("slack-webhook", "https://hooks.slack.com/services/" + "T00000000/B00000000/XXXXabcd1234", "XXXXabcd1234"),
    ("github-token", f"remote: {GITHUB}", GITHUB),
    ("gitlab-token", "glpat-" + "Ab1_cD2-eF3gH4iJ5kL6", "Ab1_cD2-eF3gH4iJ5kL6"),
    ("openai-key", "sk-proj-" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7"),
    ("anthropic-key", "sk-ant-" + "api03-Ab1Cd2Ef3Gh4Ij5Kl6", "api03-Ab1Cd2Ef3Gh4Ij5Kl6"),
    ("stripe-key", "sk_live_" + "51H8abcDEFghi", "51H8abcDEFghi"),
    ("huggingface-token", "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123", "AbCdEfGhIjKlMnOpQrStUvWxYz0123"),
    ("npm-token", "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + "a" * 60, "a" * 60),
    ("sendgrid-key", "SG." + "abcdefghijklmnopqrstuv." + "b" * 43, "b" * 43),
    ("vault-token", "hvs." + "CAESIAb1Cd2Ef3Gh4Ij5Kl6Mn", "CAESIAb1Cd2Ef3Gh4Ij5Kl6Mn"),
    ("age-key", "AGE-SECRET-KEY-1" + "Q" * 58, "Q" * 58),
    ("jwt", f"USER TOKEN: {JWT} USER ID: 4d2a", JWT),
    ("auth-header", "Authorization: Bearer opaque-value", "opaque-value"),
    ("auth-header", '{"authorization": "token a1b2c3d4"}', "a1b2c3d4"),
    ("bearer-token", "curl -H 'Bearer a1b2c3d4e5f6'", "a1b2c3d4e5f6"),
    ("basic-auth", "Proxy: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("url-password", "redis://:p@ss@cache:6379/0", "p@ss"),
    ("url-password", "mysql+pymysql://app:s3cret@db/orders", "s3cret"),
    ("dsn-password", "dsn=root:s3cret@tcp(db:3306)/orders", "s3cret"),
    ("password", "password=hunter2", "hunter2"),
    ("password", 'DB_PASSWORD: "two words"', "two words"),
    ("password", '{\\"password\\":\\"hunter2\\"}', "hunter2"),
    ("password", "spring.datasource.password => hunter2,", "hunter2"),
    ("password", "密码：hunter2", "hunter2"),
    ("password", "mysqldump --password hunter2 -h db", "hunter2"),
    ("password", "CREATE USER app IDENTIFIED BY 'hunter2'", "hunter2"),
    ("password", "password_hash=5f4dcc3b5aa765d61d83", "5f4dcc3b5aa765d61d83"),
    ("api-key", "X-Api-Key: abcdef", "abcdef"),
    ("api-key", "client_secret=plainletters", "plainletters"),
    ("secret", "token=8f14e45fceea167a", "8f14e45fceea167a"),
    ("secret", "vault login --token 8f14e45fceea167a", "8f14e45fceea167a"),
    ("cookie", "Cookie: JSESSIONID=8F14E45FCEEA167A", "8F14E45FCEEA167A"),
    ("card", f"paid with {CARD}.", CARD),
    ("card", "card_number=4111111111111111", "4111111111111111"),
    ("card", "银行卡：6222 0200 0000 0000 000", "6222"),
    ("cn-id", f"身份证号 {CN_ID}", CN_ID),
    ("cn-id", '"id_card": "' + CN_ID + '"', CN_ID),
    ("cn-id", "110105 19491231 002X", "002X"),
]

PLAIN = [
    "081109 203615 148 INFO dfs.DataNode$PacketResponder: Received block blk_-1608999687919862906 of size 91178",
    "trace 4111111111111111 span 4444555566667777",  # no key word, no grouping
    "order 4111 1111 1111 1112",  # fails the checksum
    f"serial {CN_ID}",
    'FATAL: password authentication failed for user "app"',
    "password: incorrect",
    "Password is required",
    "pwd=/home/app",
    "max_tokens: 4096, prompt_tokens=1234567890",
    "token: invalid",
    "Secret: redis-creds",
    "SecretName:  kube-api-access-x7k2p",
    "Tokens:              default-token-x7k2p",
    "secret: prod-db-credentials-2",
    "token bucket is empty: token=none",
    "password=${DB_PASSWORD} password={{ vault }} password=******",
    "http://checkout:8080/pay?mail=a@example.com",
    "ssh git@github.com:org/repo.git",
    "WWW-Authenticate: Basic realm=orders",
    "bearer authentication failed",
    "risk-assessment-and-planning-2026 desk-0123456789abcdef0123",
    "task sk-service-with-a-long-name-2",
    "sha256:4bbfbe07eceeed5ab9136b37faf4f5cff3c28a339087ce068a76f2c1733054e8",
    "oncall@example.com at 10.244.0.196 on ip-10-0-1-42.us-east-1.compute.internal",
    "eyJust a word",
    "token=v1.2.3",
    "-----BEGIN CERTIFICATE-----",
    "",
]


@pytest.mark.parametrize(
    ("kind", "text", "secret"), SECRETS, ids=[f"{kind}-{i}" for i, (kind, _, _) in enumerate(SECRETS)]
)
def test_a_secret_is_masked_under_its_kind(kind: str, text: str, secret: str) -> None:
    masked = Redactor().text(text)
    assert secret not in masked
    assert f"[REDACTED:{kind}:" in masked
    assert Redactor().text(masked) == masked


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_every_rule_has_an_example() -> None:
    assert {rule.kind for rule in RULES} == {kind for kind, _, _ in SECRETS}


def test_equal_secrets_carry_equal_marks_and_others_do_not() -> None:
    one, two, three = (Redactor().text(f"password={word}") for word in ("hunter2", "hunter2", "hunter3"))
    assert one == two != three
    assert one == f"password={placeholder('password', 'hunter2')}"


def test_only_the_secret_is_taken_out_of_its_line() -> None:
    masked = Redactor().text("2026-11-30T08:43:12Z ERROR login user=app password=hunter2 host=db-1 status=504")
    assert masked.startswith("2026-11-30T08:43:12Z ERROR login user=app password=[REDACTED:password:")
    assert masked.endswith("] host=db-1 status=504")


def test_a_secret_inside_a_secret_leaves_one_mark() -> None:
    masked = Redactor().text(f"password=prefix-{GITHUB}-suffix")
    assert masked.count("[REDACTED:") == 1
    assert "prefix" not in masked


def test_values_under_secret_names_are_masked_in_json() -> None:
    masked = Redactor().value(
        {
            "password": "correct horse",
            "nested": [{"clientSecret": "plainletters", "port": 5432}],
            "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "DB_HOST", "value": "db-1"}],
            "secretName": "redis-creds",
            "note": None,
        }
    )
    assert "horse" not in json.dumps(masked)
    assert masked["nested"][0]["clientSecret"].startswith("[REDACTED:api-key:")
    assert masked["nested"][0]["port"] == 5432
    assert masked["env"][0]["value"].startswith("[REDACTED:password:")
    assert masked["env"][1]["value"] == "db-1"
    assert masked["secretName"] == "redis-creds"


def test_a_key_spread_over_lines_is_masked_line_by_line() -> None:
    masked = Redactor().lines(["a", *PEM.split("\n"), "token=8f14e45fceea167a", "b"])
    assert "MIIE" not in "".join(masked)
    assert (masked[0], masked[-1], len(masked)) == ("a", "b", 7)
    assert masked[5].startswith("token=[REDACTED:secret:")


def test_an_operator_adds_patterns() -> None:
    redactor = Redactor([r"emp-\d{6}", r"pin (\d{4})"])
    assert redactor.text("emp-123456 has pin 0815").count("[REDACTED:custom:") == 2
    assert redactor.text("pin 0815").startswith("pin [REDACTED")


def test_a_broken_pattern_is_the_operators_to_mend() -> None:
    with pytest.raises(ToolConfigError, match="is not a regular expression"):
        Redactor(["(unclosed"])


def test_letters_that_change_length_in_lower_case_do_not_shift_the_mask() -> None:
    assert Redactor().text("İİİİ password=hunter2 ende") == f"İİİİ password={placeholder('password', 'hunter2')} ende"


def test_a_row_of_one_digit_is_no_card() -> None:
    assert not luhn("0000 0000 0000 0000")


@given(st.lists(st.sampled_from([text for _, text, _ in SECRETS] + PLAIN) | st.text(max_size=30), max_size=5))
def test_masking_twice_changes_nothing(parts: list[str]) -> None:
    once = Redactor().text(" ".join(parts))
    assert Redactor().text(once) == once


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    )
)
def test_masking_keeps_the_shape_of_json(value: object) -> None:
    masked = Redactor().value(value)
    assert type(masked) is type(value)
    assert Redactor().value(masked) == masked
