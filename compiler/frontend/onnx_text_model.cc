#include "compiler/frontend/onnx_text_model.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/check.h"
#include "ir/scalar.h"

namespace stax {
namespace {

class Parser {
 public:
  Parser(std::string_view text, onnx::GraphProto* graph) : text_(text), graph_(graph) {}

  void ParseAll() {
    while (SkipSpace(), at_ < text_.size()) ParseLine();
  }

 private:
  void ParseLine() {
    const std::vector<std::string> names = Names();
    if (names[0] == "output" || !Accept('=')) {
      // "output a, b": the word and the first name were read as one list.
      AddOutputs(names);
      return;
    }
    const std::string word = Word();
    if (word == "input") {
      onnx::ValueInfoProto* input = graph_->add_input();
      input->set_name(names[0]);
      ParseType(input->mutable_type()->mutable_tensor_type());
    } else if (word == "const") {
      ParseConstant(names[0]);
    } else {
      ParseNode(names, word);
    }
  }

  void AddOutputs(const std::vector<std::string>& names) {
    STAX_CHECK(names[0] == "output", Here());
    for (const std::string& name : Names()) graph_->add_output()->set_name(name);
  }

  void ParseNode(const std::vector<std::string>& outputs, const std::string& op) {
    onnx::NodeProto* node = graph_->add_node();
    const size_t dot = op.rfind('.');
    node->set_op_type(dot == std::string::npos ? op : op.substr(dot + 1));
    if (dot != std::string::npos) node->set_domain(op.substr(0, dot));
    for (const std::string& name : outputs) node->add_output(name == "_" ? "" : name);
    Expect('(');
    while (!Accept(')')) {
      node->add_input(Word());  // may be empty
      Accept(',');
    }
    while (SkipBlanks(), at_ < text_.size() && text_[at_] != '\n')
      ParseAttribute(node->add_attribute());
  }

  void ParseAttribute(onnx::AttributeProto* a) {
    a->set_name(Word());
    Expect('=');
    if (Accept('"')) {
      const size_t end = text_.find('"', at_);
      a->set_type(onnx::AttributeProto::STRING);
      a->set_s(std::string(text_.substr(at_, end - at_)));
      at_ = end + 1;
    } else if (Accept('[')) {
      a->set_type(onnx::AttributeProto::INTS);
      while (!Accept(']')) {
        a->add_ints(std::strtoll(Word().c_str(), nullptr, 10));
        Accept(',');
      }
    } else {
      const std::string number = Word();
      const bool is_float = number.find_first_of(".enf") != std::string::npos;
      a->set_type(is_float ? onnx::AttributeProto::FLOAT : onnx::AttributeProto::INT);
      if (is_float) {
        a->set_f(static_cast<float>(Number(number)));
      } else {
        a->set_i(std::strtoll(number.c_str(), nullptr, 10));
      }
    }
  }

  void ParseType(onnx::TypeProto::Tensor* type) {
    type->set_elem_type(OnnxFromDType(*ParseDType(Word())));
    Expect('[');
    onnx::TensorShapeProto* shape = type->mutable_shape();
    while (!Accept(']')) {
      const std::string dim = Word();
      onnx::TensorShapeProto::Dimension* d = shape->add_dim();
      if (std::isdigit(static_cast<unsigned char>(dim[0])) || dim[0] == '-') {
        d->set_dim_value(std::strtoll(dim.c_str(), nullptr, 10));
      } else if (dim != "?") {
        d->set_dim_param(dim);
      }
      Accept(',');
    }
  }

  void ParseConstant(const std::string& name) {
    onnx::TypeProto::Tensor type;
    ParseType(&type);
    onnx::TensorProto* t = graph_->add_initializer();
    t->set_name(name);
    t->set_data_type(type.elem_type());
    for (const auto& d : type.shape().dim()) t->add_dims(d.dim_value());
    const DType dtype = *DTypeFromOnnx(type.elem_type());
    std::string raw;
    Expect('{');
    while (!Accept('}')) {
      const std::string number = Word();
      std::string bytes(DTypeBytes(dtype), '\0');
      StoreScalar(IsFloat(dtype) ? Scalar::Float(dtype, Number(number))
                                 : Scalar::Int(dtype, std::strtoll(number.c_str(), nullptr, 10)),
                  bytes.data());
      raw += bytes;
      Accept(',');
    }
    t->set_raw_data(raw);
  }

  static double Number(const std::string& text) {
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf" || text == "-inf") return std::strtod(text.c_str(), nullptr);
    return std::strtod(text.c_str(), nullptr);
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names = {Word()};
    while (Accept(',')) names.push_back(Word());
    return names;
  }

  std::string Word() {
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            std::string_view("_.-+?").find(text_[at_]) != std::string_view::npos))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool Accept(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    STAX_CHECK(Accept(c), absl::StrCat("expected ", std::string(1, c), Here()));
  }
  std::string Here() const { return absl::StrCat(" at: ", std::string(text_.substr(at_, 40))); }

  std::string_view text_;
  onnx::GraphProto* graph_;
  size_t at_ = 0;
};

}  // namespace

onnx::ModelProto OnnxModelFromText(std::string_view text, int opset) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto* import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  model.mutable_graph()->set_name("test");
  Parser(text, model.mutable_graph()).ParseAll();
  return model;
}

std::string OnnxBytesFromText(std::string_view text, int opset) {
  return OnnxModelFromText(text, opset).SerializeAsString();
}

}  // namespace stax
