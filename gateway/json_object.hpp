// A JSON object whose members must all be read: unread members are refused. Included only by files
// that read JSON, because nlohmann's header takes seconds to compile.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/json.hpp"

namespace natxy::gateway {

class JsonObject {
 public:
  JsonObject(const nlohmann::json& value, std::string path)
      : value_(value), path_(std::move(path)) {
    if (!value_.is_object()) {
      throw ConfigError((path_.empty() ? "line" : path_) +
                        ": is not a JSON object (expected {...})");
    }
  }

  // Returns the member; null if it is missing or null.
  [[nodiscard]] const nlohmann::json* find(const std::string& name) {
    known_.push_back(name);
    const auto found = value_.find(name);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }

  [[nodiscard]] const nlohmann::json& require(const std::string& name) {
    const auto* found = find(name);
    if (found == nullptr) throw ConfigError(path_of(name) + ": is missing (expected a value)");
    return *found;
  }

  struct Range {
    std::uint64_t min;
    std::uint64_t max;
  };
  [[nodiscard]] std::uint64_t number(const std::string& name, Range range) {
    return number_at(require(name), path_of(name), range);
  }
  [[nodiscard]] std::uint64_t number_or(const std::string& name, std::uint64_t otherwise,
                                        Range range) {
    const auto* found = find(name);
    return found == nullptr ? otherwise : number_at(*found, path_of(name), range);
  }
  [[nodiscard]] std::string text(const std::string& name) {
    return text_at(require(name), path_of(name));
  }

  [[nodiscard]] static std::uint64_t number_at(const nlohmann::json& value, const std::string& path,
                                               Range range) {
    const bool is_right = value.is_number_unsigned() && value.get<std::uint64_t>() >= range.min &&
                          value.get<std::uint64_t>() <= range.max;
    if (is_right) return value.get<std::uint64_t>();
    throw ConfigError(path + ": " + shown(value) +
                      " is out of range (expected a whole number from " +
                      std::to_string(range.min) + " to " + std::to_string(range.max) + ")");
  }

  [[nodiscard]] static std::string text_at(const nlohmann::json& value, const std::string& path) {
    if (!value.is_string()) {
      throw ConfigError(path + ": " + shown(value) + " is not a string (expected \"...\")");
    }
    return value.get<std::string>();
  }

  // Returns the value as JSON, shortened to fit into an error.
  [[nodiscard]] static std::string shown(const nlohmann::json& value) {
    constexpr std::size_t kLongest = 60;
    const auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  }

  [[nodiscard]] std::string path_of(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }

  // Throws ConfigError for a member that was not read. Called after all members were read.
  void refuse_the_rest() const {
    for (const auto& item : value_.items()) {
      if (std::ranges::find(known_, item.key()) == known_.end()) {
        throw ConfigError(path_of(item.key()) + ": is unknown (expected one of " + names() + ")");
      }
    }
  }

 private:
  [[nodiscard]] std::string names() const {
    std::string all;
    for (const auto& name : known_) all += (all.empty() ? "" : ", ") + name;
    return all;
  }

  const nlohmann::json& value_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace natxy::gateway
