#include "base/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/recording.hpp"
#include "base/whole_file.hpp"

namespace warpladder {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr unsigned kCudaMachine = 190;
// Attributes of .nv.info: a format, a kind, the value's bytes; of this kind a symbol and a number.
constexpr unsigned char kSizedValue = 0x04, kRegisterCount = 0x2f;
// In front of static shared memory from 9.0 on, where this section stands; not the kernel's own.
constexpr std::string_view kReserved = ".nv.shared.reserved.0";
constexpr std::size_t kReservedBytes = 1024;

class Elf {
 public:
  Elf(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    if (bytes.size() < sizeof(Elf64_Ehdr) || !bytes.starts_with(ELFMAG) ||
        bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB) {
      throw_bad_input(name_ + " is no cubin; nvcc -cubin writes one");
    }
    const auto head = at<Elf64_Ehdr>(0);
    if (head.e_machine != kCudaMachine) {
      throw_bad_input(name_ + " is a program for another machine, not a cubin");
    }
    if (head.e_shentsize != sizeof(Elf64_Shdr)) cut_off();
    for (std::size_t i = 0; i < head.e_shnum; ++i) {
      sections_.push_back(at<Elf64_Shdr>(sum(head.e_shoff, i * sizeof(Elf64_Shdr))));
    }
    if (head.e_shstrndx >= sections_.size()) cut_off();
    names_ = sections_[head.e_shstrndx];
  }

  template <class T>
  T at(std::size_t offset) const {
    T value;
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) cut_off();
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string name_of(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }
  const Elf64_Shdr* find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(sections_, [&](const auto& s) { return name_of(s) == name; });
    return found == sections_.end() ? nullptr : &*found;
  }
  std::string_view contents(const Elf64_Shdr& section) const {
    if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) {
      cut_off();
    }
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  std::string symbol(std::uint32_t index) const {
    const Elf64_Shdr* const table = find(".symtab");
    if (!table || table->sh_link >= sections_.size()) cut_off();
    const std::size_t offset = std::size_t{index} * sizeof(Elf64_Sym);
    if (offset + sizeof(Elf64_Sym) > contents(*table).size()) cut_off();
    return text(sections_[table->sh_link], at<Elf64_Sym>(sum(table->sh_offset, offset)).st_name);
  }

 private:
  [[noreturn]] void cut_off() const { throw_bad_input(name_ + " is cut off or damaged"); }
  std::size_t sum(std::uint64_t a, std::uint64_t b) const {
    if (a > bytes_.size() || b > bytes_.size()) cut_off();
    return a + b;
  }
  std::string text(const Elf64_Shdr& strings, std::uint32_t begin) const {
    const std::string_view all = contents(strings);
    if (begin >= all.size()) cut_off();
    return std::string(all.substr(begin, all.find('\0', begin) - begin));
  }

  std::string_view bytes_;
  const std::string& name_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{};
};

}  // namespace

std::vector<CubinKernel> parse_cubin(std::string_view bytes, const std::string& name) {
  const Elf elf(bytes, name);
  std::vector<CubinKernel> kernels;
  const Elf64_Shdr* const info = elf.find(".nv.info");
  const std::string_view attributes = info ? elf.contents(*info) : std::string_view();
  const std::size_t reserved = elf.find(kReserved) ? kReservedBytes : 0;
  const auto number = [&](std::size_t at) {
    return elf.at<std::uint32_t>(static_cast<std::size_t>(attributes.data() - bytes.data()) + at);
  };
  for (std::size_t at = 0; at + 4 <= attributes.size();) {
    const auto format = static_cast<unsigned char>(attributes[at]);
    const auto kind = static_cast<unsigned char>(attributes[at + 1]);
    const std::size_t size = number(at) >> 16;
    if (format == kSizedValue && kind == kRegisterCount && size == 8 &&
        at + 12 <= attributes.size()) {
      CubinKernel& kernel = kernels.emplace_back();
      kernel.symbol = elf.symbol(number(at + 4));
      kernel.registers = number(at + 8);
      if (const Elf64_Shdr* shared = elf.find(".nv.shared." + kernel.symbol)) {
        kernel.static_shared_bytes =
            shared->sh_size - std::min<std::size_t>(reserved, shared->sh_size);
      }
      kernel.symbol = printable(kernel.symbol);
    }
    at += 4 + (format == kSizedValue ? size : 0);
  }
  if (kernels.empty()) throw_bad_input(name + " holds no kernel");
  return kernels;
}

std::vector<CubinKernel> read_cubin(const std::string& path, std::string_view argument) {
  const std::string name = file_subject(path, argument);
  return parse_cubin(read_whole_file(path, name, kMostBytes), name);
}

}  // namespace warpladder
