// The functions of {fmt} that are no templates, compiled once. Debian has them as a shared library
// only. Inlined (FMT_HEADER_ONLY), they take longer to compile than most files that format.

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What fmt/format.h declares to be instantiated elsewhere.
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto thousands_sep_impl<wchar_t>(locale_ref) -> thousands_sep_result<wchar_t>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
template FMT_API auto decimal_point_impl<wchar_t>(locale_ref) -> wchar_t;

}  // namespace detail
FMT_END_NAMESPACE
