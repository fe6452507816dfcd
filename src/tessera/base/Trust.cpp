// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Trust.h. What is signed is the list of sections, each with its name, size and digest; the digests are
// compared with the content whenever a section is read.
#include "tessera/base/Trust.h"
#include "tessera/base/CachePath.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {

namespace {

using Key = std::array<unsigned char, 32>;
using LongKey = std::array<unsigned char, 64>;
using Signature = std::array<unsigned char, 64>;

/// The functions of libsodium that are needed.
struct Sodium {
  int (*init)() = nullptr;
  int (*keypair)(unsigned char *publicKey, unsigned char *secretKey, const unsigned char *seed) = nullptr;
  int (*sign)(unsigned char *signature, unsigned long long *size, const unsigned char *message,
              unsigned long long messageSize, const unsigned char *secretKey) = nullptr;
  int (*verify)(const unsigned char *signature, const unsigned char *message, unsigned long long messageSize,
                const unsigned char *publicKey) = nullptr;
  void (*random)(void *bytes, size_t size) = nullptr;
};

constexpr std::string_view publicWord = "tessera-public-key", secretWord = "tessera-secret-key";

} // namespace

static Result<const Sodium *> openSodium() {
  static const Sodium *const sodium = []() -> const Sodium * {
    void *library = nullptr;
    for (const char *name : {"libsodium.so.23", "libsodium.so.26", "libsodium.so"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return nullptr;
    static Sodium found;
    auto get = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    bool good = get(found.init, "sodium_init") && get(found.keypair, "crypto_sign_seed_keypair") &&
                get(found.sign, "crypto_sign_detached") && get(found.verify, "crypto_sign_verify_detached") &&
                get(found.random, "randombytes_buf") && found.init() >= 0;
    return good ? &found : nullptr;
  }();
  if (!sodium)
    return fail(StatusCode::NotFound, "signatures need libsodium; on Debian: apt-get install libsodium23");
  return sodium;
}

//===----------------------------------------------------------------------===//
// Keys as text: one line, a word and 64 hexadecimal digits
//===----------------------------------------------------------------------===//

static int digitOf(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The keys behind `word` in a text; empty lines and what follows '#' are left out.
static Result<std::vector<Key>> readKeys(const std::string &path, std::string_view word) {
  TESSERA_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::string_view text(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
  std::vector<Key> keys;
  for (size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    rest = rest.substr(0, rest.find('#'));
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r' || rest.back() == '\t'))
      rest.remove_suffix(1);
    if (rest.empty())
      continue;
    Key key;
    bool good = rest.size() == word.size() + 1 + 64 && rest.starts_with(word) && rest[word.size()] == ' ';
    for (size_t i = 0; good && i < key.size(); ++i) {
      int high = digitOf(rest[word.size() + 1 + 2 * i]), low = digitOf(rest[word.size() + 2 + 2 * i]);
      good = high >= 0 && low >= 0;
      key[i] = static_cast<unsigned char>(high * 16 + low);
    }
    if (!good)
      return fail(StatusCode::InvalidArgument, "'", path, "', line ", line, ": expected '", word,
                  "' and 64 hexadecimal digits; 'tessera keygen' writes such files");
    keys.push_back(key);
  }
  if (keys.empty())
    return fail(StatusCode::InvalidArgument, "'", path, "' has no key; 'tessera keygen' makes one");
  return keys;
}

static std::string keyText(std::string_view word, const Key &key) {
  static const char digits[] = "0123456789abcdef";
  std::string text = std::string(word) + " ";
  for (unsigned char byte : key) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text + "\n";
}

Status makeKey(const std::string &path) {
  TESSERA_ASSIGN(const Sodium *sodium, openSodium());
  Key seed, publicKey;
  LongKey secretKey;
  sodium->random(seed.data(), seed.size());
  sodium->keypair(publicKey.data(), secretKey.data(), seed.data());
  // Never over an older key: what it signed could not be signed again.
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return fail(StatusCode::Io, "cannot write the key '", path, "': ", std::strerror(errno),
                errno == EEXIST ? "; a key is never overwritten" : "");
  std::string text = keyText(secretWord, seed);
  bool good = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  good = close(fd) == 0 && good;
  if (!good) {
    unlink(path.c_str());
    return fail(StatusCode::Io, "cannot write the key '", path, "': ", std::strerror(errno));
  }
  return writeFile(path + ".pub", keyText(publicWord, publicKey));
}

//===----------------------------------------------------------------------===//
// Signing and checking
//===----------------------------------------------------------------------===//

static void append(std::string &out, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    out += static_cast<char>(value >> (8 * i));
}

// What a signature is over. Every field has a length that is fixed or stated, so no two files share a text.
static std::string signedText(const Container &file) {
  std::string text = "tessera signature 1\n";
  append(text, static_cast<uint64_t>(file.kind()));
  append(text, file.llvmMajor());
  for (const Container::Section &section : file.sections()) {
    if (section.name == signatureSection)
      continue;
    append(text, section.name.size());
    text += section.name;
    append(text, section.size);
    text.append(reinterpret_cast<const char *>(section.digest.data()), section.digest.size());
  }
  return text;
}

static const unsigned char *bytesOf(const std::string &text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

Status signFile(const std::string &path, const std::string &keyPath, const std::string &out) {
  TESSERA_ASSIGN(const Sodium *sodium, openSodium());
  TESSERA_ASSIGN(std::vector<Key> seeds, readKeys(keyPath, secretWord));
  if (seeds.size() != 1)
    return fail(StatusCode::InvalidArgument, "'", keyPath, "': expected one secret key, but got ",
                seeds.size());
  TESSERA_ASSIGN(Container file, Container::open(path));
  Key publicKey;
  LongKey secretKey;
  sodium->keypair(publicKey.data(), secretKey.data(), seeds[0].data());
  std::string text = signedText(file);
  Signature signature;
  sodium->sign(signature.data(), nullptr, bytesOf(text), text.size(), secretKey.data());
  ContainerWriter writer(file.kind(), file.llvmMajor());
  for (const Container::Section &section : file.sections()) {
    if (section.name == signatureSection)
      continue;
    TESSERA_ASSIGN(std::span<const std::byte> content, file.section(section.name));
    writer.addReference(section.name, content);
  }
  writer.add(signatureSection, std::string(publicKey.begin(), publicKey.end()) +
                                   std::string(signature.begin(), signature.end()));
  return writer.write(out);
}

// All keys of a file, or of the *.pub files of a folder.
static Result<std::vector<Key>> trustedKeys(const std::string &path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return readKeys(path, publicWord);
  std::vector<std::string> files;
  if (DIR *folder = opendir(path.c_str())) {
    while (const dirent *entry = readdir(folder))
      if (std::string_view(entry->d_name).ends_with(".pub"))
        files.push_back(path + "/" + entry->d_name);
    closedir(folder);
  }
  std::vector<Key> keys;
  for (const std::string &each : files) {
    TESSERA_ASSIGN(std::vector<Key> more, readKeys(each, publicWord));
    keys.insert(keys.end(), more.begin(), more.end());
  }
  if (keys.empty())
    return fail(StatusCode::InvalidArgument, "the folder '", path, "' has no *.pub files with keys");
  return keys;
}

static bool isInCache(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash != std::string::npos && path.substr(0, slash) == cacheFolder() && openCacheFolder().ok();
}

Status checkTrust(const Container &file) {
  const char *trusted = std::getenv("TESSERA_TRUSTED_KEYS");
  if (!trusted || !*trusted || isInCache(file.name()))
    return Status();
  auto refuse = [&](const auto &...parts) {
    return fail(StatusCode::InvalidArgument, "'", file.name(), "' ", parts...);
  };
  TESSERA_ASSIGN(const std::vector<Key> keys, trustedKeys(trusted));
  if (!file.has(signatureSection))
    return refuse("is not signed, but only files signed with a key of '", trusted,
                  "' are trusted; its maker can sign it: tessera sign FILE --key KEY");
  TESSERA_ASSIGN(const Sodium *sodium, openSodium());
  TESSERA_ASSIGN(std::string_view content, file.text(signatureSection));
  Key key;
  if (content.size() != key.size() + sizeof(Signature))
    return refuse("has a damaged signature");
  std::memcpy(key.data(), content.data(), key.size());
  if (std::find(keys.begin(), keys.end(), key) == keys.end())
    return refuse("is signed with a key that is not in '", trusted,
                  "': ", keyText(publicWord, key).substr(publicWord.size() + 1, 64));
  std::string text = signedText(file);
  const auto *signature = reinterpret_cast<const unsigned char *>(content.data()) + key.size();
  if (sodium->verify(signature, bytesOf(text), text.size(), key.data()) != 0)
    return refuse("has a signature that does not fit its content: it was changed after it was signed");
  return Status();
}

} // namespace tessera
