# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators by family. Each family is a module with OPS: for each name a weight and a function that adds a node, or a few, to a net."""
import importlib
import pkgutil

MODULES = {m.name: importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)}


def choose(net, families=None, ops=None):
    """A function at random: first a family by its weight, then one of its operators."""
    named = bool(families or ops)
    modules = {n: m for n, m in MODULES.items() if (not families or n in families) and (not ops or set(ops) & set(m.OPS)) and (m.WEIGHT or named)}
    # A family of weight 0 stands apart: it is there when it is named.
    module = net.pick(list(modules.values()), [m.WEIGHT or 1 for m in modules.values()])
    table = {n: entry for n, entry in module.OPS.items() if not ops or n in ops}
    return table[net.pick(list(table), [weight for weight, _ in table.values()])][1]
