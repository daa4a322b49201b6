from pathlib import Path

import pytest

from engine.base.errors import SettingsError
from engine.providers.openai import PRESETS
from engine.settings import Settings, load_settings
from engine.settings.checking import COMPATIBLE
from engine.settings.saving import save_setting

SECRET = "sk-verysecret0123456789"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def load(config: Path, text: str) -> Settings:
    config.write_text(text, encoding="utf-8")
    return load_settings(config=config)


def refusal(config: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(config, text)
    message = str(caught.value).removeprefix(str(config))
    assert "verysecret" not in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "line",
    [
        f'Authorization = "Bearer {SECRET}"',
        'authorization = "verysecret"',
        'X-Api-Key = "verysecret"',
        'x-goog-api-key = "verysecret"',
        'Cookie = "a=verysecret"',
        'X-Auth-Token = "verysecret"',
        'Proxy-Authorization = "verysecret"',
        'X-Team = "Bearer verysecret"',
        'X-Team = "basic verysecret"',
        f'X-Team = "{SECRET}"',
    ],
)
def test_a_header_with_a_secret_is_refused_at_its_line(config: Path, line: str) -> None:
    name = line.partition(" ")[0]
    assert refusal(config, f"[defaults.remote]\n\n[defaults.remote.headers]\n{line}\n") == (
        f', line 4: "remote.headers.{name}" looks like a secret: put it in an environment variable or the keychain and '
        "remove it from the file."
    )


def test_headers_without_secrets_are_accepted(config: Path) -> None:
    text = '[defaults.remote.headers]\nX-Team = "notes"\nHTTP-Referer = "https://host"\nX-Author = "Ann"\n'
    assert len(load(config, text).remote.headers) == 3


@pytest.mark.parametrize("key", ["api_key", "key", "apiKey", "auth", "token", "openai_secret_key", "Authorization"])
@pytest.mark.parametrize("table", ["defaults", "defaults.remote", 'workspace."/notes".remote', "defaults.remote.batch"])
def test_api_key_in_settings_file_is_refused(config: Path, table: str, key: str) -> None:
    message = refusal(config, f'[{table}]\n{key} = "{SECRET}"\n')
    assert message.startswith(", line 2:")
    assert "environment variable or the keychain" in message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('base_url = "https://ann:verysecret@host/v1"', "contains a user name or a password"),
        ('base_url = "https://verysecret@host/v1"', "contains a user name or a password"),
        ('base_url = "https://host/v1?key=verysecret"', "must end before the ? or #"),
        ('base_url = "https://host/v1#verysecret"', "must end before the ? or #"),
        (f'base_url = "https://host/{SECRET}/v1"', "looks like a secret"),
        ('base_url = "localhost:11434"', "must be an address such as"),
        ('base_url = "ftp://host"', "must be an address such as"),
        ('base_url = "https://host:verysecret"', "must be an address such as"),
        ('base_url = "https://[host"', "must be an address such as"),
        (f'api_key_env = "{SECRET}"', "must be the name of an environment variable"),
        ('api_key_env = "$OPENAI_API_KEY"', "must be the name of an environment variable"),
    ],
)
def test_invalid_address_or_variable_is_refused(config: Path, line: str, expected: str) -> None:
    message = refusal(config, f"[defaults.remote]\n{line}\n")
    assert message.startswith(f', line 2: "remote.{line.partition(" ")[0]}" {expected}')


