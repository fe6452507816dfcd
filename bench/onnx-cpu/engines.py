# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engines, all behind one shape: Engine(model, batch, threads, x) prepares, call() runs once, output() gives the answer.

Each gets what its documentation recommends for latency: static shapes where it can use them, memory bound once, no copies in the loop.
Python's share is a microsecond or two in each.
"""
import os
import sys

import numpy as np


class Tessera:
    """An installed program through the C API; FILE#PROGRAM names one of several. One program serves all batch sizes."""

    def __init__(self, model, batch, threads, x):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
        from tessera import capi
        self.capi, lib = capi, capi.library()
        options = capi.Options()
        lib.tsr_options_init(capi.byref(options))
        options.threads = threads
        self.program = capi.c_void_p()
        path, _, name = model.partition("#")
        capi.check(lib.tsr_program_load(path.encode(), name.encode() or None, capi.byref(options), capi.byref(self.program)))
        self.x = x
        self.inputs, self.outputs = (capi.c_void_p * 1)(), (capi.c_void_p * 1)()
        buffer = capi.c_void_p()
        capi.check(lib.tsr_buffer_wrap(8, x.ndim, capi.extents(x.shape), x.ctypes.data, 1, capi.byref(buffer)))
        self.inputs[0] = buffer
        self.run = lib.tsr_run
        self.call()

    def call(self):
        if self.run(self.program, self.inputs, 1, self.outputs, 1):
            self.capi.check(1)

    def output(self):
        lib, buffer, memory = self.capi.library(), self.capi.c_void_p(self.outputs[0]), self.capi.c_void_p()
        self.capi.check(lib.tsr_buffer_map(buffer, self.capi.READ, self.capi.byref(memory)))
        import ctypes
        shape = [lib.tsr_buffer_shape(buffer)[i] for i in range(lib.tsr_buffer_rank(buffer))]
        block = (ctypes.c_char * lib.tsr_buffer_bytes(buffer)).from_address(memory.value)
        return np.frombuffer(block, np.float32).reshape(shape).copy()


class OnnxRuntime:
    def __init__(self, model, batch, threads, x):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_free_dimension_override_by_name("N", batch)
        self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.x = ort.OrtValue.ortvalue_from_numpy(x)
        self.binding.bind_ortvalue_input(self.session.get_inputs()[0].name, self.x)
        self.name = self.session.get_outputs()[0].name
        first = self.session.run(None, {self.session.get_inputs()[0].name: x})[0]
        self.y = ort.OrtValue.ortvalue_from_numpy(np.zeros_like(first))
        self.binding.bind_ortvalue_output(self.name, self.y)

    def call(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        return self.y.numpy().copy()


class OpenVino:
    precision = "f32"

    def __init__(self, model, batch, threads, x):
        import openvino as ov
        core = ov.Core()
        network = core.read_model(model)
        network.reshape({network.input(0): list(x.shape)})
        compiled = core.compile_model(network, "CPU", {
            "INFERENCE_PRECISION_HINT": self.precision, "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY"})
        self.request = compiled.create_infer_request()
        self.x = ov.Tensor(x, shared_memory=True)
        self.request.set_input_tensor(self.x)
        self.call = self.request.infer
        self.call()

    def output(self):
        return np.array(self.request.get_output_tensor(0).data, dtype=np.float32)


class OpenVinoBf16(OpenVino):
    precision = "bf16"


class OpenVinoInt8(OpenVino):
    """On a model that prepare_int8 made."""


class Iree:
    """On a module that prepare_iree made."""

    def __init__(self, model, batch, threads, x):
        from iree import runtime
        flags = ["--task_topology_group_count=%d" % threads]
        runtime.flags.parse_flags(*flags)
        config = runtime.Config("local-task" if threads > 1 else "local-sync")
        module = runtime.VmModule.mmap(config.vm_instance, model)
        context = runtime.SystemContext(vm_modules=[runtime.create_hal_module(config.vm_instance, config.device), module], config=config)
        functions = [name for name in module.function_names if not name.startswith("__") and not name.endswith("$async")]
        self.function = getattr(context.modules[module.name], functions[0])
        self.x = runtime.asdevicearray(config.device, x)
        self.call()

    def call(self):
        self.result = self.function(self.x)

    def output(self):
        return np.asarray(self.result.to_host())


class Tvm:
    """Untuned, as it comes out of the importer and the default pipeline."""

    def __init__(self, model, batch, threads, x):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx
        network = onnx.load(model)
        name = network.graph.input[0].name
        module = from_onnx(network, shape_dict={name: list(x.shape)}, keep_params_in_input=False)
        cpu = tvm.target.codegen.llvm_get_system_cpu()
        target = tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": threads})
        with target:
            built = tvm.compile(relax.get_pipeline("zero")(module), target)
        self.machine = relax.VirtualMachine(built, tvm.cpu())
        self.x = tvm.runtime.tensor(x)
        self.call()

    def call(self):
        self.result = self.machine["main"](self.x)

    def output(self):
        result = self.result
        return (result[0] if not hasattr(result, "numpy") else result).numpy()


ENGINES = {"tessera": Tessera, "onnxruntime": OnnxRuntime, "openvino-f32": OpenVino, "openvino-bf16": OpenVinoBf16,
           "openvino-int8": OpenVinoInt8, "iree": Iree, "tvm": Tvm}


def prepare_int8(model, target, shape, count):
    """NNCF's post-training quantisation. Calibrated with noise: what is measured here is speed; accuracy is measured elsewhere."""
    import nncf
    import openvino as ov
    network = ov.Core().read_model(model)
    random = np.random.default_rng(1)
    data = nncf.Dataset([random.random((1, *shape), dtype=np.float32) for _ in range(count)])
    quantised = nncf.quantize(network, data, subset_size=count)
    ov.save_model(quantised, target, compress_to_fp16=False)


def prepare_iree(model, target, batch):
    import subprocess
    import onnx
    from iree.compiler import compile_file
    network = onnx.load(model)
    # Its importer wants static shapes to be fast.
    for value in [*network.graph.input, *network.graph.output]:
        dim = value.type.tensor_type.shape.dim[0]
        if dim.dim_param:
            dim.ClearField("dim_param")
            dim.dim_value = batch
    network = onnx.shape_inference.infer_shapes(network, data_prop=True)
    onnx.save(network, target + ".onnx")
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "iree-import-onnx"), target + ".onnx", "-o", target + ".mlir",
                    "--opset-version", "17"], check=True, capture_output=True)
    compile_file(target + ".mlir", output_file=target, target_backends=["llvm-cpu"],
                 extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling"])
    os.unlink(target + ".onnx")
    os.unlink(target + ".mlir")
