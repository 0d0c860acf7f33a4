# libwarpladder: the C interface, what it plans with, and the rungs that plans name. Needs CUDA and a
# C++20 compiler, nothing else.

# ---- flags of all host code; kernels have their own (cmake/kernels.cmake)
add_library(warpladder_options INTERFACE)
target_include_directories(warpladder_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_compile_options(warpladder_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>  # no machine's paths in reports
  $<$<AND:$<BOOL:${WARPLADDER_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(WARPLADDER_QUICK)  # g++ spends up to a fifth of a large file's time looking for memory to give back
  target_compile_options(warpladder_options INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")
endif()
if(WARPLADDER_SANITIZE)
  target_compile_options(warpladder_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(warpladder_options INTERFACE -fsanitize=address,undefined)
endif()

function(warpladder_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PUBLIC warpladder_options)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# ---- what needs no CUDA: the workbench has it without a GPU, too
file(GLOB problem_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/*.cpp)
list(FILTER problem_sources EXCLUDE REGEX "/ops/lab/")
# Of src/runtime: what needs no CUDA, compiling at run time included.
set(host_runtime_sources)
foreach(name status remembered sha256 code_cache expression nvrtc compile)
  list(APPEND host_runtime_sources ${PROJECT_SOURCE_DIR}/src/runtime/${name}.cpp)
endforeach()
include(cmake/embed_headers.cmake)
set(embedded_headers ${PROJECT_BINARY_DIR}/generated/kernel_headers.cpp)
warpladder_embed_headers(${embedded_headers})
warpladder_objects(warpladder_problems ${host_runtime_sources} ${embedded_headers} ${problem_sources})

if(NOT CMAKE_CUDA_COMPILER_LOADED)
  add_library(warpladder_core STATIC $<TARGET_OBJECTS:warpladder_problems>)
  target_link_libraries(warpladder_core PUBLIC warpladder_options ${CMAKE_DL_LIBS})
  set_target_properties(warpladder_core PROPERTIES LINKER_LANGUAGE CXX)
  set(library_kernels)
  return()
endif()

# ---- the GPUs to compile for
set(known_architectures 75 80 86 89 90 90a 100 120)
if(WARPLADDER_ARCHITECTURES)
  set(architectures ${WARPLADDER_ARCHITECTURES})
elseif(WARPLADDER_LAB)
  set(architectures 90 90a)
else()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE nvcc_code
    COMMAND_ERROR_IS_FATAL ANY)
  set(architectures)
  foreach(architecture ${known_architectures})
    string(REGEX REPLACE "a$" "" plain ${architecture})
    if(nvcc_code MATCHES "sm_${plain}\n")
      list(APPEND architectures ${architecture})
    endif()
  endforeach()
endif()
set(WARPLADDER_BUILT_ARCHITECTURES "${architectures}" CACHE INTERNAL "for tests of other builds")
set(virtual_architectures)  # PTX
set(real_architectures)     # machine code
foreach(architecture ${architectures})
  string(REGEX REPLACE "-virtual$" "" known ${architecture})
  if(NOT known IN_LIST known_architectures OR architecture STREQUAL "90a-virtual")
    message(FATAL_ERROR "WARPLADDER_ARCHITECTURES: ${architecture} is none of ${known_architectures}, "
      "nor one of them without letters and with -virtual")
  endif()
  if(architecture MATCHES "-virtual$")
    list(APPEND virtual_architectures ${known})
  else()
    string(REGEX REPLACE "a$" "" plain ${known})
    list(APPEND real_architectures ${plain})
  endif()
endforeach()
set(WARPLADDER_HOPPER OFF)
if("90a" IN_LIST architectures)
  set(WARPLADDER_HOPPER ON)
endif()
list(REMOVE_DUPLICATES real_architectures)
list(SORT real_architectures COMPARE NATURAL)
if(NOT virtual_architectures)
  list(GET real_architectures -1 virtual_architectures)  # the newest, for GPUs to come
endif()
set(WARPLADDER_COMMON_CODE)
set(CMAKE_CUDA_ARCHITECTURES)  # of the workbench's other sources
foreach(architecture ${real_architectures})
  list(APPEND WARPLADDER_COMMON_CODE -gencode=arch=compute_${architecture},code=sm_${architecture})
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
endforeach()
foreach(architecture ${virtual_architectures})
  list(APPEND WARPLADDER_COMMON_CODE
    -gencode=arch=compute_${architecture},code=compute_${architecture})
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-virtual)
endforeach()
list(JOIN virtual_architectures ", " virtual_text)
set(WARPLADDER_MACHINE_CODE ${real_architectures})
message(STATUS "GPU code for ${architectures}, PTX of ${virtual_text} for others")

# ---- plans, and the rungs that they name
file(GLOB plan_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/plan.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${plan_sources})
set(library_kernels ${plan_sources})
foreach(plan ${plan_sources})
  file(STRINGS ${plan} uses REGEX "^WARPLADDER_USES_RUNG")
  get_filename_component(folder ${plan} DIRECTORY)
  foreach(use ${uses})
    string(REGEX REPLACE ".*\\((.*)\\).*" "\\1" stem "${use}")
    file(GLOB rung ${folder}/rungs/${stem}.cu ${folder}/rungs/${stem}.sm90a.cu)
    if(NOT rung)
      message(FATAL_ERROR "${plan} uses the rung ${stem}, which has no file in ${folder}/rungs")
    endif()
    if(rung MATCHES "sm90a" AND NOT WARPLADDER_HOPPER)
      continue()
    endif()
    list(APPEND library_kernels ${rung})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES library_kernels)

# ---- the library
include(cmake/kernels.cmake)
set(probes ${PROJECT_SOURCE_DIR}/src/runtime/device_code.cu)
if(WARPLADDER_HOPPER)
  list(APPEND probes ${PROJECT_SOURCE_DIR}/src/runtime/hopper_code.sm90a.cu)
endif()
warpladder_gpu_code(library ${library_kernels} ${probes})
file(GLOB runtime_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/*.cpp)
list(REMOVE_ITEM runtime_sources ${host_runtime_sources})
file(GLOB library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/library/*.cpp)
warpladder_objects(warpladder_library ${runtime_sources} ${library_sources})
target_include_directories(warpladder_library SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})

set(library_objects $<TARGET_OBJECTS:warpladder_problems> $<TARGET_OBJECTS:warpladder_library>
  $<TARGET_OBJECTS:library_gpu>)
if(TARGET library_gpu_sm90a)
  list(APPEND library_objects $<TARGET_OBJECTS:library_gpu_sm90a>)
endif()
find_package(Threads REQUIRED)
add_library(warpladder_static STATIC ${library_objects})
add_library(warpladder_shared SHARED ${library_objects})
set(exports ${PROJECT_SOURCE_DIR}/cmake/library.map)
foreach(library warpladder_static warpladder_shared)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME warpladder LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
endforeach()
target_link_libraries(warpladder_static PRIVATE CUDA::cudart_static Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(warpladder_shared PRIVATE CUDA::cudart_static Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(warpladder_shared PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME warpladder LINK_DEPENDS ${exports})
target_link_options(warpladder_shared PRIVATE -Wl,--version-script,${exports} -Wl,--no-undefined
  -Wl,--exclude-libs,ALL -static-libstdc++ -static-libgcc)
add_library(warpladder::warpladder ALIAS warpladder_shared)
add_library(warpladder::warpladder_static ALIAS warpladder_static)

include(cmake/install.cmake)