def test_valid_address_variable_and_prices_are_accepted(config: Path) -> None:
    remote = load(
        config,
        '[defaults.remote]\nbase_url = "http://localhost:11434/v1"\napi_key_env = "WORK_KEY"\n'
        '[defaults.prices]\n"openai/text-embedding-3-small" = 0.02\n"openai/own" = 0\n',
    )
    assert remote.remote.base_url == "http://localhost:11434/v1"
    assert remote.prices == {"openai/text-embedding-3-small": 0.02, "openai/own": 0.0}
    assert load(config, '[defaults.remote]\nbase_url = ""\napi_key_env = ""\n') == Settings()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"openai/x" = -1', '"prices.openai/x" must be a price'),
        ('"openai/x" = nan', '"prices.openai/x" must be a price'),
        ('"openai/x" = inf', '"prices.openai/x" must be a price'),
        ("x = 1", '"prices.x" must name provider and model'),
    ],
)
def test_invalid_prices_are_refused(config: Path, line: str, expected: str) -> None:
    assert refusal(config, f"[defaults.prices]\n{line}\n").startswith(f", line 2: {expected}")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('provider = "local"', '"provider" is called "gguf" in Mnemoscope.'),
        ('fallback = "local"', '"fallback" is called "gguf" in Mnemoscope.'),
        ('provider = "google"', '"provider" is called "gemini" in Mnemoscope.'),
        (
            'provider = "ollama"',
            '"provider" is set as "openai" with remote.base_url = "http://127.0.0.1:11434/v1".',
        ),
        (
            'provider = "lm-studio"',
            '"provider" is set as "openai" with remote.base_url = "http://127.0.0.1:1234/v1".',
        ),
        (
            'provider = "hf:ggml-org/embeddinggemma-300M-GGUF/x.gguf"',
            '"provider" must be "gguf", with local.model_path = "hf:ggml-org/embeddinggemma-300M-GGUF/x.gguf".',
        ),
        (
            'model = "hf:owner/repository/x.gguf"',
            '"model" names a model file: write provider = "gguf" and local.model_path = "hf:owner/repository/x.gguf".',
        ),
        (f'model = "{SECRET}"', '"model" looks like a secret: put it in an environment variable or the keychain'),
    ],
)
def test_names_of_the_reference_are_translated(config: Path, line: str, expected: str) -> None:
    assert refusal(config, f"[defaults]\n{line}\n").startswith(f", line 2: {expected}")


def test_addresses_equal_those_of_presets() -> None:
    presets = {preset.id: preset.base_url for preset in PRESETS if preset.id != "openai"}
    assert presets == {name: address for name, address in COMPATIBLE.items() if name in presets}


def test_secret_header_is_not_saved(config: Path) -> None:
    with pytest.raises(SettingsError, match="looks like a secret"):
        save_setting("remote.headers", {"Authorization": SECRET}, config=config)
    assert not config.exists()


@pytest.mark.parametrize(
    "line",
    [
        'aws_access_key_id = "AKIAVERYSECRET"',
        'aws_secret_access_key = "verysecret"',
        'AWS_SESSION_TOKEN = "verysecret"',
        'azure_storage_sas_key = "verysecret"',
        'password = "verysecret"',
        f'region = "{SECRET}"',
        'endpoint = "https://me:verysecret@host"',
    ],
)
def test_a_storage_option_with_a_secret_is_refused(config: Path, line: str) -> None:
    message = refusal(config, f"[defaults.lancedb.storage_options]\n{line}\n")
    assert "AKIA" not in message
    assert message == (
        f', line 2: "lancedb.storage_options.{line.partition(" ")[0]}" looks like a secret: put it in an environment '
        "variable or the keychain and remove it from the file."
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('uri = "ftp://host/x"', "must be a folder, or an address such as s3://bucket/path or db://database"),
        ('uri = "s3:///path"', "must name a bucket or database"),
        ('uri = "s3://bucket/x?token=1"', "must end before the ? or #"),
        ('uri = "s3://key:verysecret@bucket/x"', "contains a user name or a password"),
        ('table = "a b"', "must be a name of letters, digits, dots, hyphens and underscores"),
        ('machine = "a/b"', "must be a name of letters, digits, dots and hyphens"),
    ],
)
def test_table_address_and_names_validated(config: Path, line: str, expected: str) -> None:
    assert expected in refusal(config, f"[defaults.lancedb]\n{line}\n")


def test_storage_options_without_secrets_are_accepted(config: Path) -> None:
    text = (
        '[defaults.lancedb]\nuri = "s3://bucket/path"\ntable = "notes"\nmachine = "desk"\n'
        '[defaults.lancedb.storage_options]\nregion = "eu-west-1"\nendpoint = "http://127.0.0.1:9000"\n'
        'allow_http = "true"\naws_server_side_encryption = "aws:kms"\n'
    )
    assert len(load(config, text).lancedb.storage_options) == 4
