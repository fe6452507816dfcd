// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables and memory: where they live, and what it takes to read and write them.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::heterocpp;

Value Translator::constant(Type type, int64_t v) {
  return arith::ConstantOp::create(b, current, b.getIntegerAttr(type, v));
}
Value Translator::constantIndex(int64_t v) { return arith::ConstantIndexOp::create(b, current, v); }
Value Translator::zero(Type type) { return arith::ConstantOp::create(b, current, b.getZeroAttr(type)); }

Object *Translator::makeObject(Value memory, Unit unit, const clang::ValueDecl *decl) {
  objects.push_back({memory, unit, decl, memory ? LocationAttr(memory.getLoc()) : LocationAttr(current)});
  return &objects.back();
}

Storage *Translator::own(std::unique_ptr<Storage> storage) {
  storages.push_back(std::move(storage));
  return storages.back().get();
}

std::unique_ptr<Storage> Translator::makeStorage(clang::QualType type, clang::SourceLocation at) {
  auto storage = std::make_unique<Storage>();
  storage->type = type;
  type = type.getCanonicalType();
  if (type->isReferenceType()) {
    storage->kind = Storage::Reference;
  } else if (type->isPointerType() || type->isNullPtrType()) {
    storage->kind = Storage::Pointer;
    storage->slot = newSlot(constantIndex(0));
  } else if (Type value = valueType(type, b.getContext(), ast)) {
    storage->kind = Storage::Scalar;
    storage->slot = newSlot(zero(value));
  } else if (auto pieces = getPieces(type, ast)) {
    if (const auto *record = type->getAsCXXRecordDecl(); record && record->isPolymorphic())
      unsupported(at, "an object of the class '" + record->getNameAsString() + "' with virtual functions",
                  "use a class without them, or a template");
    storage->kind = Storage::Aggregate;
    for (const Member &member : *pieces)
      storage->parts.push_back(makeStorage(member.type, at));
  } else {
    storage->kind = Storage::Memory;
    storage->object = allocate(type, at);
  }
  return storage;
}

Storage *Translator::declare(const clang::VarDecl *var) {
  Storage *storage = own(makeStorage(var->getType(), var->getLocation()));
  frames.back().vars[var] = storage;
  return storage;
}

Place Translator::materialize(const RValue &value, clang::QualType type, clang::SourceLocation at) {
  Storage *storage = own(makeStorage(type.getNonReferenceType(), at));
  Place place = placeOf(storage);
  store(place, value, at);
  return place;
}

//===----------------------------------------------------------------------===//
// Parts of objects
//===----------------------------------------------------------------------===//

// What a name stands for in the end: a reference for its target, an array for its memory.
Place Translator::resolve(Place place) {
  while (place.storage) {
    if (place.storage->kind == Storage::Reference) {
      clang::QualType type = place.type.getNonReferenceType();
      place = place.storage->target;
      if (!place.type.isNull() && !type.isNull())
        place.type = type;
    } else if (place.storage->kind == Storage::Memory) {
      return {place.type, nullptr, place.storage->object, constantIndex(0)};
    } else {
      break;
    }
  }
  return place;
}

Place Translator::fieldOf(const Place &from, const clang::FieldDecl *field) {
  Place base = resolve(from);
  clang::QualType type = field->getType();
  const auto *record = cast<clang::CXXRecordDecl>(field->getParent());
  if (base.storage) {
    SmallVector<Member> members = getMembers(record, ast);
    for (auto [i, member] : llvm::enumerate(members))
      if (member.field && member.field->getCanonicalDecl() == field->getCanonicalDecl() &&
          i < base.storage->parts.size())
        return resolve({type, base.storage->parts[i].get(), nullptr, Value()});
    return Place();
  }
  if (!base.object)
    return Place();
  uint64_t bytes = ast.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex()) / 8;
  Value offset = base.offset;
  if (bytes)
    offset = arith::AddIOp::create(b, current, offset, constantIndex(bytes / base.object->unit.bytes));
  if (!type->isReferenceType())
    return {type, nullptr, base.object, offset};
  // A reference is a pointer to one object.
  Place pointer{ast.getPointerType(type.getNonReferenceType()), nullptr, base.object, offset};
  if (std::optional<RValue> target = loadPointer(pointer, field->getLocation()))
    return target->place;
  unsupported(field->getLocation(), "a reference that is read from memory",
              "list the memory it names as an object of its own");
  return Place{type.getNonReferenceType()};
}

