// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See HostMembers.h.
#include "tessera/frontends/heterocpp/HostMembers.h"

using namespace llvm;
using namespace tessera::heterocpp;

Value *HostMembers::at(Value *base, uint64_t offset) {
  return offset ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset) : base;
}

// A launch under way may still write the structure that is read here.
void HostMembers::settle(const HostPlace &where) {
  if (std::exchange(settled[where.argument], true))
    return;
  FunctionCallee request = module.getOrInsertFunction(
      "tsr_hetero_request", FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false));
  b.CreateCall(request, {argument(where.argument),
                         b.CreateZExtOrTrunc(argument(*where.sizeArgument), b.getInt64Ty())});
}

Value *HostMembers::address(const HostPlace &where) {
  if (!where.outer) {
    settle(where);
    return argument(where.argument);
  }
  if (where.part != HostPlace::Whole)
    return b.CreateLoad(b.getPtrTy(), at(pack(where), where.part == HostPlace::Packed ? 0 : 16));
  Value *&loaded = known[&where];
  if (!loaded)
    loaded = b.CreateLoad(b.getPtrTy(), at(address(*where.outer), where.offset));
  return loaded;
}

Value *HostMembers::bytes(const HostPlace &where) {
  Type *i64 = b.getInt64Ty();
  if (where.part != HostPlace::Whole)
    return b.CreateLoad(i64, at(pack(where), where.part == HostPlace::Packed ? 8 : 24));
  if (where.sizeArgument)
    return b.CreateZExtOrTrunc(argument(*where.sizeArgument), i64);
  Value *structure = address(*where.outer);
  if (where.end) {
    Value *end = b.CreateLoad(b.getPtrTy(), at(structure, *where.end));
    return b.CreateSub(b.CreatePtrToInt(end, i64), b.CreatePtrToInt(address(where), i64));
  }
  Value *sum = b.getInt64(0);
  for (const HostPlace::Term &term : where.count) {
    Value *product = b.getInt64(uint64_t(term.factor));
    for (const HostPlace::Number &number : term.numbers) {
      Value *v = b.CreateLoad(b.getIntNTy(number.bytes * 8), at(structure, number.offset));
      product = b.CreateMul(product, b.CreateIntCast(v, i64, number.isSigned));
    }
    sum = b.CreateAdd(sum, product);
  }
  sum = b.CreateSelect(b.CreateICmpSGT(sum, b.getInt64(0)), sum, b.getInt64(0));
  return b.CreateMul(sum, b.getInt64(where.elementBytes));
}

// The layout of the description and of the result is known to src/tessera/runtime/hetero/HeteroPack.cpp.
Value *HostMembers::pack(const HostPlace &where) {
  Value *base = address(*where.outer);
  Value *&made = packs[{base, where.offset}];
  if (made)
    return made;
  SmallVector<uint64_t> words = {where.stride, where.offset, where.elementBytes,
                                 where.end.value_or(where.offset), where.count.size()};
  for (const HostPlace::Term &term : where.count) {
    words.push_back(uint64_t(term.factor));
    words.push_back(term.numbers.size());
    for (const HostPlace::Number &number : term.numbers) {
      words.push_back(number.offset);
      words.push_back(number.bytes);
      words.push_back(number.isSigned);
    }
  }
  Constant *data = ConstantDataArray::get(module.getContext(), words);
  auto *shape = new GlobalVariable(module, data->getType(), true, GlobalValue::PrivateLinkage, data,
                                   ".tessera.members");
  FunctionCallee function = module.getOrInsertFunction(
      "tsr_hetero_pack",
      FunctionType::get(b.getPtrTy(), {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy()}, false));
  Value *count = b.CreateUDiv(bytes(*where.outer), b.getInt64(where.stride));
  return made = b.CreateCall(function, {base, count, shape});
}

void HostMembers::finish(IRBuilder<> &behind, const std::vector<HostInput> &inputs) {
  FunctionCallee function = module.getOrInsertFunction(
      "tsr_hetero_unpack",
      FunctionType::get(behind.getVoidTy(), {behind.getPtrTy(), behind.getInt1Ty()}, false));
  for (auto &[key, made] : packs) {
    bool written = false;
    for (const HostInput &input : inputs)
      written |= input.member && input.member->part == HostPlace::Packed && input.written &&
                 packs[{address(*input.member->outer), input.member->offset}] == made;
    behind.CreateCall(function, {made, behind.getInt1(written)});
  }
}

Value *HostMembers::address(const HostInput &input) {
  return input.member ? address(*input.member) : argument(input.argument);
}

Value *HostMembers::bytes(const HostInput &input) {
  if (input.member)
    return bytes(*input.member);
  return b.CreateZExtOrTrunc(argument(*input.sizeArgument), b.getInt64Ty());
}

Value *HostMembers::number(const HostInput &input, Type *type) {
  return b.CreateLoad(type, at(address(*input.member->outer), input.member->offset));
}
