"""Masking takes secrets out of a text, says of which kind they were, and leaves everything else alone.

All secrets here are invented.
"""

from __future__ import annotations

import string
import time

import pytest
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.rules.masking import is_only_secret, mask_text, mask_tree, to_redactions

ALNUM = string.ascii_letters + string.digits
A20, A36 = "k3Vd8Qx1Zp7Lm2Rt9Wb4", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
A40 = "Zx81mQ0pLs73nV5bTy92KcWd64HfRg0aEj8uIo1q"
HEX32 = "9f86d081884c7d659a2feaa0c55ad015"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJraW0iLCJpYXQiOjE3MDB9.Qm9yaW5nU2lnbmF0dXJlMDE"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + A40 + "\n" + A40 + "==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("aws-key", "AKIA" + "J7Q2M4X9B1C8D5E3", "the key {} leaked"),
    ("assignment", A40, "aws_secret_access_key = {}"),
    ("github-token", "ghp_" + A36, "use {} to push"),
    ("github-token", "github_pat_" + A20 + "_" + A36, "{}"),
    ("gitlab-token", "glpat-" + A20, "GitLab said {}."),
    ("slack-token", "xoxb-123456789012-" + A20, "({})"),
    ("slack-token", "T0123ABCD/B0123ABCD/" + A20, "https://hooks.slack.com/services/{}"),
    ("stripe-key", "sk_live_" + A20, "charge with {}, please"),
    ("openai-key", "sk-proj-" + A36, "{}"),
    ("anthropic-key", "sk-ant-api03-" + A36, "'{}'"),
    ("huggingface-token", "hf_" + A36[:34], "login {}"),
    ("npm-token", "npm_" + A36, "//registry.example/:_auth={}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + A40 + A40, "twine -p {}"),
    ("gcp-key", "AIza" + A36[:35], "maps?{}"),
    ("gcp-key", "ya29." + A36, "{}"),
    ("azure-key", A40 + A40 + "==", "DefaultEndpointsProtocol=https;AccountName=kim;AccountKey={};x=1"),
    ("azure-key", "abc8Q~" + A36[:34], "{}"),
    ("telegram-token", "110201543:AA" + A36[:33], "bot {} answers"),
    ("sendgrid-key", "SG." + A20 + "." + A40, "{}"),
    ("twilio-key", "SK" + HEX32, "{}"),
    ("jwt", JWT, "cookie said {} there"),
    ("private-key", PEM, "here:\n{}\nthanks"),
    ("private-key", PEM.replace("\n", "\\n"), '{{"note": "{}"}}'),
    ("bearer", A36, "Authorization: Bearer {}"),
    ("bearer", "quite-ordinary-words-here", "curl -H 'Authorization: Bearer {}' http://hub.example"),
    ("bearer", A20, "send bearer {} along"),
    ("basic-auth", "a2ltOmh1bnRlcjI=", "Authorization: Basic {}"),
    ("basic-auth", "hunter2", "curl -u kim:{} https://hub.example"),
    ("api-key", A20, "X-Api-Key: {}"),
    ("connection-string", "s3cr3t", "postgresql://argus:{}@127.0.0.1:5432/argus"),
    ("connection-string", "p@ss/w0rd", "mongodb+srv://kim:{}@cluster.example/db"),
    ("connection-string", "tiger", "redis://:{}@cache:6379/0"),
    ("url-credentials", "pa55", "git clone https://kim:{}@git.example/api.git"),
    ("url-credentials", A20, "git clone https://{}@git.example/api.git"),
    ("url-credentials", A20, "https://hub.example/x?page=1&access_token={}&y=2"),
    ("cookie", "sid=" + A20 + "; theme=dark", "Cookie: {}"),
    ("cookie", "session=" + A20, "curl --cookie '{}' https://hub.example"),
    ("env", "correcthorsebattery", "DB_PASSWORD={}"),
    ("env", A20, "PORT=80\nexport STRIPE_WEBHOOK_SECRET='{}'\nDEBUG=1"),
    ("env", "supersecretvalue", "environment:\n  - POSTGRES_PASSWORD={}\n"),
    ("env", "not so short", 'APP_SECRET_KEY="{}"'),
    ("assignment", "hunter2", "password: {}"),
    ("assignment", "correcthorse", 'password = "{}"'),
    ("assignment", "hunter2", '{{"user": "kim", "password": "{}"}}'),
    ("assignment", "hunter2", '"{{\\"password\\": \\"{}\\"}}"'),
    ("assignment", "Tr0ub4dor&3", "my password is {}, do not tell"),
    ("assignment", "secretword", "host=db user=kim password={} dbname=app"),
    ("assignment", "Passw0rd!", "Server=tcp:db.example;User=sa;Password={};"),
    ("assignment", A20, "client_secret => '{}'"),
    ("private", "my salary is 1", "before <private>{}</private> after"),
    ("private", "a <private>b</private> c\nd", "before <PRIVATE>{}</private> after"),
]  # fmt: skip

