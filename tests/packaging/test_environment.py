import sys

import pytest


@pytest.fixture
def environment(load, tmp_path, monkeypatch):
    """The module with a temporary project, recording its steps instead of running them."""
    environment = load("environment")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    for name in ("RUN_LOCK", "TEST_LOCK"):
        monkeypatch.setattr(environment, name, tmp_path / name)
        (tmp_path / name).write_text("numpy==1")
    work = environment.Environment(tmp_path / ".venv", environment.RUN_LOCK, environment.TEST_LOCK)
    monkeypatch.setattr(environment, "WORK", work)
    environment.stamp = work.folder / "installed.json"
    (tmp_path / "pyproject.toml").write_text("[project]")
    environment.steps = []

    def step(sentence, command):
        environment.steps.append(sentence.split()[0])
        assert not environment.stamp.exists()
        work.python.parent.mkdir(parents=True, exist_ok=True)
        work.python.touch()

    monkeypatch.setattr(environment, "step", step)
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Creating", "Installing", "Linking"]
    environment.steps.clear()
    return environment


def test_second_ensure_does_nothing(environment):
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == []


def test_dev_tools_are_added_to_existing_environment(environment):
    environment.WORK.ensure(environment.TEST_LOCK)
    assert environment.steps == ["Installing", "Linking"]
    environment.WORK.ensure(environment.RUN_LOCK)
    environment.WORK.ensure(environment.TEST_LOCK)
    assert environment.steps == ["Installing", "Linking"]


def test_project_change_only_links_again(environment):
    (environment.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'")
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Linking"]


@pytest.mark.parametrize("name", ["RUN_LOCK", "TEST_LOCK"])
def test_changed_lock_recreates_environment(environment, name):
    environment.WORK.ensure(environment.TEST_LOCK)
    environment.steps.clear()
    lock = getattr(environment, name)
    lock.write_text("numpy==2")
    environment.WORK.ensure(lock)
    assert environment.steps == ["Creating", "Installing", "Linking"]


@pytest.mark.parametrize("damage", ["", "[]", '{"environment": "Python 2.7 in /nowhere"}'])
def test_invalid_stamp_recreates_environment(environment, damage):
    environment.stamp.write_text(damage)
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Creating", "Installing", "Linking"]


def test_environment_without_python_is_recreated(environment):
    environment.WORK.python.unlink()
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Creating", "Installing", "Linking"]


def test_interrupted_install_is_recreated(environment, monkeypatch):
    def interrupted(sentence, command):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(environment, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            environment.WORK.ensure(environment.TEST_LOCK)
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Creating", "Installing", "Linking"]


def test_linked_environment_is_replaced_and_target_unchanged(environment):
    other = environment.ROOT / "other"
    environment.WORK.folder.rename(other)
    environment.WORK.folder.symlink_to(other)
    (environment.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'")
    environment.WORK.ensure(environment.RUN_LOCK)
    assert environment.steps == ["Creating", "Installing", "Linking"]
    assert not environment.WORK.folder.is_symlink()
    assert (other / "installed.json").exists()


def test_failed_step_shows_output_and_exits(load, capfd):
    environment = load("environment")
    with pytest.raises(SystemExit, match="Installing failed"):
        environment.step("Installing", [sys.executable, "-c", "print('no such host'); raise SystemExit(3)"])
    assert "no such host" in capfd.readouterr().err
