# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface (tessera/runtime.h) through ctypes: the calls that this package needs, and NumPy's view of their types."""
import ctypes
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from . import find
from .errors import TesseraError

API_VERSION = 1

# tsr_type: name, what NumPy calls it, and what else holds the same bits. Integers are signless; NumPy has no bf16.
TYPES = {
    0: ("i1", np.dtype(np.bool_), ()),
    1: ("i8", np.dtype(np.int8), (np.dtype(np.uint8),)),
    2: ("i16", np.dtype(np.int16), (np.dtype(np.uint16),)),
    3: ("i32", np.dtype(np.int32), (np.dtype(np.uint32),)),
    4: ("i64", np.dtype(np.int64), (np.dtype(np.uint64),)),
    5: ("index", np.dtype(np.int64), (np.dtype(np.uint64),)),
    6: ("f16", np.dtype(np.float16), ()),
    7: ("bf16", np.dtype(np.uint16), ()),
    8: ("f32", np.dtype(np.float32), ()),
    9: ("f64", np.dtype(np.float64), ()),
}
BF16 = 7


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("threads", c_uint), ("policy", c_int), ("devices", c_char_p), ("profile", c_int)]


class PortInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_size_t), ("shape", POINTER(c_int64)), ("written", c_int)]


class NodeProfile(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("source", c_char_p), ("device", c_char * 32), ("count", c_uint64), ("total_ns", c_uint64), ("min_ns", c_uint64),
                ("bytes_moved", c_uint64), ("retries", c_uint64), ("flops", c_double), ("bytes", c_double)]


_SIGNATURES = {
    "tsr_version": (c_char_p, []),
    "tsr_last_error": (c_char_p, []),
    "tsr_options_init": (None, [POINTER(Options)]),
    "tsr_program_load": (c_int, [c_char_p, c_char_p, POINTER(Options), POINTER(c_void_p)]),
    "tsr_program_free": (None, [c_void_p]),
    "tsr_program_name": (c_char_p, [c_void_p]),
    "tsr_program_input_count": (c_size_t, [c_void_p]),
    "tsr_program_output_count": (c_size_t, [c_void_p]),
    "tsr_program_input_info": (c_int, [c_void_p, c_size_t, POINTER(PortInfo)]),
    "tsr_program_output_info": (c_int, [c_void_p, c_size_t, POINTER(PortInfo)]),
    "tsr_program_input_is_unsigned": (c_int, [c_void_p, c_size_t]),
    "tsr_program_output_is_unsigned": (c_int, [c_void_p, c_size_t]),
    "tsr_program_output_word": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "tsr_program_node_count": (c_size_t, [c_void_p]),
    "tsr_program_profile": (c_int, [c_void_p, c_size_t, POINTER(NodeProfile)]),
    "tsr_buffer_create": (c_int, [c_int, c_size_t, POINTER(c_int64), POINTER(c_void_p)]),
    "tsr_buffer_wrap": (c_int, [c_int, c_size_t, POINTER(c_int64), c_void_p, c_int, POINTER(c_void_p)]),
    "tsr_buffer_free": (None, [c_void_p]),
    "tsr_buffer_type": (c_int, [c_void_p]),
    "tsr_buffer_rank": (c_size_t, [c_void_p]),
    "tsr_buffer_shape": (POINTER(c_int64), [c_void_p]),
    "tsr_buffer_bytes": (c_size_t, [c_void_p]),
    "tsr_buffer_map": (c_int, [c_void_p, c_int, POINTER(c_void_p)]),
    "tsr_run": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t]),
}
READ = 1

_lock = threading.Lock()
_library = None


def library():
    """libtessera.so, loaded at first use."""
    global _library
    with _lock:
        if _library is None:
            path = find.runtime_library()
            try:
                loaded = ctypes.CDLL(path)
                for name, (result, arguments) in _SIGNATURES.items():
                    function = getattr(loaded, name)
                    function.restype, function.argtypes = result, arguments
            except (OSError, AttributeError) as error:
                raise TesseraError(f"cannot use '{path}': {error}") from None
            _library = loaded
        return _library


def check(status):
    """Raises the failure that a call reported."""
    if status:
        raise TesseraError(library().tsr_last_error().decode(errors="replace") or f"status {status}")


def text(value):
    """A name; bytes that are not UTF-8 are kept, as in names of files."""
    return value.decode(errors="surrogateescape") if value else ""


def extents(shape):
    return (c_int64 * max(len(shape), 1))(*shape)


def port(info):
    """(name, type, shape with -1 where any extent goes, written)."""
    return text(info.name), info.type, tuple(info.shape[i] for i in range(info.rank)), bool(info.written)


__all__ = ["API_VERSION", "BF16", "NodeProfile", "Options", "PortInfo", "READ", "TYPES", "byref", "c_void_p", "check", "extents",
           "library", "port", "text"]
