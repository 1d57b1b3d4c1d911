import importlib
import importlib.util
import inspect
import pickle
import sys

import pytest

from gradledger.host.arrival import when_imported


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that nobody has imported yet, and which leaves again after the test."""
    name = "awaited_package"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("import awaited_package.inner\nready = True\n")
    (tmp_path / name / "inner.py").write_text(
        "import awaited_package\nassert not hasattr(awaited_package, 'ready')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    before = list(sys.meta_path)
    yield name
    for known in [known for known in sys.modules if known.split(".")[0] == name]:
        del sys.modules[known]
    assert sys.meta_path == before


def test_calls_back_once_when_the_module_is_complete(package):
    seen = []
    when_imported(package, lambda: seen.append(sys.modules[package].ready))
    assert seen == []
    importlib.import_module(package)
    importlib.import_module(package)
    assert seen == [True]


def test_calls_back_at_once_when_the_module_is_there(package):
    importlib.import_module(package)
    seen = []
    when_imported(package, lambda: seen.append(1))
    assert seen == [1]


def test_can_be_removed(package):
    seen = []
    when_imported(package, lambda: seen.append(1)).remove()
    importlib.import_module(package)
    assert seen == []


def test_removal_after_the_spec_was_found(package):
    seen = []
    arrival = when_imported(package, lambda: seen.append(1))
    spec = importlib.util.find_spec(package)
    arrival.remove()
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    assert module.ready
    assert seen == []


def test_looking_for_the_spec_is_not_importing(package):
    seen = []
    arrival = when_imported(package, lambda: seen.append(1))
    assert importlib.util.find_spec(package) is not None
    assert seen == []
    arrival.remove()


def test_spec_and_loader_stay_what_they_are(package):
    when_imported(package, lambda: None)
    module = importlib.import_module(package)
    loader = module.__spec__.loader
    assert loader is module.__loader__
    assert type(loader) is importlib.machinery.SourceFileLoader
    assert "exec_module" not in vars(loader)
    assert "ready = True" in inspect.getsource(module)
    assert type(pickle.loads(pickle.dumps(loader))) is type(loader)
    del module.ready
    assert importlib.reload(module).ready


def test_a_failed_import_fails_as_ever_and_may_be_tried_again(package, tmp_path):
    source = tmp_path / package / "__init__.py"
    right = source.read_text()
    source.write_text("raise OSError('no library')\n")
    seen = []
    when_imported(package, lambda: seen.append(1))
    with pytest.raises(OSError, match="no library") as caught:
        exec(f"import {package}")
    names = [entry.name for entry in caught.traceback]
    assert names == [names[0], "<module>", "<module>"]  # the test, its exec, the package: no import machinery
    assert seen == []
    source.write_text(right + "# longer\n")
    importlib.invalidate_caches()
    importlib.import_module(package)
    assert seen == [1]


def test_an_unknown_module_is_still_unknown():
    arrival = when_imported("no_such_module_anywhere", lambda: None)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_module_anywhere'"):
        importlib.import_module("no_such_module_anywhere")
    arrival.remove()


def test_several_can_wait(package):
    seen = []
    when_imported(package, lambda: seen.append("package"))
    when_imported(f"{package}.inner", lambda: seen.append("inner"))
    importlib.import_module(package)
    assert seen == ["inner", "package"]
