// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's code that follows the members of listed structures at one launch.
#pragma once

#include "tessera/frontends/heterocpp/Host.h"

#include "llvm/IR/IRBuilder.h"
#include <map>

namespace tessera::heterocpp {

class HostMembers {
public:
  /// Emits where `at` does. `argument` is an argument of the launch.
  HostMembers(llvm::IRBuilder<> &at, llvm::function_ref<llvm::Value *(unsigned)> argument,
              llvm::Module &module)
      : argument(argument), module(module), b(at) {}

  llvm::Value *address(const HostInput &input);
  llvm::Value *bytes(const HostInput &input);
  /// The number that a member is, in its own type.
  llvm::Value *number(const HostInput &input, llvm::Type *type);
  /// Emits at `at`, behind the launch: gathered memory goes back to where it came from.
  void finish(llvm::IRBuilder<> &at, const std::vector<HostInput> &inputs);
  bool isPacked() const { return !packs.empty(); }

private:
  llvm::Value *address(const HostPlace &where);
  llvm::Value *bytes(const HostPlace &where);
  llvm::Value *at(llvm::Value *base, uint64_t offset);
  llvm::Value *pack(const HostPlace &where);
  void settle(const HostPlace &where);

  llvm::function_ref<llvm::Value *(unsigned)> argument;
  llvm::Module &module;
  llvm::IRBuilder<> &b;
  /// By the address of the structures and the place of the pointer in them.
  std::map<std::pair<llvm::Value *, uint64_t>, llvm::Value *> packs;
  std::map<const HostPlace *, llvm::Value *> known;
  std::map<unsigned, bool> settled;
};

} // namespace tessera::heterocpp
