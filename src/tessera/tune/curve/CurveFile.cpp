// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/curve/CurveFile.h"

namespace tessera::tune {

static constexpr std::string_view sectionName = "curve";

Result<std::string> programDigest(const Container &object) {
  for (const Container::Section &section : object.sections())
    if (section.name == "ir")
      return toHex(section.digest);
  return fail(StatusCode::InvalidArgument, "'", object.name(),
              "' is no portable object (.tsr); make one with 'tessera compile'");
}

Result<std::optional<Curve>> readCurve(const Container &file) {
  if (!file.has(sectionName))
    return std::optional<Curve>();
  TESSERA_ASSIGN(std::string_view text, file.text(sectionName));
  Result<Curve> curve = parseCurve(text);
  if (!curve.ok())
    return curve.status().withContext(concat("'", file.name(), "'"));
  if (file.kind() == ContainerKind::PortableObject) {
    TESSERA_ASSIGN(const std::string digest, programDigest(file));
    if (digest != curve->program)
      return fail(StatusCode::InvalidArgument, "'", file.name(),
                  "' holds the curve of another version of the program; tune it again");
  }
  return std::optional<Curve>(curve.take());
}

Status writeCurve(const Container &file, const Curve &curve, const std::string &path) {
  ContainerWriter writer(file.kind(), file.llvmMajor());
  for (const Container::Section &section : file.sections())
    if (section.name != sectionName) {
      TESSERA_ASSIGN(std::span<const std::byte> bytes, file.section(section.name));
      writer.addReference(section.name, bytes);
    }
  writer.add(std::string(sectionName), curveJson(curve));
  return writer.write(path);
}

} // namespace tessera::tune
