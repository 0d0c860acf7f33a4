#include "base/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kGrowthDigits = 21;  // NumPy leaves room for the first size to grow in place
constexpr std::size_t kVersion1MaxBytes = 0xffff;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct DtypeKind {
  char letter;
  std::string_view name;
  bool has_bits;  // the name goes on with the width, as in float64
  bool is_real;   // astype(numpy.float32) keeps what it means
};
constexpr DtypeKind kKinds[] = {
    {'f', "float", true, true},
    {'i', "int", true, true},
    {'u', "uint", true, true},
    {'b', "bool", false, true},
    {'c', "complex", true, false},
    {'S', "text", false, false},
    {'U', "text", false, false},
    {'M', "dates", false, false},
    {'m', "durations", false, false},
    {'V', "raw bytes", false, false},
    {'O', "Python objects", false, false},
};

void require_float32(std::string_view descr, const std::string& name) {
  if (descr == "<f4") return;
  const std::string shown = in_quotes(descr, kShownBytes);
  const std::string convert = ": convert it with a.astype(numpy.float32)";
  if (descr == ">f4") throw_bad_input(name + " is big-endian (" + shown + ")" + convert);

  const bool has_order = descr.find_first_of("<>|=") == 0;
  const std::string_view type = descr.substr(has_order ? 1 : 0);
  const auto* const kind =
      std::ranges::find(kKinds, type.empty() ? '\0' : type[0], &DtypeKind::letter);
  if (kind == std::end(kKinds)) {
    throw_bad_input(name + " has the unknown dtype " + shown + ", but fp32 is needed");
  }
  std::string holds(kind->name);
  int bytes = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bytes);
  if (kind->has_bits && bytes > 0 && bytes <= 32) holds += std::to_string(8 * bytes);
  throw_bad_input(name + " holds " + holds + " (" + shown + "), but fp32 is needed" +
                  (kind->is_real ? convert : ""));
}

