// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What members of listed structures lead to. The memory that a pointer points to is an input of its own, as
// long as the pointer is used; so is a number that decides how often a loop runs.
#include "tessera/frontends/heterocpp/GraphBuilder.h"
#include "tessera/frontends/heterocpp/Members.h"

#include "clang/AST/RecordLayout.h"

using namespace tessera;
using namespace tessera::heterocpp;

// An offset within one structure of an array; what is not constant steps over whole structures.
static std::optional<uint64_t> getRemainder(Value offset, uint64_t stride) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return uint64_t(*known) % stride;
  if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
    std::optional<uint64_t> l = getRemainder(sum.getLhs(), stride), r = getRemainder(sum.getRhs(), stride);
    if (!l || !r)
      return std::nullopt;
    return (*l + *r) % stride;
  }
  if (auto product = offset.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs())) {
      if (std::optional<int64_t> known = getConstantIntValue(product.getLhs()))
        return uint64_t(*known * *factor) % stride;
      return uint64_t(*factor) % stride == 0 ? std::optional<uint64_t>(0) : std::nullopt;
    }
  return 0;
}

// A sum of products of constants, as offsets of members and elements are built.
static std::optional<int64_t> getKnownOffset(Value offset) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return known;
  Operation *op = offset.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> l = getKnownOffset(op->getOperand(0)), r = getKnownOffset(op->getOperand(1));
  if (!l || !r)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *l + *r : *l * *r;
}

std::optional<uint64_t> GraphBuilder::getOffsetInside(Object *object, Value offset) {
  const Source &source = sources[object];
  uint64_t bytes = ast.getTypeSizeInChars(source.element).getQuantity();
  std::optional<uint64_t> rest = getRemainder(offset, std::max<uint64_t>(1, bytes / object->unit.bytes));
  if (!rest)
    return std::nullopt;
  return *rest * object->unit.bytes;
}

std::optional<MemberMemory> GraphBuilder::addMember(Object *object, Value offset, clang::SourceLocation at) {
  auto from = sources.find(object);
  if (from == sources.end())
    return std::nullopt;
  std::optional<uint64_t> place = getOffsetInside(object, offset);
  std::optional<FoundMember> member = place ? findMember(from->second.element, *place, ast) : std::nullopt;
  if (!member || !(member->type->isPointerType() || member->type->isReferenceType()))
    return std::nullopt;
  if (const clang::FieldDecl *begin = getBeginOf(member->field)) {
    uint64_t first = member->classOffset +
                     ast.getASTRecordLayout(begin->getParent()).getFieldOffset(begin->getFieldIndex()) / 8;
    auto memory = addMemberAt(object, *findMember(from->second.element, first, ast), first, at);
    if (memory)
      memory->isEnd = true;
    return memory;
  }
  return addMemberAt(object, *member, *place, at);
}

// What a lambda keeps in this member; null where the member is of another class.
static const clang::LambdaCapture *getCapture(const clang::FieldDecl *field) {
  const auto *record = dyn_cast<clang::CXXRecordDecl>(field->getParent());
  if (record && record->isLambda())
    for (auto [capture, own] : llvm::zip(record->captures(), record->fields()))
      if (own == field)
        return &capture;
  return nullptr;
}

static std::string getName(const clang::FieldDecl *field) {
  const clang::LambdaCapture *capture = getCapture(field);
  if (!capture)
    return field->getNameAsString();
  return capture->capturesThis() ? "this" : capture->getCapturedVar()->getNameAsString();
}

Location GraphBuilder::nameLoc(const std::string &name, clang::SourceLocation at, bool isArray) {
  return NameLoc::get(b.getStringAttr(name + (isArray ? "[]" : "")), level.getLoc(at));
}

// A variable that a lambda captures is spoken of by its name, and what vectors and spans hold by theirs.
std::pair<std::string, clang::SourceLocation> GraphBuilder::getSpoken(const Source &source,
                                                                      const FoundMember &member) const {
  const clang::FieldDecl *field = member.field;
  bool ofLibrary = ast.getSourceManager().isInSystemHeader(field->getLocation());
  if (const clang::LambdaCapture *capture = getCapture(ofLibrary ? member.outermost : field))
    return {getName(ofLibrary ? member.outermost : field),
            capture->capturesThis() ? capture->getLocation() : capture->getCapturedVar()->getLocation()};
  if (ofLibrary)
    return {source.spoken, source.declared};
  return {(source.spoken == "this" ? "" : source.spoken + ".") + field->getNameAsString(),
          field->getLocation()};
}

