# The workbench: the command line, the executor, the lab, tests and benchmarks.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(FATAL_ERROR "warpladder's executor is written for x86-64 with AVX2 and FMA; "
    "-DWARPLADDER_LAB=OFF builds the library alone")
endif()

# ---- libraries, static so that the program runs on a machine that has none of them
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# Itself, not what a version manager starts it with: that takes longer than most of our scripts.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE Python3_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_library(OPENBLAS_LIBRARY NAMES libopenblas.a openblas
  PATH_SUFFIXES openblas-pthread REQUIRED)
find_library(OPENBLAS_SHARED NAMES openblas PATH_SUFFIXES openblas-pthread)
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-pthread openblas REQUIRED)

execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE WARPLADDER_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT WARPLADDER_COMMIT)
  set(WARPLADDER_COMMIT unknown)
endif()

# ---- the layers, from the bottom up
set(core warpladder_core)  # without CUDA: problems and their checks alone
if(CMAKE_CUDA_COMPILER_LOADED)
  set(core warpladder_static)
endif()
include(cmake/precompiled.cmake)
set(formatting <fmt/format.h> <fmt/ranges.h> <algorithm> <filesystem> <fstream> <functional> <map>
  <string> <vector>)
warpladder_precompiled(warpladder_host_headers HEADERS ${formatting} LINK warpladder_options)
function(warpladder_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(warpladder_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(warpladder_${name} PUBLIC warpladder_options ${ARG_LINK})
  warpladder_use_precompiled(warpladder_${name} warpladder_host_headers)
endfunction()

# Quick builds compile these C++ sources at -O1, but for files of those names (a regular expression): the
# demo and tests read small files, and at -O3 JSON takes twice as long to compile.
function(warpladder_quick_texts but_for)
  if(WARPLADDER_QUICK)
    list(FILTER ARGN INCLUDE REGEX "\\.cpp$")
    list(FILTER ARGN EXCLUDE REGEX "/(${but_for})\\.cpp$")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1)
  endif()
endfunction()

file(GLOB base_sources CONFIGURE_DEPENDS src/base/*.cpp)
warpladder_layer(base SOURCES ${base_sources}
  LINK nlohmann_json::nlohmann_json ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
set_source_files_properties(src/base/fmt_once.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
warpladder_quick_texts("random_fill" ${base_sources})  # which fills every operand
target_include_directories(warpladder_base SYSTEM PUBLIC  # its code is compiled in fmt_once.cpp
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
set(build_type ${CMAKE_BUILD_TYPE})
if(WARPLADDER_QUICK)
  string(APPEND build_type ", compiled quickly")
endif()
set_source_files_properties(src/base/provenance.cpp PROPERTIES
  COMPILE_DEFINITIONS
  "WARPLADDER_COMMIT=\"${WARPLADDER_COMMIT}\";WARPLADDER_BUILD_TYPE=\"${build_type}\"")

file(GLOB executor_sources CONFIGURE_DEPENDS src/executor/*.cpp)
warpladder_layer(executor SOURCES ${executor_sources}
  LINK warpladder_base Threads::Threads)
set_target_properties(warpladder_executor PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # other flags
target_compile_options(warpladder_executor PRIVATE -mpopcnt)  # as every processor with AVX2 has it
set_source_files_properties(src/executor/tally.cpp src/executor/request_log.cpp PROPERTIES
  COMPILE_OPTIONS "-O3;-mavx2")
set_source_files_properties(src/executor/tensor_core.cpp PROPERTIES
  COMPILE_OPTIONS "-O3;-mavx2;-mfma;-mf16c")

include(cmake/programs.cmake)

file(GLOB device_sources CONFIGURE_DEPENDS src/device/*.cpp)
list(APPEND device_sources src/device/cuda/nvml.cpp)
if(CMAKE_CUDA_COMPILER_LOADED)
  list(APPEND device_sources src/device/cuda/cuda_side.cpp src/device/cuda/utility_kernels.cu)
else()
  list(APPEND device_sources src/device/cuda/cuda_absent.cpp)
endif()
warpladder_layer(device SOURCES ${device_sources}
  LINK warpladder_executor ${core} ${CMAKE_DL_LIBS})
if(CMAKE_CUDA_COMPILER_LOADED)
  # Headers for this layer alone: what is above it is compiled the same with CUDA and without.
  target_link_libraries(warpladder_device PUBLIC $<LINK_ONLY:CUDA::cudart_static>)
  target_include_directories(warpladder_device SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  set_source_files_properties(src/device/cuda/utility_kernels.cu PROPERTIES
    COMPILE_OPTIONS "--expt-relaxed-constexpr;-lineinfo")
  list(JOIN architectures ", " built_for)
  list(JOIN WARPLADDER_MACHINE_CODE "," machine_code)
  set_source_files_properties(src/device/cuda/cuda_side.cpp PROPERTIES COMPILE_DEFINITIONS
    "WARPLADDER_BUILT_FOR=\"${built_for}\";WARPLADDER_MACHINE_CODE=${machine_code}")
endif()

file(GLOB ladder_sources CONFIGURE_DEPENDS src/ladder/*.cpp)
warpladder_layer(ladder SOURCES ${ladder_sources} LINK warpladder_device)

# What operators share, and an object library for each: operators declare themselves, as rungs do.
function(warpladder_op name)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN}/*.cpp)
  if(CMAKE_CUDA_COMPILER_LOADED)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${ARGN}/rival_*.cu)
    list(APPEND sources ${cuda_sources})
  else()
    list(FILTER sources EXCLUDE REGEX "/(rival_)?cu[a-z_]+\\.cpp$")
  endif()
  list(REMOVE_ITEM sources ${matrix_sources})
  # But for what computes the truth and draws operands.
  warpladder_quick_texts("[a-z_]*trial|accuracy[a-z_]*|judge|reference|operands" ${sources})
  add_library(warpladder_op_${name} OBJECT ${sources})
  target_link_libraries(warpladder_op_${name} PUBLIC warpladder_ladder)
  warpladder_use_precompiled(warpladder_op_${name} warpladder_host_headers)
  target_include_directories(warpladder_op_${name} SYSTEM PRIVATE ${OPENBLAS_INCLUDE_DIR})
  target_compile_definitions(warpladder_op_${name}
    PRIVATE WARPLADDER_CUDA_SIDE=$<BOOL:${CMAKE_CUDA_COMPILER_LOADED}>)
  if(CMAKE_CUDA_COMPILER_LOADED)  # headers alone: NVIDIA's libraries are loaded where they are found
    target_include_directories(warpladder_op_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  endif()
endfunction()
# `inspect` and `bench` read matrices in programs that lack the operator spmv, too.
set(spmv ${PROJECT_SOURCE_DIR}/src/ops/spmv/lab)
set(matrix_sources ${spmv}/generators.cpp ${spmv}/matrix_source.cpp ${spmv}/row_statistics.cpp)
warpladder_op(shared ${PROJECT_SOURCE_DIR}/src/ops/lab)
file(GLOB op_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/lab)
set(all_ops)
foreach(folder ${op_folders})
  string(REGEX REPLACE ".*/ops/([a-z0-9_]+)/lab$" "\\1" op ${folder})
  warpladder_op(${op} ${folder})
  list(APPEND all_ops ${op})
endforeach()

# The table that tools/rung_resources.py writes, as a text in the program.
set(resources ${PROJECT_SOURCE_DIR}/src/lab/rung_resources.tsv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${resources})
file(READ ${resources} resources)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/rung_resources.cpp @ONLY CONTENT
  "#include \"lab/known_resources.hpp\"\nstd::string_view warpladder::lab::shipped_table() {\n  return R\"tsv(@resources@)tsv\";\n}\n")
file(GLOB lab_sources CONFIGURE_DEPENDS src/lab/*.cpp)
warpladder_layer(lab
  SOURCES ${lab_sources} ${matrix_sources} ${CMAKE_BINARY_DIR}/generated/rung_resources.cpp
  LINK warpladder_ladder)
# Nobody waits for texts.
if(WARPLADDER_QUICK)
  # Several as one file: half of a compilation reads and instantiates what all of them use. Pictures
  # have colours and sizes of the same names, and each matrix source is its operator's.
  target_compile_options(warpladder_lab PRIVATE -O1)
  set_target_properties(warpladder_lab PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  set_source_files_properties(src/lab/accuracy_picture.cpp src/lab/matrix_picture.cpp
    src/lab/shapes_picture.cpp ${matrix_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
else()
  set_source_files_properties(${lab_sources} PROPERTIES COMPILE_OPTIONS -O1)
endif()

include(cmake/kernels.cmake)
file(GLOB rung_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/rungs/*.cu)
file(GLOB plan_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/plan.cu)
file(GLOB tour_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/sgemm/rungs/row_0[0-4]_*.cu
  ${PROJECT_SOURCE_DIR}/src/ops/transpose/rungs/0[1-4]_*.cu
  ${PROJECT_SOURCE_DIR}/src/ops/vector_add/rungs/*.cu)
set(other_sources ${rung_sources} ${plan_sources})
list(REMOVE_ITEM other_sources ${tour_sources})
warpladder_kernels(tour ${tour_sources})  # a set of their own: the program `demo` waits for these alone
warpladder_kernels(rungs ${other_sources})
set(all_rungs tour rungs)
warpladder_rung_list(rungs ${rung_sources} ${plan_sources})

# What `tune` searches. No rung and no plan needs it, so that only the command line is linked with it.
file(GLOB space_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/spaces/*.cu)
set(spaces)
if(WARPLADDER_SPACES)
  set(spaces spaces)
  warpladder_kernels(spaces COUNTED_ONLY ${space_sources})
  warpladder_rung_list(spaces ${space_sources})
endif()

# A program with these sets of kernels (${all_rungs}: every rung) for every target that there is, and
# with these operators, or all. LOCAL: it runs where it was linked, and links a second sooner because
# it loads OpenBLAS.
function(warpladder_program name)
  cmake_parse_arguments(ARG "LOCAL" "" "SOURCES;KERNELS;LINK;OPERATORS" ${ARGN})
  if(NOT ARG_OPERATORS)
    set(ARG_OPERATORS ${all_ops})
  endif()
  list(TRANSFORM ARG_OPERATORS PREPEND warpladder_op_)
  set(openblas ${OPENBLAS_LIBRARY})
  if(ARG_LOCAL AND OPENBLAS_SHARED)
    set(openblas ${OPENBLAS_SHARED})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} warpladder_lab warpladder_op_shared ${ARG_OPERATORS}
    ${openblas} CLI11::CLI11)
  warpladder_link_kernels(${name} ${ARG_KERNELS})
endfunction()

file(GLOB app_sources CONFIGURE_DEPENDS apps/warpladder/*.cpp)
set(table_sources ${app_sources})  # what a verb prints of data, as tests can give it
list(FILTER table_sources INCLUDE REGEX "_tables\\.cpp$")
list(FILTER app_sources EXCLUDE REGEX "_tables\\.cpp$")
set_source_files_properties(${table_sources} PROPERTIES COMPILE_OPTIONS -O1)
warpladder_layer(tables SOURCES ${table_sources} LINK warpladder_lab)
add_library(warpladder_app OBJECT ${app_sources})
target_link_libraries(warpladder_app PUBLIC warpladder_tables warpladder_programs CLI11::CLI11)
# CLI11 takes most of each verb's compilation: once for half of them, and nobody waits for a verb.
set_target_properties(warpladder_app PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
target_compile_options(warpladder_app PRIVATE $<IF:$<BOOL:${WARPLADDER_QUICK}>,-O0,-O1>)
warpladder_program(warpladder KERNELS ${all_rungs} ${spaces} LINK warpladder_app)
add_dependencies(warpladder program_files)

include(cmake/install_workbench.cmake)

if(WARPLADDER_TESTS)
  find_package(GTest REQUIRED)
  include(cmake/few_rungs.cmake)
  add_subdirectory(benchmarks)
  enable_testing()
  add_subdirectory(tests)
endif()
