// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long run has found out so far, a line of JSON for each result, so that an interrupted run goes on
// where it was. Also the table of measured costs, which runs share.
#pragma once

#include "tessera/base/Status.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace tessera::tune {

class Journal {
public:
  /// Opens or begins the journal at `path`. One that was begun for another `key` (program, data, options) is
  /// begun anew; a last line that an interrupt cut off is dropped.
  static Result<Journal> open(const std::string &path, const std::string &key);

  /// The result called `id`; null when it is not there.
  const nlohmann::json *find(const std::string &id) const;
  /// Adds a result and hands it to the operating system before it returns.
  Status add(const std::string &id, nlohmann::json value);
  size_t size() const { return entries.size(); }

private:
  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  std::string path;
  std::unique_ptr<FILE, Close> file;
  std::map<std::string, nlohmann::json> entries;
};

} // namespace tessera::tune
