# Kernels are compiled once per flavour, each into OBJECT libraries, because a static library would
# drop the object files that nothing but their own static initialisation refers to.

# What g++ needs to compile CUDA C++ for the executor. -O2: at -O3 it duplicates barriers.
# Of debug information only lines are wanted, those of inlined calls as -g tells them: where variables
# live takes half of some compilations. Late passes that take a quarter of one are left out: the code is
# as fast without them, on a processor that reorders instructions itself. All of them leave basic blocks
# and loads as they are, for counts depend on these.
set(warpladder_cpu_kernel_flags -x c++ -O2 -g1 -gstatement-frontiers
  -fno-gcse -fno-rerun-cse-after-loop -fno-schedule-insns2 -fno-peephole2 -fno-cse-follow-jumps
  -fno-store-merging -fno-shrink-wrap -fno-ipa-ra -fira-region=one -fno-lra-remat
  -mavx2 -mfma -mf16c -ffp-contract=fast -fno-tree-vectorize -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns
  -fno-extern-tls-init -ftls-model=local-exec -fno-optimize-sibling-calls
  -Wno-unknown-pragmas -Wno-psabi "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=/warpladder")
# Reports every access and every basic block to the executor, and keeps the blocks in the source's
# order, on which the replay of parted lanes relies, and a jump where the source has it: lanes that part
# meet again behind it. Without led jumps g++ does not see that a variable is always set, which the plain
# flavour's compilation does. No sanitizer runs, so that its warning about fences (-Wtsan) says nothing.
set(warpladder_counted_flags -fsanitize=thread -Wno-tsan --param=tsan-instrument-func-entry-exit=0
  -fsanitize-coverage=trace-pc -fno-reorder-blocks -fno-reorder-blocks-and-partition
  -fno-crossjumping -fno-thread-jumps -Wno-maybe-uninitialized)

include(${CMAKE_CURRENT_LIST_DIR}/joined.cmake)

# warpladder_gpu_code(NAME source.cu...): the object libraries NAME_gpu and, for *.sm90a.cu,
# NAME_gpu_sm90a.
function(warpladder_gpu_code name)
  set(kernels_name ${name})
  set(kernels_sources ${ARGN})
  add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/gpu_flavour ${CMAKE_BINARY_DIR}/kernels/${name}_gpu)
endfunction()

# warpladder_cpu_flavours(NAME source.cu...): the object libraries NAME_cpu_plain and
# NAME_cpu_counted. In a directory of their own, for a source file has one language per directory.
# COUNTED_ONLY: the latter alone.
function(warpladder_cpu_flavours name)
  cmake_parse_arguments(ARG "COUNTED_ONLY" "" "" ${ARGN})
  set(kernels_name ${name})
  set(kernels_sources ${ARG_UNPARSED_ARGUMENTS})
  set(kernels_flavours plain counted)
  if(ARG_COUNTED_ONLY)
    set(kernels_flavours counted)
  endif()
  add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/cpu_flavours ${CMAKE_BINARY_DIR}/kernels/${name}_cpu)
endfunction()

# warpladder_kernels(NAME [COUNTED_ONLY] source.cu...): those of warpladder_cpu_flavours() and, with
# nvcc, those of warpladder_gpu_code(), but for sources that the library holds.
function(warpladder_kernels name)
  warpladder_cpu_flavours(${name} ${ARGN})
  if(CMAKE_CUDA_COMPILER_LOADED)
    set(gpu_sources ${ARGN})
    list(REMOVE_ITEM gpu_sources COUNTED_ONLY)
    list(REMOVE_ITEM gpu_sources ${library_kernels})
    if(NOT WARPLADDER_HOPPER)
      list(FILTER gpu_sources EXCLUDE REGEX "/rungs/[A-Za-z0-9_]+\\.sm90a\\.cu$")
    endif()
    warpladder_gpu_code(${name} ${gpu_sources})
  endif()
endfunction()

