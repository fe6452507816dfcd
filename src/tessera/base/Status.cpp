// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few out-of-line parts of Status.
#include "tessera/base/Status.h"

namespace tessera {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::Corrupt:
    return "corrupt";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::OutOfMemory:
    return "out of memory";
  case StatusCode::Io:
    return "input/output";
  case StatusCode::DeviceFailed:
    return "device failed";
  case StatusCode::Cancelled:
    return "cancelled";
  case StatusCode::Timeout:
    return "timeout";
  case StatusCode::Closed:
    return "closed";
  case StatusCode::DeviceLost:
    return "device lost";
  case StatusCode::Internal:
    return "internal";
  }
  return "unknown";
}

const std::string &Status::message() const {
  static const std::string none;
  return rep ? rep->text : none;
}

Status Status::withContext(std::string_view prefix) const {
  if (ok())
    return Status();
  return error(rep->code, concat(prefix, ": ", rep->text));
}

} // namespace tessera
