// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signatures of `.tsr` and `.tsx` files: Ed25519 by libsodium, which is opened when it is first needed. A
// checksum finds damage; only a signature says who made a file (SECURITY.md).
#pragma once

#include "tessera/base/Container.h"
#include "tessera/base/Status.h"

#include <string>

namespace tessera {

/// The section with the maker's public key and the signature over all other sections.
inline constexpr const char *signatureSection = "signature";

/// Makes a new key: the secret one in `path`, which only its owner may read, the public one in `path`.pub.
Status makeKey(const std::string &path);

/// Signs `file` with the secret key in `key`: writes it again with its signature, in place of an older one,
/// as `out`, which may be the same file.
Status signFile(const std::string &file, const std::string &key, const std::string &out);

/// Fails when $TESSERA_TRUSTED_KEYS names a file of public keys (or a folder of *.pub) and `file` is not
/// signed with one of them. Files in the cache that no other user can write are ours, made from
/// files that are checked themselves.
Status checkTrust(const Container &file);

} // namespace tessera
