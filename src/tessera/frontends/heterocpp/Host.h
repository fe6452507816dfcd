// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of a source file, in LLVM's IR before any optimisation: launches become calls of the runtime,
// and what a graph has taken over is cut out.
#pragma once

#include "tessera/frontends/heterocpp/HostPlace.h"
#include "tessera/frontends/heterocpp/Word.h"

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
    std::shared_ptr<const HostInput> number = nullptr; ///< a factor as well: a scalar
  };
  std::vector<Extent> inner; ///< the extents of memory after the first
  unsigned bits = 0;         ///< of a scalar
  bool isFloat = false, isBfloat = false, isSigned = false, isBool = false;
  bool isFromSigned = false;               ///< whether the argument is signed, before it becomes the scalar
  std::shared_ptr<const HostPlace> member; ///< set when it is reached through a member of the argument
  bool written = false;
};

struct HostLaunch {
  unsigned number = 0;         ///< of the marker's call
  std::optional<unsigned> end; ///< the number of __hetero_launch_end
  std::string graph;
  std::vector<HostInput> inputs;
  std::vector<HostInput> outputs; ///< memory that only goes out; `inner` holds all extents
  bool isForgotten = false;       ///< its handle is kept, but never waited for
  bool isStream = false;
  std::vector<Word> words; ///< of a stream
  unsigned output = 0;     ///< the word that a pop returns
};

/// An item for a stream, or a launch inside of a graph: where the host calls the function that it stands in,
/// the launched function is called with these words.
struct HostWords {
  unsigned number = 0; ///< of the marker's call
  std::vector<Word> words;
  bool isRegion = false; ///< the begin or the end of one inside of a graph
};

/// All calls of markers that became something.
struct HostCalls {
  std::vector<HostLaunch> launches;
  std::vector<HostWords> pushes, parts;
};

/// Reports a mistake at the call of a marker with this number, if it has one, otherwise in a function.
using HostReport = llvm::function_ref<void(std::optional<unsigned> number, const llvm::Function *function,
                                           const llvm::Twine &text)>;

/// Rewrites the host module. `object` is the portable object of the file, empty when it has no graph. With
/// `checks`, buffers are compared with their declared sizes at each launch.
void rewriteHost(llvm::Module &module, const HostCalls &calls, const std::string &object,
                 const std::string &installer, bool checks, HostReport report);

/// The section of an executable that carries portable objects, and how each lies there: its size, filled up
/// to the alignment, then its bytes.
inline constexpr char objectSection[] = ".tessera";
inline constexpr uint64_t objectAlignment = 64;

} // namespace tessera::heterocpp
