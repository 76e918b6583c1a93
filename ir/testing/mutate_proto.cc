#include "ir/testing/mutate_proto.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace stax {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                3,
                                4,
                                7,
                                64,
                                -1,
                                -2,
                                1 << 20,
                                INT32_MAX,
                                INT32_MIN,
                                int64_t{1} << 32,
                                int64_t{1} << 40,
                                int64_t{1} << 53,
                                int64_t{1} << 62,
                                INT64_MAX,
                                INT64_MIN};

class Mutator {
 public:
  Mutator(const std::vector<std::string>& texts, std::mt19937_64& random)
      : texts_(texts), random_(random) {}

  void Mutate(Message* message) {
    std::vector<Message*> all;
    Collect(message, &all);
    Message* chosen = all[Below(all.size())];
    const int fields = chosen->GetDescriptor()->field_count();
    if (fields == 0) return;
    const FieldDescriptor* field = chosen->GetDescriptor()->field(Below(fields));
    field->is_repeated() ? MutateRepeated(chosen, field) : MutateSingle(chosen, field);
  }

 private:
  int Below(size_t n) { return static_cast<int>(random_() % n); }

  // `message` and all messages inside it.
  static void Collect(Message* message, std::vector<Message*>* all) {
    all->push_back(message);
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        Collect(reflection->MutableMessage(message, field), all);
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
        Collect(reflection->MutableRepeatedMessage(message, field, i), all);
    }
  }

  int64_t Number() { return Below(3) == 0 ? Below(12) : kNumbers[Below(std::size(kNumbers))]; }

  std::string Text(std::string text) {
    if (!texts_.empty() && Below(2) == 0) return texts_[Below(texts_.size())];
    const size_t at = Below(text.size() + 1);
    switch (Below(5)) {
      case 0:
        return text.insert(at, texts_.empty() ? "0" : texts_[Below(texts_.size())]);
      case 1:
        return text.erase(at, 1 + Below(4));
      case 2:
        return text.insert(at, std::to_string(Number()));
      case 3:
        return text.substr(0, at);
      default:
        if (at < text.size()) text[at] = static_cast<char>(Below(128));
        return text;
    }
  }

  // A value for `field` as protobuf's text format has it. `old`: that of a string field now.
  std::string Value(const FieldDescriptor& field, const std::string& old) {
    constexpr const char* kReals[] = {"0.5", "-0.5", "1e-300", "1e300", "inf", "-inf", "nan"};
    const int64_t number = Number();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_ENUM:
        return absl::StrCat(Below(field.enum_type()->value_count() + 1));
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Below(2) == 0 ? absl::StrCat(number) : kReals[Below(std::size(kReals))];
      case FieldDescriptor::CPPTYPE_STRING:
        return absl::StrCat("\"", absl::CEscape(Text(old)), "\"");
      case FieldDescriptor::CPPTYPE_BOOL:
        return number % 2 == 0 ? "false" : "true";
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(static_cast<int32_t>(number));
      case FieldDescriptor::CPPTYPE_UINT32:
        return absl::StrCat(static_cast<uint32_t>(number));
      case FieldDescriptor::CPPTYPE_UINT64:
        return absl::StrCat(static_cast<uint64_t>(number));
      default:
        return absl::StrCat(number);
    }
  }

  void MutateSingle(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    if (Below(6) == 0) return reflection->ClearField(message, field);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      reflection->MutableMessage(message, field);
      return;
    }
    const bool text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    const std::string old = text ? reflection->GetString(*message, field) : "";
    TextFormat::ParseFieldValueFromString(Value(*field, old), field, message);
  }

  void MutateRepeated(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    const int size = reflection->FieldSize(*message, field);
    const bool messages = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int action = size == 0 ? 0 : Below(messages ? 3 : 4);
    const int index = size == 0 ? 0 : Below(size);
    if (action == 0) return Add(message, field, size);
    if (action == 1) return reflection->SwapElements(message, field, index, Below(size));
    // Gone, or with another one in its place.
    reflection->SwapElements(message, field, index, size - 1);
    const bool text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    const std::string old = text ? reflection->GetRepeatedString(*message, field, size - 1) : "";
    reflection->RemoveLast(message, field);
    if (action == 2) return;
    if (TextFormat::ParseFieldValueFromString(Value(*field, old), field, message))
      reflection->SwapElements(message, field, index, size - 1);
  }

  // One more, messages as a copy of one that is there.
  void Add(Message* message, const FieldDescriptor* field, int size) {
    const Reflection* reflection = message->GetReflection();
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      TextFormat::ParseFieldValueFromString(Value(*field, ""), field, message);
      return;
    }
    Message* added = reflection->AddMessage(message, field);
    if (size > 0) added->CopyFrom(reflection->GetRepeatedMessage(*message, field, Below(size)));
  }

  const std::vector<std::string>& texts_;
  std::mt19937_64& random_;
};

}  // namespace

void MutateProto(const std::vector<std::string>& texts, std::mt19937_64& random,
                 google::protobuf::Message* message) {
  Mutator(texts, random).Mutate(message);
}

size_t MutateSerialized(const std::vector<std::string>& seeds,
                        const std::vector<std::string>& texts, unsigned seed, uint8_t* data,
                        size_t size, size_t max_size, google::protobuf::Message* message) {
  std::mt19937_64 random(seed);
  if (size == 0 || random() % 50 == 0 || !message->ParseFromArray(data, static_cast<int>(size)))
    message->ParseFromString(seeds[random() % seeds.size()]);
  for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits)
    MutateProto(texts, random, message);
  const std::string bytes = message->SerializePartialAsString();
  if (bytes.size() > max_size) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace stax
