#include "plumbing/json_value.hpp"

namespace natxy::plumbing {

Json parse_json(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

void Value::refuse(const std::string& what) const {
  throw JsonError(path_, shown(json_) + " " + what);
}

std::uint64_t Value::number(std::uint64_t min, std::uint64_t max) const {
  const auto range =
      min == max ? std::to_string(min) : std::to_string(min) + " to " + std::to_string(max);
  if (!json_.is_number_integer()) {
    refuse("is not a whole number in range (expected " + range + ")");
  }
  const bool negative = !json_.is_number_unsigned() && json_.get<std::int64_t>() < 0;
  const auto value = json_.get<std::uint64_t>();
  if (negative || value < min || value > max) refuse("is out of range (expected " + range + ")");
  return value;
}

const std::string& Value::text() const {
  if (!json_.is_string()) refuse("is not a string (expected \"...\")");
  return json_.get_ref<const std::string&>();
}

Value Value::element(std::size_t index) const {
  return {json_[index], path_ + "[" + std::to_string(index) + "]"};
}

void Value::check_size(std::size_t min, std::size_t max) const {
  const auto range = std::to_string(min) + " to " + std::to_string(max);
  if (!json_.is_array()) refuse("is not a list (expected a list of " + range + " elements)");
  if (json_.size() < min || json_.size() > max) {
    throw JsonError(path_, std::to_string(json_.size()) + " elements are out of range (expected " +
                               range + ")");
  }
}

bool boolean(const Value& value) {
  if (!value.json().is_boolean()) value.refuse("is not a truth value (expected true or false)");
  return value.json().get<bool>();
}

Object::Object(const Value& value) : json_(value.json()), path_(value.path()) {
  if (!json_.is_object()) value.refuse("is not an object (expected {...})");
}

std::optional<Value> Object::find(const std::string& name) {
  known_.insert(name);
  const auto member = json_.find(name);
  if (member == json_.end() || member->is_null()) return std::nullopt;
  return Value(*member, path_of(name));
}

Value Object::operator[](const std::string& name) {
  auto value = find(name);
  if (!value) throw JsonError(path_of(name), "is missing (expected a value)");
  return *std::move(value);
}

void Object::close() const {
  for (const auto& [name, value] : json_.items()) {
    if (known_.contains(name)) continue;
    std::string all;
    for (const auto& known : known_) all += (all.empty() ? "" : ", ") + known;
    throw JsonError(path_of(name), "is unknown (expected one of " + all + ")");
  }
}

std::string Object::path_of(const std::string& name) const {
  return path_.empty() ? name : path_ + "." + name;
}

}  // namespace natxy::plumbing