// Recursive descent over the few Python literals that NumPy writes.
class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  NpyHeader parse() {
    expect('{', "'{'");
    while (!take('}')) {
      parse_entry();
      if (take(',')) continue;
      expect('}', "',' or '}'");
      break;
    }
    if (!at_end()) malformed("nothing after the closing '}'");
    require_keys();
    return {std::move(*shape_), *fortran_order_};
  }

 private:
  void parse_entry() {
    const std::string_view key = parse_string("a key in quotes");
    if (key != "descr" && key != "fortran_order" && key != "shape") {
      throw_bad_input(name_ + " has the unknown key " + in_quotes(key, kShownBytes) +
                      " in its header");
    }
    expect(':', "':'");
    if (key == "descr") {
      set_once(has_descr_, true, key);
      parse_descr();
    } else if (key == "fortran_order") {
      set_once(fortran_order_, parse_bool(), key);
    } else {
      set_once(shape_, parse_shape(), key);
    }
  }

  template <typename T>
  void set_once(std::optional<T>& slot, T value, std::string_view key) {
    if (slot) throw_bad_input(name_ + " has the key " + in_quotes(key) + " twice in its header");
    slot = std::move(value);
  }

  void require_keys() const {
    const char* missing = !has_descr_       ? "descr"
                          : !fortran_order_ ? "fortran_order"
                          : !shape_         ? "shape"
                                            : nullptr;
    if (missing) throw_bad_input(name_ + " has no key " + in_quotes(missing) + " in its header");
  }

  void parse_descr() {
    // A list of fields, or a tuple of a dtype and its own shape.
    if (const char next = peek(); next == '[' || next == '(' || next == '{') {
      throw_bad_input(name_ + " holds a structured dtype, but fp32 is needed");
    }
    require_float32(parse_string("a dtype in quotes"), name_);
  }

  bool parse_bool() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    malformed("True or False");
  }

  std::vector<std::int64_t> parse_shape() {
    std::vector<std::int64_t> shape;
    expect('(', "a tuple of sizes");
    while (!take(')')) {
      shape.push_back(parse_size());
      if (take(',')) continue;
      // (3) is a number to Python; only (3,) is a tuple.
      if (shape.size() == 1) malformed("','");
      expect(')', "',' or ')'");
      break;
    }
    return shape;
  }

  std::int64_t parse_size() {
    skip_space();
    const std::size_t first = at_;
    const bool is_negative = take('-');
    const std::size_t first_digit = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == first_digit) malformed("a size");
    if (text_[first_digit] == '0' && at_ - first_digit > 1) malformed("a size without leading 0");
    const std::string_view digits = text_.substr(first, at_ - first);
    if (is_negative) {
      throw_bad_input(name_ + " has the negative size " + in_quotes(digits, kShownBytes) +
                      " in its shape");
    }
    std::int64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc()) {
      throw_bad_input(name_ + " has the size " + in_quotes(digits, kShownBytes) +
                      " in its shape, which overflows 64 bits");
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long
    return size;
  }

  std::string_view parse_string(const char* wanted) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed(wanted);
    const std::size_t first = at_ + 1;
    const std::size_t last = text_.find(quote, first);
    if (last == std::string_view::npos) malformed("a closing quote");
    at_ = last + 1;
    return text_.substr(first, last - first);
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size()); }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  char peek() { return at_end() ? '\0' : text_[at_]; }
  bool take(char wanted) {
    if (at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted, const char* description) {
    if (!take(wanted)) malformed(description);
  }
  [[noreturn]] void malformed(const char* wanted) const {
    throw_bad_input(name_ + " has a malformed header: expected " + wanted + " at byte " +
                    std::to_string(at_) + " of the header");
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::optional<bool> has_descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

// `bytes` low bytes of `value`, least significant first.
std::string little_endian(std::size_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view name) {
  NpyHeader header = Parser(text, name).parse();
  npy_element_count(header.shape, name);
  return header;
}

std::string format_npy_shape(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string format_npy_header(const NpyHeader& header) {
  std::string dict = "{'descr': '" + std::string(header.descr) +
                     "', 'fortran_order': " + (header.fortran_order ? "True" : "False");
  dict += ", 'shape': " + format_npy_shape(header.shape) + ", }";
  if (!header.shape.empty()) {
    const auto growing = header.fortran_order ? header.shape.back() : header.shape.front();
    dict.append(kGrowthDigits - std::to_string(growing).size(), ' ');
  }
  const auto with_prefix = [&](char version, int length_bytes) {
    const std::size_t prefix = kNpyMagic.size() + 2 + static_cast<std::size_t>(length_bytes);
    const std::size_t used = prefix + dict.size() + 1;
    // NumPy adds a whole 64 where nothing would be needed; so do we.
    const std::size_t padding = kAlignment - used % kAlignment;
    return std::string(kNpyMagic) + version + '\0' +
           little_endian(used + padding - prefix, length_bytes) + dict + std::string(padding, ' ') +
           '\n';
  };
  const std::string version1 = with_prefix(1, 2);
  return version1.size() - kNpyMagic.size() - 4 <= kVersion1MaxBytes ? version1 : with_prefix(2, 4);
}

std::int64_t npy_element_count(std::span<const std::int64_t> shape, std::string_view name) {
  const auto fail = [&](const char* what) {
    throw_bad_input(std::string(name) + " has the shape " +
                    in_quotes(format_npy_shape(shape), kShownBytes) + ", which " + what);
  };
  bool is_empty = false;
  std::int64_t count = 1;
  auto bytes = static_cast<std::int64_t>(sizeof(float));
  for (const std::int64_t size : shape) {
    if (size < 0) fail("has a negative size");
    is_empty |= size == 0;
    if (size == 0) continue;
    if (__builtin_mul_overflow(bytes, size, &bytes)) fail("overflows 64 bits");
    count *= size;
  }
  return is_empty ? 0 : count;
}

}  // namespace warpladder