HARMLESS = [
    "We moved the invoice export; the old one rounded down. Password reset works again.",
    "token = get_token()", "password: str", "def login(user: str, password: str | None = None) -> Token:",
    "api_key=settings.api_key", 'secret_key = os.environ["SECRET_KEY"]', "MAX_TOKENS=4096", "TOKEN_LIMIT=200000",
    "PASSWORD_MIN_LENGTH=12", "password=None", "connect(host='db', password=pw)", "token_count: 123456",
    "DB_PASSWORD=$(cat /run/secrets/db)", "DB_PASSWORD=${DB_PASSWORD:?set it}", "API_KEY=<your key>",
    "API_KEY=your-api-key", "GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json", "password: required",
    "Bearer token required", "the bearer authentication-scheme-explained page", "Basic knowledge is enough",
    "Cookie: chocolate chip", "http://localhost:8080@", "https://kim@git.example/x", "git@github.com:kim/api.git",
    "http://127.0.0.1:8484/search?q=token&limit=5", "primary key: id, sort key: created_at",
    "task-management-something-long-name", "sk-learn-based-classification-model", "hf_hub_download_with_progress",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "uuid 0b1f6f0e-1111-4222-8333-444455556666",
    "support `<private>` tags, please", "-----BEGIN PRIVATE KEY----- is the first line of such a file",
    "if token != expected_token: raise ValueError", "keyword = 'password'", "the secret: never give up",
    "monkey = 'banana123456789'[0]", "AKIA is the prefix of AWS keys", "[redacted:github-token] was here",
    "the password is required at first login", "see eyJ in the docs", "passing: 12 tests, failing: 0",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "secret", "around"), SECRETS)
def test_a_secret_is_masked_and_named_by_kind(kind: str, secret: str, around: str) -> None:
    """The value is gone, its mark stands in its place, the text around it is untouched."""
    masked, counts = mask_text(around.format(secret))
    assert masked == around.format(f"[redacted:{kind}]").replace("<PRIVATE>", "").replace(
        "<private>", ""
    ).replace("</private>", "")
    assert counts == {kind: 1}


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_and_code_are_left_alone(text: str) -> None:
    """Talk about secrets, code that handles them and holes to fill in stay as they are."""
    assert mask_text(text) == (text, {})


@pytest.mark.parametrize(("kind", "secret", "around"), SECRETS)
def test_masking_twice_changes_nothing(kind: str, secret: str, around: str) -> None:
    """A masked text holds nothing more to mask."""
    masked, _ = mask_text(around.format(secret))
    assert mask_text(masked) == (masked, {})


@pytest.mark.parametrize("secret", [s for _, s, _ in SECRETS if len(s) > 16 and s.split() == [s]])
def test_what_detect_secrets_finds_is_masked(secret: str) -> None:
    """The oracle's detectors of makers, names and headers find nothing in what is left of each sample.

    Its entropy detectors take every commit hash for a secret, and its IP detector masks addresses: left out.
    """
    plugins = [
        "ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector",
        "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector",
        "JwtTokenDetector", "KeywordDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector",
        "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector", "SoftlayerDetector",
        "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
    ]  # fmt: skip
    lines = [
        f'api_key = "{secret}"', f"password: '{secret}'", f'my_secret := "{secret}"',
        f"https://kim:{secret}@host.example",
        f"the token {secret} was used", f'{{"client_secret": "{secret}"}}', f"export DB_PASSWORD={secret}",
    ]  # fmt: skip
    with transient_settings({"plugins_used": [{"name": name} for name in plugins]}):
        for line in lines:
            masked, _ = mask_text(line)
            for finding in scan_line(line):
                assert finding.secret_value is not None
                assert finding.secret_value not in masked, (line, masked, finding.type)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from([around.format(secret) for _, secret, around in SECRETS]),
            st.sampled_from(["password=", "sk-", "://", "Bearer ", "<private>", "</private>", "[redacted:", "]"]),
        ),
        max_size=6,
    ),
    st.sampled_from(["", " ", "\n", ": "]),
)
def test_masking_is_idempotent_whatever_the_text(parts: list[str], joint: str) -> None:
    """Masking a masked text again changes nothing and counts nothing."""
    masked, _ = mask_text(joint.join(parts))
    assert mask_text(masked) == (masked, {})


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([item for item in SECRETS if item[0] not in ("private", "cookie", "private-key")]),
    st.text(alphabet=ALNUM + " .,\n", max_size=80),
    st.text(alphabet=ALNUM + " .,\n", max_size=80),
)
def test_a_secret_never_survives_ordinary_text_around_it(
    sample: tuple[str, str, str], before: str, after: str
) -> None:
    """Whatever words stand around it, the value of a secret is not in what is stored."""
    _, secret, around = sample
    if secret in before + after:
        return
    masked, counts = mask_text(f"{before}\n{around.format(secret)}\n{after}")
    assert secret not in masked
    assert sum(counts.values()) >= 1


