// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that programs may use for targets which need not be built here, by the class of device that they
// stand for. The names of what was built, and that of the host, come from the build (driver/Components.h).
#pragma once

#include <string_view>

namespace tessera::known {

inline constexpr std::string_view gpus[] = {"cuda", "opencl"};
inline constexpr std::string_view fpgas[] = {"fpga"};

} // namespace tessera::known
