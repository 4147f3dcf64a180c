// A JSON value with its path, which errors name. Included only by the source files that read or
// write JSON, because the library is slow to compile: what can be compiled once is in
// json_value.cpp.
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
[[nodiscard]] Json parse_json(std::string_view text);

// Returns the value as text for an error. Names only the type of lists and objects: the library
// writes nested values recursively, and deeply nested input would overflow the stack.
[[nodiscard]] std::string shown(const Json& value);

class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  // Throws JsonError; what: the sentence after the value, "is out of range (expected 1 to 4)".
  [[noreturn]] void refuse(const std::string& what) const;
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  template <typename Integer>
  [[nodiscard]] Integer integer(std::uint64_t min, std::uint64_t max) const {
    return static_cast<Integer>(number(min, max));
  }
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] const std::string& text() const;
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
    check_size(min, max);
    return list(read);
  }
  template <typename Read>
  [[nodiscard]] auto list(Read read) const {
    if (!json_.is_array()) refuse("is not a list (expected [...])");
    std::vector<decltype(read(*this))> elements;
    for (std::size_t i = 0; i < json_.size(); ++i) elements.push_back(read(element(i)));
    return elements;
  }

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t min, std::uint64_t max) const;
  [[nodiscard]] Value element(std::size_t index) const;
  void check_size(std::size_t min, std::size_t max) const;

  const Json& json_;
  std::string path_;
};

// A JSON object whose members must all be read: close() refuses those that were not.
class Object {
 public:
  explicit Object(const Value& value);

  // Returns the member; absent if it is missing or null.
  [[nodiscard]] std::optional<Value> find(const std::string& name);
  [[nodiscard]] Value operator[](const std::string& name);
  template <typename Read>
  auto optional(const std::string& name,
                Read read) -> std::optional<decltype(read(std::declval<Value>()))> {
    if (const auto value = find(name)) return read(*value);
    return std::nullopt;
  }
  // Throws JsonError for a member that was not read.
  void close() const;

  // Returns the path of a member.
  [[nodiscard]] std::string path_of(const std::string& name) const;

 private:
  const Json& json_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace natxy::plumbing
