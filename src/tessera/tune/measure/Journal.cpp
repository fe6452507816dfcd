// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/measure/Journal.h"

#include "tessera/base/File.h"
#include "tessera/base/Json.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tessera::tune {

using Json = nlohmann::json;

Result<Journal> Journal::open(const std::string &path, const std::string &key) {
  Journal journal;
  journal.path = path;
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed)
    return fail(StatusCode::Io, "cannot create the folder of '", path, "': ", failed.message());
  uint64_t good = 0;
  if (std::filesystem::is_regular_file(path, failed)) {
    TESSERA_ASSIGN(std::shared_ptr<const MappedFile> old, MappedFile::open(path));
    std::string_view text(reinterpret_cast<const char *>(old->bytes().data()), old->bytes().size());
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      Json line = parseJson(text.substr(begin, end - begin));
      if (!line.is_array() || line.size() != 2 || !line[0].is_string())
        break;
      if (begin == 0 && (line[0] != "key" || line[1] != key))
        break;
      if (begin)
        journal.entries[line[0].get<std::string>()] = std::move(line[1]);
      good = end + 1;
    }
  }
  journal.file.reset(std::fopen(path.c_str(), good ? "r+" : "w"));
  if (!journal.file)
    return fail(StatusCode::Io, "cannot write '", path, "': ", std::strerror(errno));
  if (good) {
    if (ftruncate(fileno(journal.file.get()), static_cast<off_t>(good)) != 0 ||
        std::fseek(journal.file.get(), 0, SEEK_END) != 0)
      return fail(StatusCode::Io, "cannot write '", path, "': ", std::strerror(errno));
  } else {
    TESSERA_TRY(journal.add("key", key));
    journal.entries.clear();
  }
  return journal;
}

const Json *Journal::find(const std::string &id) const {
  auto it = entries.find(id);
  return it == entries.end() ? nullptr : &it->second;
}

Status Journal::add(const std::string &id, Json value) {
  const std::string line = dumpJson(Json{id, value}) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() || std::fflush(file.get()) != 0)
    return fail(StatusCode::Io, "cannot write '", path, "': ", std::strerror(errno),
                "; what was measured before is kept there, and the same command goes on from it");
  entries[id] = std::move(value);
  return Status();
}

} // namespace tessera::tune
