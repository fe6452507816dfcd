// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one precompiled header of the half without LLVM: what is dear to parse there. Each file still includes
// what it uses; the gcc preset builds without this. Nothing of ours belongs here.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
