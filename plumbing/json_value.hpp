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
#include <type_traits>
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

// A reader of a value is a function that takes the value, or the object that the value must be. In
// the second case, the reader must read all members that there are.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  // Throws JsonError; what: the sentence after the value, "is out of range (expected 1 to 4)".
  [[noreturn]] void refuse(const std::string& what) const;
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns what the reader makes of this value.
  template <typename Read>
  auto read(const Read& reader) const;

  [[nodiscard]] std::uint64_t number(std::uint64_t min, std::uint64_t max) const;
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
  template <typename Read>
  [[nodiscard]] auto list(const Read& reader) const {
    if (!json_.is_array()) refuse("is not a list (expected [...])");
    std::vector<decltype(read(reader))> elements;
    for (std::size_t i = 0; i < json_.size(); ++i) elements.push_back(element(i).read(reader));
    return elements;
  }
  void check_size(std::size_t min, std::size_t max) const;

 private:
  [[nodiscard]] Value element(std::size_t index) const;

  const Json& json_;
  std::string path_;
};

// A JSON object.
class Object {
 public:
  explicit Object(const Value& value);

  // Returns the member; absent if it is missing or null.
  [[nodiscard]] std::optional<Value> find(const std::string& name);
  [[nodiscard]] Value operator[](const std::string& name);

  // Read a member. If it is missing or null, read() throws JsonError, and the others return nothing
  // or `otherwise`.
  template <typename Read>
  auto read(const std::string& name, const Read& reader) {
    return (*this)[name].read(reader);
  }
  template <typename Read>
  auto optional(const std::string& name, const Read& reader) {
    const auto value = find(name);
    return value ? std::optional(value->read(reader)) : std::nullopt;
  }
  template <typename Result, typename Read>
  Result read_or(const std::string& name, Result otherwise, const Read& reader) {
    const auto value = find(name);
    return value ? value->read(reader) : std::move(otherwise);
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

template <typename Read>
auto Value::read(const Read& reader) const {
  if constexpr (std::is_invocable_v<Read, Object&>) {
    Object object(*this);
    auto result = reader(object);
    object.close();
    return result;
  } else {
    return reader(*this);
  }
}

// Reads true or false.
[[nodiscard]] bool boolean(const Value& value);

// Return readers: of a whole number, of a name, of a list, and of a list with a limited size.
template <typename Integer>
constexpr auto integer(std::uint64_t min, std::uint64_t max) {
  return [=](const Value& value) { return static_cast<Integer>(value.number(min, max)); };
}
template <typename Enum>
auto one_of(const Names<Enum>& names) {
  return [&names](const Value& value) { return value.one_of(names); };
}
template <typename Read>
auto list_of(Read reader) {
  return [=](const Value& value) { return value.list(reader); };
}
template <typename Read>
auto list_of(std::size_t min, std::size_t max, Read reader) {
  return [=](const Value& value) {
    value.check_size(min, max);
    return value.list(reader);
  };
}

}  // namespace natxy::plumbing
