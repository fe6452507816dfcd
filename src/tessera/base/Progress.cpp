// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Progress.h.
#include "tessera/base/Progress.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace tessera;

static Progress *current = nullptr;

void tessera::setProgress(Progress *notes) { current = notes; }

namespace {

/// Fills a text from the front; its last byte stays zero.
class Text {
public:
  Text(char *to, size_t size) : to(to), room(size - 1) { std::memset(to, 0, size); }
  Text &operator<<(std::string_view part) {
    size_t count = std::min(part.size(), room);
    std::memcpy(to, part.data(), count);
    to += count;
    room -= count;
    return *this;
  }

private:
  char *to;
  size_t room;
};

} // namespace

void tessera::noteStage(std::string_view stage) {
  if (!current)
    return;
  Text(current->stage, sizeof current->stage) << stage;
  Text(current->place, sizeof current->place);
}

void tessera::notePlace(std::string_view what, std::string_view name) {
  if (!current)
    return;
  constexpr size_t longestName = 100;
  Text text(current->place, sizeof current->place);
  text << what;
  if (!name.empty())
    text << " '" << name.substr(0, longestName) << "'";
}
