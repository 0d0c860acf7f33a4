#include "executor/own_elf.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace warpladder::executor {
namespace {

class ElfFile {
 public:
  ElfFile() : file_("/proc/self/exe", std::ios::binary) {
    Elf64_Ehdr header;
    if (!read_at(0, &header, sizeof header) || header.e_shnum == 0) return;
    sections_ = read_array<Elf64_Shdr>(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    if (header.e_shstrndx < sections_.size()) names_ = contents(sections_[header.e_shstrndx]);
    for (const auto& segment :
         read_array<Elf64_Phdr>(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr))) {
      if (segment.p_type == PT_TLS) thread_local_begin_ = segment.p_vaddr;
    }
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr* find(std::string_view wanted) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_name < names_.size() && wanted == names_.c_str() + section.sh_name) {
        return &section;
      }
    }
    return nullptr;
  }
  std::string contents(const Elf64_Shdr& section) {
    std::string text(section.sh_size, '\0');
    return read_at(section.sh_offset, text.data(), text.size()) ? text : std::string();
  }
  template <class T>
  std::vector<T> read_array(std::uint64_t at, std::size_t bytes) {
    std::vector<T> values(bytes / sizeof(T));
    if (!read_at(at, values.data(), values.size() * sizeof(T))) values.clear();
    return values;
  }
  std::uint64_t thread_local_begin() const { return thread_local_begin_; }

 private:
  bool read_at(std::uint64_t at, void* into, std::size_t bytes) {
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
    return static_cast<bool>(file_);
  }

  std::ifstream file_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
  std::uint64_t thread_local_begin_ = 0;
};

// "_ZZ4tileIfEvvE1s" → "s".
std::string unscoped(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  const std::string name = status == 0 ? whole.get() : mangled;
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

std::string own_section_contents(std::string_view name) {
  ElfFile file;
  const Elf64_Shdr* section = file.find(name);
  return section ? file.contents(*section) : std::string();
}

ElfSection own_section(std::string_view name) {
  ElfFile file;
  const Elf64_Shdr* section = file.find(name);
  if (!section) return {};
  const bool is_thread_local = section->sh_flags & SHF_TLS;
  const auto number = static_cast<std::size_t>(section - file.sections().data());
  ElfSection found{
      section->sh_addr - (is_thread_local ? file.thread_local_begin() : 0), section->sh_size, {}};
  const Elf64_Shdr* table = file.find(".symtab");
  if (!table || table->sh_link >= file.sections().size()) return found;
  const std::string names = file.contents(file.sections()[table->sh_link]);
  for (const auto& symbol : file.read_array<Elf64_Sym>(table->sh_offset, table->sh_size)) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx != number || symbol.st_size == 0 || symbol.st_name >= names.size())
      continue;
    if (type != (is_thread_local ? STT_TLS : STT_OBJECT)) continue;
    found.variables.push_back(
        {symbol.st_value, symbol.st_size, unscoped(names.c_str() + symbol.st_name)});
  }
  std::ranges::sort(found.variables, {}, &ElfVariable::begin);
  return found;
}

}  // namespace warpladder::executor
