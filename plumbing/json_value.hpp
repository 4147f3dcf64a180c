// A JSON value with its path, which errors name. Included only by the source files that read or
// write JSON, because the library is slow to compile.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumbing/json_error.hpp"

namespace natxy::plumbing {

using Json = nlohmann::json;

// The names of enumerators in JSON, in the order in which errors list them.
template <typename Enum>
using Names = std::vector<std::pair<std::string, Enum>>;

// Parses a text. Returns a value with is_discarded() if it is not JSON.
inline Json parse_json(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

// Returns the value as text for an error. Names only the type of lists and objects: the library
// writes nested values recursively, and deeply nested input would overflow the stack.
inline std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  // Throws JsonError; what: the sentence after the value, "is out of range (expected 1 to 4)".
  [[noreturn]] void refuse(const std::string& what) const {
    throw JsonError(path_, shown(json_) + " " + what);
  }
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  template <typename Integer>
  [[nodiscard]] Integer integer(std::uint64_t min, std::uint64_t max) const {
    const auto range =
        min == max ? std::to_string(min) : std::to_string(min) + " to " + std::to_string(max);
    if (!json_.is_number_integer()) {
      refuse("is not a whole number in range (expected " + range + ")");
    }
    const bool negative = !json_.is_number_unsigned() && json_.get<std::int64_t>() < 0;
    const auto value = json_.get<std::uint64_t>();
    if (negative || value < min || value > max) refuse("is out of range (expected " + range + ")");
    return static_cast<Integer>(value);
  }
  [[nodiscard]] bool boolean() const {
    if (!json_.is_boolean()) refuse("is not a truth value (expected true or false)");
    return json_.get<bool>();
  }
  [[nodiscard]] const std::string& text() const {
    if (!json_.is_string()) refuse("is not a string (expected \"...\")");
    return json_.get_ref<const std::string&>();
  }
  template <typename Enum>
  [[nodiscard]] Enum one_of(const Names<Enum>& names) const {
    std::string all;
    for (const auto& [name, value] : names) {
      if (json_.is_string() && text() == name) return value;
      all += (all.empty() ? "" : ", ") + name;
    }
    refuse("is unknown (expected one of " + all + ")");
  }
  template <typename Element>
  [[nodiscard]] std::vector<Element> list(std::size_t min, std::size_t max,
                                          Element (*read)(const Value&)) const {
    const auto range = std::to_string(min) + " to " + std::to_string(max);
    if (!json_.is_array()) refuse("is not a list (expected a list of " + range + " elements)");
    if (json_.size() < min || json_.size() > max) {
      throw JsonError(path_, std::to_string(json_.size()) +
                                 " elements are out of range (expected " + range + ")");
    }
    return list(read);
  }
  template <typename Read>
  [[nodiscard]] auto list(Read read) const {
    if (!json_.is_array()) refuse("is not a list (expected [...])");
    std::vector<decltype(read(*this))> elements;
    for (std::size_t i = 0; i < json_.size(); ++i) {
      elements.push_back(read(Value(json_[i], path_ + "[" + std::to_string(i) + "]")));
    }
    return elements;
  }

 private:
  const Json& json_;
  std::string path_;
};

// A JSON object whose members must all be read: close() refuses those that were not.
class Object {
 public:
  explicit Object(const Value& value) : json_(value.json()), path_(value.path()) {
    if (!json_.is_object()) value.refuse("is not an object (expected {...})");
  }

  // Returns the member; absent if it is missing or null.
  [[nodiscard]] std::optional<Value> find(const std::string& name) {
    known_.insert(name);
    const auto member = json_.find(name);
    if (member == json_.end() || member->is_null()) return std::nullopt;
    return Value(*member, path_of(name));
  }
  [[nodiscard]] Value operator[](const std::string& name) {
    auto value = find(name);
    if (!value) throw JsonError(path_of(name), "is missing (expected a value)");
    return *std::move(value);
  }
  template <typename Read>
  auto optional(const std::string& name,
                Read read) -> std::optional<decltype(read(std::declval<Value>()))> {
    if (const auto value = find(name)) return read(*value);
    return std::nullopt;
  }
  // Throws JsonError for a member that was not read.
  void close() const {
    for (const auto& [name, value] : json_.items()) {
      if (known_.contains(name)) continue;
      std::string all;
      for (const auto& known : known_) all += (all.empty() ? "" : ", ") + known;
      throw JsonError(path_of(name), "is unknown (expected one of " + all + ")");
    }
  }

  // Returns the path of a member.
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }

 private:
  const Json& json_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace natxy::plumbing
