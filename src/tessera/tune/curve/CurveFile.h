// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section `curve` of portable objects and installed programs.
#pragma once

#include "tessera/base/Container.h"
#include "tessera/tune/curve/Curve.h"

namespace tessera::tune {

/// SHA-256 of the program in a portable object, hexadecimal: what its curve belongs to.
Result<std::string> programDigest(const Container &object);

/// The curve of a file, or nothing. In a portable object, a curve of another version of the program is
/// refused.
Result<std::optional<Curve>> readCurve(const Container &file);

/// Writes the file again as `path` with this curve in place of its own.
Status writeCurve(const Container &file, const Curve &curve, const std::string &path);

} // namespace tessera::tune
