# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package with ONNX models: always tested, with models that the package's own writer makes."""
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import tessera
from tessera import compiler, find
from tessera import onnx_write as ow


def linear_model(name="linear"):
    """y = relu(x · w + b), with an open batch."""
    w = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
    model = ow.ModelWriter(name, 17)
    model.weights = [ow.tensor("w", w), ow.tensor("b", np.float32([1, -9, 2]))]
    model.nodes = [ow.node("Gemm", ["x", "w", "b"], ["z"], "gemm", {}), ow.node("Relu", ["z"], ["y"], "relu", {})]
    model.inputs = [ow.value_info("x", ow.FLOAT, ["N", 4])]
    model.outputs = [ow.value_info("y", ow.FLOAT, ["N", 3])]
    return model.bytes(), lambda x: np.maximum(x @ w + np.float32([1, -9, 2]), 0)


def two_model():
    """Two inputs, two outputs of different types."""
    model = ow.ModelWriter("two", 17)
    model.nodes = [ow.node("Add", ["a", "b.1"], ["sum"], "add", {}), ow.node("Greater", ["a", "b.1"], ["larger"], "greater", {})]
    model.inputs = [ow.value_info(n, ow.FLOAT, ["N"]) for n in ("a", "b.1")]
    model.outputs = [ow.value_info("sum", ow.FLOAT, ["N"]), ow.value_info("larger", 9, ["N"])]
    return model.bytes()


def test_unsigned_integers():
    """A model's unsigned integers come back as what they are, and take nothing else."""
    model = ow.ModelWriter("bytes", 17)
    model.nodes = [ow.node("Cast", ["x"], ["y"], "cast", {"to": 2}), ow.node("Max", ["y", "z"], ["w"], "max", {})]
    model.inputs = [ow.value_info("x", ow.FLOAT, ["N"]), ow.value_info("z", 2, ["N"])]
    model.outputs = [ow.value_info("y", 2, ["N"]), ow.value_info("w", 2, ["N"])]
    program = tessera.compile(model.bytes())
    result = program.run(np.float32([0, 127, 128, 255]), np.uint8([200, 1, 2, 3]))
    assert result["y"].dtype == np.uint8 and list(result["y"]) == [0, 127, 128, 255]
    assert result["w"].dtype == np.uint8 and list(result["w"]) == [200, 127, 128, 255]
    assert repr(program.outputs[0]) == "y: u8 ?"
    with pytest.raises(tessera.TesseraError, match="input 'z': expected u8 of shape ., but got int8"):
        program.run(np.float32([1]), np.int8([1]))


def test_strings():
    """An output of strings comes back as strings."""
    model = ow.ModelWriter("words", 17)
    model.nodes = [ow.node("Constant", [], ["w"], "words", {"value_strings": ["low", "gr\u00f6\u00dfer", "high"]}),
                   ow.node("Gather", ["w", "x"], ["y"], "pick", {})]
    model.inputs = [ow.value_info("x", ow.INT64, ["N"])]
    model.outputs = [ow.value_info("y", 8, ["N"])]
    program = tessera.compile(model.bytes())
    assert list(program.run(np.int64([2, 0, 1]))) == ["high", "low", "gr\u00f6\u00dfer"]
    assert program.run(np.empty(0, np.int64)).shape == (0,)


@pytest.fixture(scope="module")
def program():
    return tessera.compile(linear_model()[0])


def x_of(batch):
    return np.random.default_rng(batch).normal(size=(batch, 4)).astype(np.float32)


