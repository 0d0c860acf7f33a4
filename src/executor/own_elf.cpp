#include "executor/own_elf.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

namespace warpladder::executor {
namespace {

// Mapped once, for as long as the process lives.
class ElfFile {
 public:
  static const ElfFile& instance() {
    static const ElfFile file;
    return file;
  }

  std::span<const Elf64_Shdr> sections() const { return sections_; }
  const Elf64_Shdr* find(std::string_view wanted) const {
    for (const Elf64_Shdr& section : sections_) {
      if (text_at(names_, section.sh_name) == wanted) return &section;
    }
    return nullptr;
  }
  std::string_view contents(const Elf64_Shdr& section) const {
    const auto bytes = array_at<char>(section.sh_offset, section.sh_size);
    return {bytes.data(), bytes.size()};
  }
  // Empty where the file has no such bytes.
  template <class T>
  std::span<const T> array_at(std::uint64_t at, std::uint64_t bytes) const {
    if (at > size_ || bytes > size_ - at) return {};
    return {reinterpret_cast<const T*>(data_ + at), bytes / sizeof(T)};
  }
  // The text at a place in a table of texts, each of which ends with a zero.
  static std::string_view text_at(std::string_view table, std::size_t at) {
    if (at >= table.size()) return {};
    return table.substr(at, table.find('\0', at) - at);
  }
  std::uint64_t thread_local_begin() const { return thread_local_begin_; }

 private:
  ElfFile() {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0) map(file, static_cast<std::size_t>(status.st_size));
    if (file >= 0) close(file);
    const auto header = array_at<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (header.empty() || header[0].e_shnum == 0) return;
    sections_ = array_at<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr));
    if (header[0].e_shstrndx < sections_.size()) names_ = contents(sections_[header[0].e_shstrndx]);
    for (const auto& segment :
         array_at<Elf64_Phdr>(header[0].e_phoff, header[0].e_phnum * sizeof(Elf64_Phdr))) {
      if (segment.p_type == PT_TLS) thread_local_begin_ = segment.p_vaddr;
    }
  }
  void map(int file, std::size_t bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return;
    data_ = static_cast<const char*>(mapped);
    size_ = bytes;
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Elf64_Shdr> sections_;
  std::string_view names_;
  std::uint64_t thread_local_begin_ = 0;
};

// "_ZZ4tileIfEvvE1s" → "s".
std::string unscoped(std::string_view mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  const std::string name = status == 0 ? std::string(whole.get()) : std::string(mangled);
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

std::string_view own_section_contents(std::string_view name) {
  const ElfFile& file = ElfFile::instance();
  const Elf64_Shdr* section = file.find(name);
  return section ? file.contents(*section) : std::string_view();
}

ElfSection own_section(std::string_view name) {
  const ElfFile& file = ElfFile::instance();
  const Elf64_Shdr* section = file.find(name);
  if (!section) return {};
  const bool is_thread_local = section->sh_flags & SHF_TLS;
  const auto number = static_cast<std::size_t>(section - file.sections().data());
  ElfSection found{
      section->sh_addr - (is_thread_local ? file.thread_local_begin() : 0), section->sh_size, {}};
  const Elf64_Shdr* table = file.find(".symtab");
  if (!table || table->sh_link >= file.sections().size()) return found;
  const std::string_view names = file.contents(file.sections()[table->sh_link]);
  for (const auto& symbol : file.array_at<Elf64_Sym>(table->sh_offset, table->sh_size)) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx != number || symbol.st_size == 0) continue;
    if (type != (is_thread_local ? STT_TLS : STT_OBJECT)) continue;
    found.variables.push_back(
        {symbol.st_value, symbol.st_size, unscoped(ElfFile::text_at(names, symbol.st_name))});
  }
  std::ranges::sort(found.variables, {}, &ElfVariable::begin);
  return found;
}

}  // namespace warpladder::executor
