"""Secrets are masked, words about secrets are not, and no line moves."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.core.redact import MASK, looks_random, mask_shapes, redact

RANDOM = random.Random(7)


def made_up(length: int = 32, letters: str = string.ascii_letters + string.digits) -> str:
    """A credential that nobody has: it holds letters and at least four digits."""
    return "".join(RANDOM.choice(letters) for _ in range(length - 4)) + "7305"


SECRETS = {
    "an assignment": ("password={}", "hunter2"),
    "a short word": ("password: {}", "hunter"),
    "a line of an environment": ("export DB_PASS='{}'", "s3cr3t phrase"),
    "a key in JSON": ('{{"api_key": "{}", "x": 1}}', made_up()),
    "a key in Markdown": ("- **api_key**: {}", "PLANTED-abc-123"),
    "camel case": ('secretAccessKey = "{}"', made_up(40)),
    "a key with a blank": ("API key: {}", made_up(24)),
    "a connection string": ("Server=db1;User ID=sa;Password={};Database=x", "Ab9xyz"),
    "a value with punctuation": ("password={}", "Ab&c,d!9"),
    "an option": ("deploy --api-token {} --verbose", "abc12345"),
    "an option with a sign": ("deploy --password={}", "abc12345"),
    "a short option": ("run -k {} now", made_up(24)),
    "the user of curl": ("curl -u admin:{} https://a.example/b", "hunter22"),
    "mysql": ("mysql -u root -p{} shop", "Zt9hunter"),
    "netrc": ("machine a.example login me password {}", "zzz123"),
    "bearer": ("Authorization: Bearer {}", "abc.def-123456"),
    "a bare bearer": ("curl -H 'x: Bearer {}'", made_up(24)),
    "basic": ("Authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    "a header": ("X-Api-Key: {}", made_up(20)),
    "a cookie": ("Cookie: {}", "session=abc; other=def"),
    "user info of a URL": ("postgres://app:{}@db.example/shop", "p@ss!w"),
    "a token in a URL": ("git clone https://{}@git.example/a/b", "tok123"),
    "a parameter of a URL": ("https://a.example/cb?token={}&state=5", "abc123"),
    "a chat hook": ("https://hooks.slack.com/services/{}", "T000/B000/" + made_up(24)),
    "a hook path": ("https://a.example/webhook/{}/in", made_up(24)),
    "speech": ("The password is {}", "Tr0ub4dor"),
    "a word before": ("the secret for staging is here: {}", made_up(24)),
    "another language": ("Пароль: {}", "секрет123"),
    "github": ("x {} y", "ghp_" + made_up(36)),
    "openai": ("x {} y", "sk-proj-" + made_up(40)),
    "slack": ("x {} y", "xoxb-1234567890-" + made_up(24)),
    "aws": ("x {} y", "AKIA" + made_up(16, string.ascii_uppercase)),
    "google": ("x {} y", "AIza" + made_up(35)),
    "stripe": ("x {} y", "sk_live_" + made_up(24)),
    "a signed token": ("x {} y", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + made_up(43)),
    "a cookie of curl": ("curl -H 'Cookie: {}' https://a.example", "session=abc; other=def"),
    "a cookie option of curl": ('curl --cookie "{}" https://a.example', "session=abc"),
    "user info after a percent escape": ("u=%22postgres://app:{}@db.example/shop", "p4ssw"),
    "after a letter": ("x{}", "ghp_" + made_up(36)),
    "after an escape": ('{{"note": "line\\n{}"}}', "hf_" + made_up(34)),
    "after a percent escape": ("https://a.example/?q=see%20{}", "AKIA" + made_up(16, string.ascii_uppercase)),
    "hugging face": ("x {} y", "hf_" + made_up(34)),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked(name):
    form, secret = SECRETS[name]
    shown = redact(f"before\n{form.format(secret)}\nafter")
    assert secret not in shown and MASK in shown
    assert shown.startswith("before\n") and shown.endswith("\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "Password: the user must enter it twice",
        "Use --password to set one, or --token option.",
        "token = lexer.next()",
        "const token = useToken();",
        "def login(password: str, token: Optional[str] = None) -> None:",
        "login(password=password, token=args.token)",
        "if password == stored_password:",
        "apiKey = process.env.API_KEY",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password: <your password>",
        "PASSWORD=",
        "max_tokens: 512",
        "tokenizer: simple",
        "tokens = text.split()",
        "password_file: /etc/secrets/db",
        "token_url = https://a.example/token",
        "secretName: database-secret",
        "primary_key: id",
        "sorted(rows, key=lambda row: row.id)",
        "Bearer tokens are sent by the client; bearer authentication is required.",
        "Authorization: required for all requests",
        "git@git.example:a/b and ssh://git@git.example/a/b and https://a.example/@user/post",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "mkdir -p /usr/local/lib/python3.11/site-packages",
        "sk-learn-something-with-many-words",
        "The API key: see the vault",
        "PASS: 12 tests",
    ],
)
def test_words_about_secrets_stay(text):
    assert redact(text) == text


def test_a_key_block_is_masked_line_by_line():
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef==\n-----END RSA PRIVATE KEY-----"
    assert redact(f"a\n{block}\nb").split("\n") == [
        "a", "-----BEGIN RSA PRIVATE KEY-----", MASK, MASK, "-----END RSA PRIVATE KEY-----", "b",
    ]  # fmt: skip


def test_a_key_block_is_masked_where_a_passage_is_cut_through_it():
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    lines = [made_up(64) for _ in range(4)]
    for cut in ([begin, *lines], [*lines, end], lines):
        shown = redact("\n".join(cut))
        assert not any(line in shown for line in lines)


def test_a_block_of_yaml_is_masked_and_what_follows_is_not():
    text = "db:\n  password: |\n    line one\n    line two\n  host: db1\n"
    assert redact(text) == f"db:\n  password: |\n    {MASK}\n    {MASK}\n  host: db1\n"


def test_a_file_name_is_not_taken_for_a_pair():
    assert mask_shapes("docs/token=rotation.md") == "docs/token=rotation.md"
    assert mask_shapes("docs/ghp_" + "a1" * 18) == f"docs/{MASK}"


def test_what_a_machine_made_looks_random_and_words_do_not():
    assert looks_random("9f8aB7c6D5e4F3a2B1c0Zz")
    for word in ("deploy-2024-01-rollback-plan", "getUserCredentialFromStore", "/usr/lib/python3.11", "0" * 30):
        assert not looks_random(word)


@given(st.text(alphabet="password=:token key 'api_-\"\n@/x9|>", max_size=200))
def test_masking_twice_changes_nothing_and_lines_keep_their_numbers(text):
    once = redact(text)
    assert redact(once) == once
    assert once.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "token" * 4_000, "password " * 2_000, "://a/b/" * 3_000, "http://" + "a" * 290 + "@" * 20_000,
        "eyJaaaaaaaaa" * 1_500,
        "-----BEGIN PRIVATE KEY-----" * 700, "password: |\n  x\n" * 1_200, "password" + " " * 20_000, "a" * 20_000,
    ],
    ids=range(9),
)  # fmt: skip
def test_hostile_repetition_ends(text):
    assert redact(text) is not None