def test_a_block_that_was_cut_off_is_masked_as_far_as_it_goes() -> None:
    """A private key without its END line is masked to its last line, the words after it are kept."""
    masked, counts = mask_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{A40}\n{A40}\n\n# Notes\nthe rest is \u00fcber")
    assert A40 not in masked
    assert masked.endswith("# Notes\nthe rest is über")
    assert counts == {"private-key": 1}


def test_own_tokens_are_masked_wherever_they_stand() -> None:
    """The tokens of this installation are secrets by being them, whatever they look like."""
    assert mask_text("it answered plain-looking-token to me", ["plain-looking-token"]) == (
        "it answered [redacted:argus-token] to me",
        {"argus-token": 1},
    )


def test_metadata_is_masked_in_keys_values_and_under_secret_names() -> None:
    """Nested metadata loses secrets by form and by name; everything else keeps its type."""
    masked, counts = mask_tree(
        {"repo": {"remote": "https://kim:pa55@git.example/x"}, "env": [{"password": "hunter2", "n": 3}],
         "AKIAJ7Q2M4X9B1C8D5E3": None, "tokens": 12, "role": "user"}
    )  # fmt: skip
    assert masked == {
        "repo": {"remote": "https://kim:[redacted:url-credentials]@git.example/x"},
        "env": [{"password": "[redacted:assignment]", "n": 3}],
        "[redacted:aws-key]": None, "tokens": 12, "role": "user",
    }  # fmt: skip
    assert counts == {"url-credentials": 1, "assignment": 1, "aws-key": 1}
    assert mask_tree(masked) == (masked, {})


def test_metadata_nested_too_deep_is_refused() -> None:
    """Nesting without end is an error, not a crash."""
    deep: object = "x"
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(ValueError, match="nested deeper"):
        mask_tree(deep)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("sk-ant-api03-" + A36, True),
        ("<private>all of it</private>", True),
        ("DB_PASSWORD=correcthorsebattery\nexport API_KEY=" + A20, True),
        ("Authorization: Bearer " + A36 + "\n", True),
        ("deploy with sk-ant-api03-" + A36, False),
        ("PORT=80\nDB_PASSWORD=correcthorsebattery", False),
        ("nothing secret", False),
        ("", False),
    ],
)
def test_what_was_only_a_secret_is_told_apart(text: str, only: bool) -> None:
    """A text of secrets and their bare names says nothing that could be remembered."""
    assert is_only_secret(mask_text(text)[0]) is only


def test_redactions_are_kinds_and_counts_in_order() -> None:
    """A receipt lists kinds alphabetically, each with its count."""
    assert [(r.kind, r.count) for r in to_redactions({"jwt": 1, "aws-key": 2})] == [("aws-key", 2), ("jwt", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "password" + " " * 200_000 + "=", "=" * 200_000, "://" * 60_000, "a:" * 100_000, "<private>" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 4_000, "eyJ" + "a" * 200_000, "eyJa." * 40_000, "cookie: a=b;" * 15_000,
        "authorization: " * 12_000, "password='" * 20_000, "sk-" * 60_000, "A" * 200_000, "bearer " * 30_000,
        "AKC" * 60_000, "password is " * 15_000, "x" * 100_000 + "://" + "y" * 100_000,
    ],
    ids=lambda text: text[:16],
)  # fmt: skip
def test_no_text_makes_masking_slow(text: str) -> None:
    """200 kB made to be hard take no longer than a second: every pattern is linear."""
    began = time.process_time()
    mask_text(text)
    assert time.process_time() - began < 1.0