Place Translator::baseOf(const Place &from, const clang::CXXRecordDecl *wanted) {
  Place place = resolve(from);
  const auto *record = place.type->getAsCXXRecordDecl();
  if (!record || record->getCanonicalDecl() == wanted->getCanonicalDecl())
    return place;
  for (auto [i, member] : llvm::enumerate(getMembers(record, ast))) {
    if (member.field)
      break;
    const auto *base = member.type->getAsCXXRecordDecl();
    if (base->getCanonicalDecl() != wanted->getCanonicalDecl() && !base->isDerivedFrom(wanted))
      continue;
    Place part{member.type};
    if (place.storage) {
      part.storage = place.storage->parts[i].get();
    } else {
      part.object = place.object;
      part.offset = place.offset;
      if (member.offset)
        part.offset = arith::AddIOp::create(b, current, part.offset,
                                            constantIndex(member.offset / place.object->unit.bytes));
    }
    return baseOf(part, wanted);
  }
  return place;
}

Place Translator::decay(const Place &from) {
  Place array = resolve(from);
  array.type = ast.getAsArrayType(array.type)->getElementType();
  return array;
}

// pointer + index
Place Translator::elementOf(const Place &pointer, Value index, clang::SourceLocation at) {
  Place place = resolve(pointer);
  if (!place.object) {
    APInt known;
    if (!place.storage || !(matchPattern(index, m_ConstantInt(&known)) && known.isZero()))
      unsupported(at, "arithmetic on the address of a variable",
                  "use an array, or index the buffer that the pointer came from");
    return place;
  }
  if (place.type->isPointerType() && !getConstantIntValue(index)) {
    unsupported(at, "a pointer that is chosen from several",
                "keep one array, and the first index of each part");
    return Place{place.type};
  }
  uint64_t bytes = ast.getTypeSizeInChars(place.type).getQuantity(), unit = place.object->unit.bytes;
  if (bytes % unit != 0) {
    unsupported(at, "an access of '" + place.type.getAsString() + "' to memory of larger elements",
                "declare the pointer with the type that the memory is accessed with");
    return Place{place.type};
  }
  if (bytes != unit)
    index = arith::MulIOp::create(b, current, index, constantIndex(bytes / unit));
  place.offset = place.offset ? arith::AddIOp::create(b, current, place.offset, index).getResult() : index;
  return place;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Value Translator::loadUnit(Object &object, Value offset) {
  if (isa<RankedTensorType>(object.memory.getType()))
    return tensor::ExtractOp::create(b, current, object.memory, offset);
  return memref::LoadOp::create(b, current, object.memory, offset);
}

Value Translator::loadScalar(const Place &place, clang::SourceLocation at) {
  Type wanted = memoryType(place.type, b.getContext(), ast);
  Type value = valueType(place.type, b.getContext(), ast);
  if (Value known = loadNumber(place, at))
    return known;
  if (!mayAccess(*place.object, /*writes=*/false, at))
    return zero(value);
  const Unit &unit = place.object->unit;
  uint64_t bytes = wanted.getIntOrFloatBitWidth() / 8;
  if (bytes < unit.bytes) {
    unsupported(at, "an access of '" + place.type.getAsString() + "' to memory of larger elements",
                "declare the pointer with the type that the memory is accessed with");
    return zero(value);
  }
  Value v;
  if (bytes == unit.bytes) {
    v = loadUnit(*place.object, place.offset);
  } else {
    // Several units make one number, the lowest first.
    Type bits = b.getIntegerType(bytes * 8);
    for (uint64_t i = 0; i < bytes / unit.bytes; ++i) {
      Value offset =
          i ? arith::AddIOp::create(b, current, place.offset, constantIndex(i)).getResult() : place.offset;
      Value part = loadUnit(*place.object, offset);
      if (isa<FloatType>(part.getType()))
        part = arith::BitcastOp::create(b, current, b.getIntegerType(unit.bytes * 8), part);
      part = arith::ExtUIOp::create(b, current, bits, part);
      if (i)
        part = arith::ShLIOp::create(b, current, part, constant(bits, i * unit.bytes * 8));
      v = v ? arith::OrIOp::create(b, current, v, part).getResult() : part;
    }
  }
  if (v.getType() != wanted)
    v = arith::BitcastOp::create(b, current, wanted, v);
  // A truth value in memory is 0 or 1.
  if (value != wanted)
    v = arith::TruncIOp::create(b, current, value, v);
  return v;
}

void Translator::storeScalar(const Place &place, Value v, clang::SourceLocation at) {
  Type wanted = memoryType(place.type, b.getContext(), ast);
  if (!wanted)
    return unsupportedType(place.type, at);
  if (!mayAccess(*place.object, /*writes=*/true, at))
    return;
  const Unit &unit = place.object->unit;
  uint64_t bytes = wanted.getIntOrFloatBitWidth() / 8;
  if (bytes < unit.bytes) {
    unsupported(at, "an access of '" + place.type.getAsString() + "' to memory of larger elements",
                "declare the pointer with the type that the memory is accessed with");
    return;
  }
  if (v.getType() != wanted)
    v = arith::ExtUIOp::create(b, current, wanted, v);
  auto put = [&](Value part, Value offset) {
    if (part.getType() != unit.type)
      part = arith::BitcastOp::create(b, current, unit.type, part);
    memref::StoreOp::create(b, current, part, place.object->memory, offset);
  };
  if (bytes == unit.bytes)
    return put(v, place.offset);
  Type bits = b.getIntegerType(bytes * 8);
  if (v.getType() != bits)
    v = arith::BitcastOp::create(b, current, bits, v);
  for (uint64_t i = 0; i < bytes / unit.bytes; ++i) {
    Value part =
        i ? arith::ShRUIOp::create(b, current, v, constant(bits, i * unit.bytes * 8)).getResult() : v;
    part = arith::TruncIOp::create(b, current, b.getIntegerType(unit.bytes * 8), part);
    Value offset =
        i ? arith::AddIOp::create(b, current, place.offset, constantIndex(i)).getResult() : place.offset;
    put(part, offset);
  }
}

RValue Translator::zeroOf(clang::QualType type, clang::SourceLocation at) {
  type = type.getCanonicalType();
  if (Type value = valueType(type, b.getContext(), ast))
    return RValue::of(zero(value));
  RValue result;
  if (type->isPointerType() || type->isNullPtrType()) {
    result.kind = RValue::Pointer;
  } else if (auto pieces = getPieces(type, ast)) {
    result.kind = RValue::Aggregate;
    for (const Member &member : *pieces)
      result.parts.push_back(zeroOf(member.type, at));
  }
  return result;
}

void Translator::unsupportedType(clang::QualType type, clang::SourceLocation at) {
  unsupported(at, "the type '" + type.getAsString(ast.getPrintingPolicy()) + "'",
              "use 'double' or an integer of at most 64 bits");
}

// A variable is what it was declared as, not bytes.
void Translator::checkType(const Place &place, clang::SourceLocation at) {
  Type own = valueType(place.storage->type.getNonReferenceType(), b.getContext(), ast);
  if (Type seen = valueType(place.type.getNonReferenceType(), b.getContext(), ast); seen && seen != own)
    unsupported(at,
                "an access of '" + place.type.getAsString(ast.getPrintingPolicy()) +
                    "' to a variable of type '" + place.storage->type.getAsString(ast.getPrintingPolicy()) +
                    "'",
                "use 'std::bit_cast', or a union");
}

RValue Translator::load(const Place &from, clang::SourceLocation at) {
  Place place = resolve(from);
  if (!place)
    return place.type.isNull() ? RValue() : zeroOf(place.type, at);
  clang::QualType type = place.type.getCanonicalType();
  if (Storage *storage = place.storage) {
    switch (storage->kind) {
    case Storage::Scalar:
      checkType(place, at);
      return RValue::of(slots[storage->slot]);
    case Storage::Pointer: {
      Place target = storage->target;
      if (target.object)
        target.offset = slots[storage->slot];
      target.pointer = storage;
      target.type = type->isPointerType() ? type->getPointeeType() : target.type;
      return RValue::pointer(target);
    }
    default: {
      RValue result;
      result.kind = RValue::Aggregate;
      for (auto &part : storage->parts) {
        if (part->kind == Storage::Reference) {
          RValue reference;
          reference.kind = RValue::Reference;
          reference.place = part->target;
          result.parts.push_back(reference);
          continue;
        }
        result.parts.push_back(load(placeOf(part.get()), at));
      }
      return result;
    }
    }
  }
  if (isScalar(type))
    return RValue::of(loadScalar(place, at));
  if (type->isPointerType()) {
    if (std::optional<RValue> known = loadPointer(place, at))
      return *known;
    unsupported(at, "a pointer that is read from memory",
                "list the memory it points to as an object of its own");
    return zeroOf(type, at);
  }
  RValue result;
  if (auto pieces = getPieces(type, ast)) {
    result.kind = RValue::Aggregate;
    for (const Member &member : *pieces) {
      Place part{member.type, nullptr, place.object, place.offset};
      if (member.offset)
        part.offset = arith::AddIOp::create(b, current, place.offset,
                                            constantIndex(member.offset / place.object->unit.bytes));
      result.parts.push_back(load(part, at));
    }
    return result;
  }
  result.kind = RValue::Memory;
  result.place = place;
  return result;
}

// Which of the two a pointer is when the program runs is not kept.
static constexpr llvm::StringLiteral mixedNull = "a test of a pointer that may be null or not";

void Translator::setNull(Storage &pointer, bool isNull, clang::SourceLocation at) {
  bool had = bool(pointer.target);
  if (pointer.isTested && (isNull ? had : pointer.isNull))
    unsupported(at, mixedNull, "keep a flag beside it");
  pointer.isNull |= isNull;
}

void Translator::testForNull(const Place &place, clang::SourceLocation at) {
  if (!place.pointer)
    return;
  place.pointer->isTested = true;
  if (place.pointer->isNull && place.pointer->target)
    unsupported(at, mixedNull, "keep a flag beside it");
}

// A reference names one object, whatever way the program takes.
void Translator::bindReference(Storage &reference, const Place &target, clang::SourceLocation at) {
  const Place &old = reference.target;
  if (old && (old.storage != target.storage || old.object != target.object || old.offset != target.offset))
    unsupported(at, "a reference that names one of several objects", "keep the value instead");
  reference.target = target;
}

void Translator::store(const Place &to, const RValue &value, clang::SourceLocation at) {
  Place place = resolve(to);
  if (to.storage && to.storage->kind == Storage::Reference && value.kind == RValue::Reference)
    return bindReference(*to.storage, value.place, at);
  if (!place || value.kind == RValue::None)
    return;
  if (value.kind == RValue::Memory && !place.object)
    return unsupportedType(value.place.type, at);
  if (value.kind == RValue::Memory) {
    // An array or a union, in pieces as large as the larger units of the two.
    uint64_t bytes = std::max(value.place.object->unit.bytes, place.object->unit.bytes);
    uint64_t count = ast.getTypeSizeInChars(place.type).getQuantity() / bytes;
    clang::QualType type = ast.getIntTypeForBitwidth(bytes * 8, /*Signed=*/false);
    emitCounted(constantIndex(0), constantIndex(count), constantIndex(1), [&](Value i) {
      auto piece = [&](const Place &all) {
        Value offset = i;
        if (uint64_t units = bytes / all.object->unit.bytes; units > 1)
          offset = arith::MulIOp::create(b, current, i, constantIndex(units));
        return Place{type, nullptr, all.object, arith::AddIOp::create(b, current, all.offset, offset)};
      };
      storeScalar(piece(place), loadScalar(piece(value.place), at), at);
    });
    return;
  }
  if (Storage *storage = place.storage) {
    if (storage->isChosen) {
      unsupported(at, "a write to one of several variables", "write it with 'if'");
      return;
    }
    switch (storage->kind) {
    case Storage::Scalar:
      checkType(place, at);
      if (value.scalar)
        slots[storage->slot] = value.scalar;
      return;
    case Storage::Pointer:
      if (value.kind == RValue::Pointer)
        setNull(*storage, !value.place || (value.place.pointer && value.place.pointer->isNull), at);
      if (!value.place)
        return;
      if (storage->target &&
          (storage->target.object != value.place.object || storage->target.storage != value.place.storage)) {
        unsupported(at, "a pointer that points to different objects", "use one pointer for each object");
        return;
      }
      storage->target = value.place;
      if (value.place.object)
        slots[storage->slot] = value.place.offset;
      return;
    default:
      for (auto [part, v] : llvm::zip(storage->parts, value.parts)) {
        if (part->kind == Storage::Reference && v.kind == RValue::Reference)
          bindReference(*part, v.place, at);
        else
          store(placeOf(part.get()), v, at);
      }
      return;
    }
  }
  if (value.kind == RValue::Scalar)
    return storeScalar(place, value.scalar, at);
  if (value.kind == RValue::Pointer) {
    unsupported(at, "a pointer that is written to memory", "store an index instead");
    return;
  }
  auto pieces = getPieces(place.type, ast);
  if (!pieces)
    return;
  for (auto [member, v] : llvm::zip(*pieces, value.parts)) {
    Place part{member.type, nullptr, place.object, place.offset};
    if (member.offset)
      part.offset = arith::AddIOp::create(b, current, place.offset,
                                          constantIndex(member.offset / place.object->unit.bytes));
    store(part, v, at);
  }
}
