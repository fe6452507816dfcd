// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several tests of this folder need.
#pragma once

#include <cstddef>
#include <span>
#include <string>

inline std::span<const std::byte> asBytes(const std::string &text) { return std::as_bytes(std::span(text)); }