std::optional<MemberMemory> GraphBuilder::addMemberAt(Object *object, const FoundMember &member,
                                                      uint64_t place, clang::SourceLocation at) {
  if (auto known = members.find({object, place}); known != members.end())
    return known->second;
  const Source source = sources[object];
  MemberMemory &made = members[{object, place}];
  std::string name = source.name + "." + getName(member.field);
  auto refuse = [&](const Twine &what, const Twine &remedy) {
    level.failed = true;
    diag.emitError(at, what);
    diag.note(member.field->getLocation(), remedy);
    return made;
  };
  clang::QualType element = member.type->getPointeeType();
  Unit unit = element->isIncompleteType() ? Unit() : getUnit(element, b.getContext(), ast);
  if (!unit)
    return refuse("memory of '" + element.getAsString(ast.getPrintingPolicy()) + "', which '" + name +
                      "' points to, cannot be passed to a graph",
                  "use numbers, or classes and arrays of numbers");
  auto where = std::make_shared<HostPlace>();
  where->argument = source.where->argument;
  where->outer = source.where;
  where->offset = place;
  where->elementBytes = ast.getTypeSizeInChars(element).getQuantity();
  auto size = declaredSizes.find({object->decl, place});
  if (size != declaredSizes.end() && source.isOne && !source.where->outer) {
    where->sizeArgument = size->second;
  } else if (const clang::LambdaCapture *capture = getCapture(member.field);
             member.type->isReferenceType() || (capture && capture->capturesThis())) {
    where->count.push_back({1, {}});
  } else if (capture && capture->capturesVariable()) {
    const clang::ValueDecl *captured = capture->getCapturedVar();
    level.failed = true;
    diag.emitError(at, "the pointer '" + captured->getNameAsString() +
                           "' is captured, but it is not known how many elements it points to");
    diag.note(captured->getLocation(), "it is declared here; capture 'tessera::span(" +
                                           captured->getNameAsString() +
                                           ", n)' instead, or pass tessera::in, out or inout");
    return made;
  } else if (!readCount(member, *where, at, ast, diag)) {
    level.failed = true;
    return made;
  }
  auto [spoken, declared] = getSpoken(source, member);
  bool isOne = !where->sizeArgument && !where->end && where->count.size() == 1 &&
               where->count[0].numbers.empty() && where->count[0].factor == 1;
  auto add = [&](Type type, uint64_t unitBytes, const std::string &input) {
    GraphInput made;
    made.name = input;
    for (unsigned i = 1; llvm::any_of(launch.inputs, [&](auto &other) { return other.name == made.name; });
         ++i)
      made.name = input + "." + std::to_string(i);
    made.argument = where->argument;
    made.sizeArgument = source.where->sizeArgument.value_or(0);
    made.unitBytes = unitBytes;
    made.member = where;
    launch.inputs.push_back(made);
    Value arg = body->addArgument(MemRefType::get({ShapedType::kDynamic}, type),
                                  nameLoc(spoken, declared, isScalar(element) && !isOne));
    return level.makeObject(arg, {type, unitBytes}, object->decl);
  };
  if (source.isOne) {
    made.object = add(unit.type, unit.bytes, name);
  } else {
    if (source.isPacked)
      return refuse("'" + name + "' is reached through an array of structures in an array of structures",
                    "keep what they point to in one array, and the first index of each");
    where->stride = ast.getTypeSizeInChars(source.element).getQuantity();
    where->part = HostPlace::Starts;
    made.starts = add(b.getI64Type(), 8, name + ".starts");
    where = std::make_shared<HostPlace>(*where);
    where->part = HostPlace::Packed;
    made.object = add(unit.type, unit.bytes, name);
    made.strideUnits = where->stride / object->unit.bytes;
    made.elementUnits = where->elementBytes / unit.bytes;
  }
  memory.push_back(made.object);
  memoryNames.push_back(launch.inputs.back().name);
  sources[made.object] = {element, name, where, isOne && source.isOne, !source.isOne, spoken, declared};
  return made;
}

// A pointer of a structure that the launch lists with a size of its own.
void GraphBuilder::declareSize(const Listed &listed) {
  uint64_t offset = 0;
  for (const auto *part = listed.member; part;
       part = dyn_cast<clang::MemberExpr>(part->getBase()->IgnoreParenImpCasts())) {
    const auto *field = cast<clang::FieldDecl>(part->getMemberDecl());
    offset += ast.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex()) / 8;
    if (part->isArrow() && !isa<clang::DeclRefExpr>(part->getBase()->IgnoreParenImpCasts()))
      return;
  }
  declaredSizes[{listed.decl, offset}] = listed.argument + 1;
}

// A number that the host reads when it launches the graph; none where a task may have changed it by now.
Value GraphBuilder::addNumber(Object *object, Value offset, clang::QualType type, clang::SourceLocation at) {
  auto from = sources.find(object);
  if (from == sources.end() || !isa<BlockArgument>(object->memory) || from->second.isPacked ||
      !isScalar(type))
    return Value();
  // Of an array, an element at a constant place.
  std::optional<int64_t> known = getKnownOffset(offset);
  if (!known)
    return Value();
  uint64_t place = uint64_t(*known) * object->unit.bytes;
  Value &made = numbers[{object, place}];
  if (!made) {
    auto where = std::make_shared<HostPlace>();
    where->argument = from->second.where->argument;
    where->outer = from->second.where;
    where->offset = place;
    GraphInput input;
    input.name = from->second.name + "." + std::to_string(place);
    if (std::optional<FoundMember> member = findMember(from->second.element, place, ast);
        member && member->field)
      input.name = from->second.name + "." + getName(member->field);
    for (std::string base = input.name;
         llvm::any_of(launch.inputs, [&](auto &other) { return other.name == input.name; });)
      input.name = base + "." + std::to_string(launch.inputs.size());
    input.argument = where->argument;
    input.type = type;
    input.member = where;
    launch.inputs.push_back(input);
    made = body->addArgument(memoryType(type, b.getContext(), ast), level.getLoc(at));
  }
  Value v = made;
  if (v.getType() != memoryType(type, b.getContext(), ast))
    return Value();
  if (type->isBooleanType())
    v = arith::CmpIOp::create(b, level.getLoc(at), arith::CmpIPredicate::ne, v, level.zero(v.getType()));
  return v;
}
