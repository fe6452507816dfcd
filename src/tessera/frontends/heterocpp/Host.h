// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of a source file, in LLVM's IR before any optimisation: launches become calls of the runtime,
// and what a graph has taken over is cut out.
#pragma once

#include "tessera/frontends/heterocpp/Where.h"

#include "llvm/IR/Module.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::heterocpp {

/// One input of a graph, as arguments of the marker's call.
struct HostInput {
  std::string name; ///< for messages
  unsigned argument = 0;
  std::optional<unsigned> sizeArgument; ///< of memory
  uint64_t unitBytes = 1;
  struct Extent {
    int64_t factor = 1;
    std::vector<unsigned> arguments;
    std::shared_ptr<const HostInput> member = nullptr; ///< a number of a structure
  };
  std::vector<Extent> inner; ///< the extents of memory after the first
  unsigned bits = 0;         ///< of a scalar
  bool isFloat = false, isBfloat = false, isSigned = false;
  std::shared_ptr<const Where> member; ///< set when it is reached through a member of the argument
  bool written = false;
};

/// A value of a stream's item: which argument of a call, and how it travels (see Markers.h).
struct HostWord {
  unsigned argument;
  char kind;
};

struct HostLaunch {
  std::string function; ///< mangled
  unsigned line = 0, column = 0;
  unsigned endLine = 0, endColumn = 0; ///< of __hetero_launch_end; 0 when there is none
  std::string graph;
  std::vector<HostInput> inputs;
  std::vector<HostInput> outputs; ///< memory that only goes out; `inner` holds all extents
  bool isForgotten = false;       ///< its handle is kept, but nobody asks for it
  bool isStream = false;
  std::vector<HostWord> words; ///< of a stream
  unsigned output = 0;         ///< the word that a pop returns
};

/// An item for a stream.
struct HostPush {
  std::string function; ///< mangled
  unsigned line = 0, column = 0;
  std::vector<HostWord> words;
};

/// Rewrites the host module. `object` is the portable object of the file, empty when it has no graph. With
/// `checks`, buffers are compared with their declared sizes at each launch.
void rewriteHost(llvm::Module &module, const std::vector<HostLaunch> &launches,
                 const std::vector<HostPush> &pushes, const std::string &object, const std::string &installer,
                 bool checks);

/// The section of an executable that carries portable objects, and how each lies there: its size, filled up
/// to the alignment, then its bytes.
inline constexpr char objectSection[] = ".tessera";
inline constexpr uint64_t objectAlignment = 64;

} // namespace tessera::heterocpp
