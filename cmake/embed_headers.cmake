# The headers that kernels are compiled from at run time, as a source file of the library: each header's
# text under its path below src/. Their names are those of an #include.
set(kernel_headers
  ops/sgemm/compiled_product.hpp
  ops/sgemm/gemm.hpp
  ops/sgemm/gemm_tile.hpp
  ops/sgemm/product_part.hpp
  ops/sgemm/rung_parity_kernel.hpp
  parts/double_buffer.hpp
  parts/element_map.hpp
  parts/fold.hpp
  parts/outer_product.hpp
  parts/ptx/dependent_launch.hpp
  parts/ptx/lane_id.hpp
  parts/ptx/named_barrier.hpp
  parts/ptx/opaque.hpp
  parts/shares.hpp
  parts/tile_fetch.hpp
  parts/warp.hpp
  runtime/kernel.hpp
  runtime/run_time_names.hpp)

# warpladder_embed_headers(FILE): writes that file.
function(warpladder_embed_headers file)
  set(entries)
  foreach(header ${kernel_headers})
    set(path ${PROJECT_SOURCE_DIR}/src/${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(APPEND entries "    {\"${header}\", R\"~~(${text})~~\"},\n")
  endforeach()
  foreach(header cstddef cstdint type_traits)  # the compiler has none of its own
    string(APPEND entries "    {\"${header}\", \"#include \\\"runtime/run_time_names.hpp\\\"\\n\"},\n")
  endforeach()
  file(WRITE ${file}.new "#include \"runtime/compile.hpp\"\n
namespace warpladder::runtime {\n
const std::vector<SourceFile>& kernel_headers() {
  static const std::vector<SourceFile> headers{\n${entries}  };
  return headers;
}\n
}  // namespace warpladder::runtime\n")
  file(COPY_FILE ${file}.new ${file} ONLY_IF_DIFFERENT)
endfunction()
