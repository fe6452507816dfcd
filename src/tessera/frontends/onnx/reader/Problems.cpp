// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labels and lists for the reader's messages. Names come from the file, so they are made printable first.
#include "tessera/frontends/onnx/reader/Problems.h"

namespace tessera::onnx {

std::string printable(std::string_view text) {
  static constexpr size_t limit = 120;
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (char c : text) {
    if (out.size() >= limit)
      return out + "...";
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= 32 && byte != 127)
      out += c;
    else
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

std::string nodeLabel(const Node &node, size_t index) {
  std::string label =
      node.name.empty() ? concat("node #", index) : concat("node '", printable(node.name), "'");
  return node.opType.empty() ? label : concat(label, " (", printable(node.opType), ")");
}

std::string describe(const Context *context) {
  if (!context)
    return "";
  std::string outer = describe(context->outer);
  if (context->function)
    return concat(outer, "function '", printable(context->function->name), "': ");
  if (context->node)
    return concat(outer, nodeLabel(*context->node, context->index), ": ");
  if (context->attribute)
    return concat(outer, "attribute '", printable(context->attribute->name), "': ");
  if (context->value)
    return concat(outer, "value '", printable(context->value->name), "': ");
  if (!context->initializer->name.empty())
    return concat(outer, "initializer '", printable(context->initializer->name), "': ");
  return concat(outer, "initializer #", context->index, ": ");
}

void Problems::add(const Context *context, std::string_view text) {
  ++total;
  if (lines.size() < limit)
    lines.push_back(concat(describe(context), text));
}

void Problems::fatal(const Context *context, std::string_view text, StatusCode fatalCode) {
  if (stopped)
    return;
  stopped = true;
  code = fatalCode;
  // What was found before is shown too, but the reason to stop must not fall off the list.
  if (!lines.empty() && lines.size() >= limit)
    lines.pop_back();
  ++total;
  lines.push_back(concat(describe(context), text));
}

Status Problems::status(const std::string &name) const {
  if (!total)
    return Status();
  if (total == 1)
    return fail(code, name, ": ", lines.front());
  std::string text = concat(name, ": ", total, " problems:");
  for (const std::string &line : lines)
    text += concat("\n  ", line);
  if (total > lines.size())
    text += concat("\n  and ", total - lines.size(), " more");
  return Status::error(code, text);
}

} // namespace tessera::onnx