def test_run_by_position_and_name(program):
    want = linear_model()[1]
    for batch in (1, 2, 17):
        x = x_of(batch)
        np.testing.assert_allclose(program.run(x), want(x), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(program.run(x=x), want(x), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(program({"x": x}), want(x), rtol=1e-5, atol=1e-5)


def test_describes_itself(program):
    assert [p.name for p in program.inputs] == ["x"] and program.inputs[0].shape == (None, 4)
    assert program.outputs[0].dtype == np.float32
    assert "x: f32 ?x4" in repr(program)
    assert tessera.version().startswith("0.")


def test_results_outlive_the_program_and_inputs_are_not_changed():
    program = tessera.compile(linear_model()[0])
    x = x_of(3)
    before = x.copy()
    y = program.run(x)
    kept = y.copy()
    del program
    np.testing.assert_array_equal(y, kept)
    np.testing.assert_array_equal(x, before)


def test_views_and_odd_memory(program):
    want, x = linear_model()[1], x_of(8)
    np.testing.assert_allclose(program.run(x[::2]), want(x[::2]), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(program.run(np.asfortranarray(x)), want(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(program.run(x[1:]), want(x[1:]), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(program.run([[1.0, 2.0, 3.0, 4.0]]), want(np.float32([[1, 2, 3, 4]])), rtol=1e-5, atol=1e-5)


def test_several_outputs_come_as_a_dict():
    program = tessera.compile(two_model())
    result = program.run(np.float32([1, 5]), np.float32([2, 3]))
    np.testing.assert_array_equal(result["sum"], [3, 8])
    np.testing.assert_array_equal(result["larger"], [False, True])
    np.testing.assert_array_equal(program.run(**{"a": np.float32([1]), "b.1": np.float32([0])})["sum"], [1])


def test_threads_share_a_program(program):
    want, failures = linear_model()[1], []

    def work(seed):
        x = x_of(seed + 1)
        for _ in range(50):
            if not np.allclose(program.run(x), want(x), rtol=1e-5, atol=1e-5):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_path_save_and_load(tmp_path, program):
    data, want = linear_model()
    path = tmp_path / "linear.onnx"
    path.write_bytes(data)
    x = x_of(5)
    made = tessera.compile(path, mode="strict", threads=1)
    np.testing.assert_allclose(made.run(x), want(x), rtol=1e-5, atol=1e-5)
    for name in ("saved.tsx", "saved.tsr"):
        made.save(tmp_path / name)
        np.testing.assert_allclose(tessera.load(tmp_path / name).run(x), want(x), rtol=1e-5, atol=1e-5)
    with pytest.raises(tessera.TesseraError, match="ends in .tsx or .tsr"):
        made.save(tmp_path / "saved.bin")
    with pytest.raises(tessera.TesseraError, match="holds no portable object"):
        tessera.load(tmp_path / "saved.tsx").save(tmp_path / "again.tsr")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["linear.onnx", "saved.tsr", "saved.tsx"]


def test_explain_and_profile():
    program = tessera.compile(linear_model()[0], profile=True)
    assert "program 'model'" in program.explain()  # named after the file, which bytes have not
    assert "measured" in program.explain(measure=True, x=(16, 4))
    assert "measured" in program.explain(measure=True)
    program.run(x_of(2))
    rows = program.profile()
    assert rows and all(row["count"] == 1 for row in rows)


@pytest.mark.onnx
def test_model_proto():
    import onnx
    data, want = linear_model()
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    x = x_of(2)
    np.testing.assert_allclose(tessera.compile(model).run(x), want(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("call, message", [
    (lambda p: p.run(), "missing: x; inputs: x"),
    (lambda p: p.run(x_of(1), x_of(1)), "expected 1 inputs (x), but got 2"),
    (lambda p: p.run(y=x_of(1)), "unknown input 'y'; inputs: x"),
    (lambda p: p.run(x_of(1), x=x_of(1)), "input 'x' is given twice"),
    (lambda p: p.run(x_of(1).astype(np.float64)), "input 'x': expected f32 of shape ?x4, but got float64; convert it with .astype(numpy.float32)"),
    (lambda p: p.run(np.zeros((2, 5), np.float32)), "input 'x': expected shape ?x4, but got 2x5"),
    (lambda p: p.run(np.zeros(4, np.float32)), "input 'x': expected shape ?x4, but got 4"),
])
def test_mistakes_in_run(program, call, message):
    with pytest.raises(tessera.TesseraError) as error:
        call(program)
    assert str(error.value) == message


def test_mistakes_in_compile(tmp_path):
    def message(*arguments, **options):
        with pytest.raises(tessera.TesseraError) as error:
            tessera.compile(*arguments, **options)
        return str(error.value)

    assert message("none.onnx") == "cannot open 'none.onnx': there is no such file"
    (tmp_path / "model.pb").write_bytes(b"")
    assert "ends in .onnx, .mlir or .tsr" in message(tmp_path / "model.pb")
    assert "cannot compile a int" in message(3)
    assert "unknown option 'speed'" in message(linear_model()[0], speed="high")
    assert "--mode" in message(linear_model()[0], mode="loose")
    assert "model.onnx" in message(b"this is not a model")


def test_an_index_outside_is_an_error():
    model = ow.ModelWriter("rows", 17)
    model.weights = [ow.tensor("w", np.arange(6, dtype=np.float32).reshape(3, 2))]
    model.nodes = [ow.node("Gather", ["w", "i"], ["y"], "look", {})]
    model.inputs = [ow.value_info("i", 7, ["N"])]
    model.outputs = [ow.value_info("y", ow.FLOAT, ["N", 2])]
    for options in ({}, {"check": True}):
        rows = tessera.compile(model.bytes(), **options)
        assert rows.run(np.int64([2, -3])).tolist() == [[4, 5], [0, 1]]
        for wrong in (3, -4):
            with pytest.raises(tessera.TesseraError, match=str(wrong)):
                rows.run(np.int64([0, wrong]))
        assert rows.run(np.int64([1])).tolist() == [[2, 3]]  # The next launch starts clean.


def test_options_are_those_of_the_command_line():
    """What the package knows is what the commands take, but for files and what makes no program."""
    known = {"compile": compiler.COMPILE_OPTIONS + compiler.INSTALL_OPTIONS + ("frontend_option",), "install": compiler.INSTALL_OPTIONS,
             "tune": compiler.TUNE_OPTIONS}
    left_out = {"help", "output", "data", "as", "part", "stop_after"}
    for command, names in known.items():
        offered = {word.replace("-", "_") for word in re.findall(r"^  (?:-\w,)?--([a-z-]+)", compiler.tessera([command, "--help"]), re.M)}
        assert offered - left_out <= set(names), command
        if command != "compile":
            assert set(names) <= offered, command


def test_options_reach_the_commands(monkeypatch):
    calls = []
    monkeypatch.setattr(compiler, "tessera", calls.append)
    compiler.build("a.onnx", "d", "a", schedule="s.mlir", frontend_options={"flags": "-O1"}, portfolio=True, budgets=False, cpu=None, loss=1,
                   min_quality=90.5, knobs={"c1": "int8", "c2": "bf16"}, without=["fusion", "layout"], target=["cpu", "null"])
    assert calls == [["compile", "a.onnx", "-o", "d/a.tsr", "--schedule", "s.mlir", "--frontend-option", "flags=-O1"],
                     ["install", "d/a.tsr", "-o", "d/a.tsx", "--portfolio", "--loss", "1", "--min-quality", "90.5", "--knobs", "c1=int8,c2=bf16",
                      "--without", "fusion", "--without", "layout", "--target", "cpu,null"]]


def test_tune_and_install_with_a_loss(tmp_path):
    data, want = linear_model()
    x = x_of(80)
    np.savez(tmp_path / "data.npz", x=x, y=want(x).argmax(1).astype(np.int64))
    path = tessera.tune(data, tmp_path / "data.npz", tmp_path / "tuned.tsr", images=40, batch=8, candidates=2, knobs=["bf16", "int8"], loss=50,
                        threads=1, portable=True)
    program = tessera.compile(path, loss=50, portfolio=False)
    np.testing.assert_array_equal(tessera.compile(path, loss=50, configuration="baseline", mode="strict").run(x).argmax(1), want(x).argmax(1))
    assert program.run(x).shape == (80, 3)
    with pytest.raises(tessera.TesseraError, match="model@c99"):
        tessera.compile(path, loss=50, configuration="c99")
    with pytest.raises(tessera.TesseraError, match="'schedule' is for compiling, but"):
        tessera.compile(path, schedule="s.mlir")
    with pytest.raises(tessera.TesseraError, match="ends in .tsr"):
        tessera.tune(data, "data.npz", "tuned.tsx")
    with pytest.raises(tessera.TesseraError, match="unknown option 'speed'"):
        tessera.tune(data, "data.npz", tmp_path / "b.tsr", speed="high")
    np.testing.assert_allclose(tessera.compile(data, knobs="all=bf16").run(x), want(x), rtol=0.05, atol=0.05)


def test_a_keras_model_on_the_torch_back_end_is_a_keras_model(monkeypatch):
    """Such a model is a torch.nn.Module, too. Classes of the same names and folders stand for both packages."""
    import tessera.keras_export
    import tessera.torch_export
    torch_module = type("Module", (), {"__module__": "torch.nn.modules.module"})
    keras_model = type("Model", (torch_module,), {"__module__": "keras.src.models.model", "name": "two heads"})
    monkeypatch.setattr(tessera.keras_export, "export", lambda model, example: b"from keras")
    monkeypatch.setattr(tessera.torch_export, "export", lambda model, example, dynamic: b"from torch")
    taken = []
    monkeypatch.setattr(compiler, "build", lambda source, *rest, **options: taken.append(source) or ("", ""))
    monkeypatch.setattr(tessera.api, "Program", lambda *arguments, **options: taken.append(open(taken.pop(), "rb").read()) or torch_module())
    tessera.compile(type("Mine", (keras_model,), {})())
    tessera.compile(type("Mine", (torch_module,), {})(), 1)
    assert taken == [b"from keras", b"from torch"]


def test_where_things_are(monkeypatch, tmp_path):
    monkeypatch.setenv("TESSERA_HOME", str(tmp_path))
    with pytest.raises(tessera.TesseraError, match="the program 'tessera' is not in"):
        find.tessera_program()
    with pytest.raises(tessera.TesseraError, match="libtessera.so is not in"):
        find.runtime_library()
    monkeypatch.delenv("TESSERA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(find, "HERE", str(tmp_path / "a" / "b"))
    with pytest.raises(tessera.TesseraError, match="set TESSERA_HOME"):
        find.tessera_program()
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    program = tmp_path / "bin" / "tessera"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "lib" / "libtessera.so").write_bytes(b"")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find.tessera_program() == str(program)
    assert find.runtime_library() == str(tmp_path / "lib" / "libtessera.so")


def test_a_damaged_library_is_named(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtessera.so").write_bytes(b"not a library")
    done = subprocess.run([sys.executable, "-c", "import tessera; tessera.version()"], capture_output=True, text=True,
                          env={**os.environ, "TESSERA_HOME": str(tmp_path)})
    assert done.returncode and "cannot use '" in done.stderr
