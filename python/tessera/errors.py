# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can go wrong, as one kind of exception."""


class TesseraError(RuntimeError):
    """A failure that Tessera reports: the text is its message, with a remedy where there is one."""