# The rungs, spaces and plans among the sources of a set of kernels, as a source file that puts rungs
# on the ladder, declares spaces, and tells operators of their plans: the object library NAME_list. A
# rung's operator and id are those of its file's path. CPU_ONLY: without the GPU's flavour.
# COUNTED_ONLY: without the plain one.
function(warpladder_rung_list name)
  cmake_parse_arguments(ARG "CPU_ONLY;COUNTED_ONLY" "" "" ${ARGN})
  set(flavours plain counted)
  if(ARG_COUNTED_ONLY)
    set(flavours counted)
  endif()
  if(CMAKE_CUDA_COMPILER_LOADED AND NOT ARG_CPU_ONLY)
    list(APPEND flavours gpu)
  endif()
  set(includes)
  set(text)
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    if(source MATCHES "/ops/([a-z0-9_]+)/plan\\.cu$")
      set(op ${CMAKE_MATCH_1})
      if(EXISTS ${PROJECT_SOURCE_DIR}/src/ops/${op}/lab/dispatch.hpp)
        list(APPEND includes "#include \"ops/${op}/lab/dispatch.hpp\"\n")
        string(APPEND text
          "[[maybe_unused]] const bool ${op}_dispatch =\n"
          "    ${op}::declare_dispatch(&${op}::plain::plan, &${op}::counted::plan);\n")
      endif()
      continue()
    endif()
    if(source MATCHES "/ops/([a-z0-9_]+)/spaces/([A-Za-z0-9_]+)\\.cu$")
      set(op ${CMAKE_MATCH_1})
      set(id ${CMAKE_MATCH_2})
      list(APPEND includes "#include \"ladder/spaces.hpp\"\n#include \"ops/${op}/problem.hpp\"\n")
      string(APPEND text "namespace ${op} {\n")
      set(gpu nullptr)
      foreach(flavour ${flavours})
        if("${flavour}" STREQUAL "plain")
          continue()  # `tune` counts, or measures
        endif()
        string(APPEND text
          "namespace ${flavour} { extern const ladder::Space<Call> space_${id}; }\n")
        set(${flavour} "&${flavour}::space_${id}")
      endforeach()
      string(APPEND text "[[maybe_unused]] const bool space_of_${id} = ladder::declare_space(\n"
        "    ladder::erased_space(\"${op}\", \"${id}\", static_cast<const ladder::Space<Call>*>(${gpu}), ${counted}));\n}\n")
      continue()
    endif()
    if(NOT source MATCHES "/ops/([a-z0-9_]+)/rungs/([A-Za-z0-9_]+)(\\.sm90a)?\\.cu$")
      message(FATAL_ERROR "${source} is no rung: it is not src/ops/OP/rungs/ID.cu")
    endif()
    set(op ${CMAKE_MATCH_1})
    set(id ${CMAKE_MATCH_2})
    set(is_hopper false)
    if(CMAKE_MATCH_3)
      set(is_hopper true)
    endif()
    list(APPEND includes "#include \"ops/${op}/problem.hpp\"\n")
    set(gpu nullptr)
    set(plain nullptr)
    string(APPEND text "namespace ${op} {\n")
    foreach(flavour ${flavours})
      if("${flavour}" STREQUAL "gpu" AND is_hopper AND NOT WARPLADDER_HOPPER)
        continue()
      endif()
      string(APPEND text
        "namespace ${flavour} { extern const ladder::Rung<Call> rung_${id}; }\n")
      set(${flavour} "&${flavour}::rung_${id}")
    endforeach()
    string(APPEND text "[[maybe_unused]] const bool declared_${id} = ladder::declare(ladder::erased<Call>(\n"
      "    \"${op}\", \"${id}\", ${is_hopper}, ${gpu}, ${plain}, ${counted}));\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  string(CONCAT includes ${includes})
  set(file ${CMAKE_BINARY_DIR}/generated/${name}_list.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
    "#include \"ladder/ladder.hpp\"\n${includes}\nnamespace warpladder {\n${text}}\n")
  add_library(${name}_list OBJECT EXCLUDE_FROM_ALL ${file})
  target_link_libraries(${name}_list PRIVATE warpladder_ladder)
endfunction()

# Links all flavours of the kernel sets into a program and puts the table of source lines into it.
function(warpladder_link_kernels program)
  foreach(name ${ARGN})
    foreach(flavour cpu_plain cpu_counted list gpu gpu_sm90a)
      if(TARGET ${name}_${flavour})
        target_link_libraries(${program} PRIVATE ${name}_${flavour})
      endif()
    endforeach()
  endforeach()
  warpladder_link_options(${program})
  if(WARPLADDER_QUICK AND TARGET warpladder AND "${ARGN}" STREQUAL "${all_rungs}")
    warpladder_embed_sites(${program} --like $<TARGET_FILE:warpladder>)  # ten seconds sooner
    add_dependencies(${program} warpladder)
  elseif(ARGN)
    warpladder_embed_sites(${program})
  endif()
endfunction()

function(warpladder_link_options program)
  set(script ${PROJECT_SOURCE_DIR}/src/executor/kernel_text.ld)
  target_link_options(${program} PRIVATE -Wl,-T,${script})
  if(NOT WARPLADDER_SANITIZE)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# Puts the table of source lines into a program once it is linked; further arguments are embed_sites.py's.
function(warpladder_embed_sites program)
  set(embed ${PROJECT_SOURCE_DIR}/tools/embed_sites.py)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${embed})
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${Python3_EXECUTABLE} ${embed} $<TARGET_FILE:${program}> ${ARGN}
    VERBATIM)
endfunction()
