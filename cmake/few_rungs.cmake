# The command line with a few rungs and their operators: it links in a second, where that with every
# rung takes twenty.
# Not part of `all`: `make rung` and `make demo` build these programs.
include(CheckCXXCompilerFlag)

# warpladder_few_rungs(NAME [TOUR] [COUNTED_ONLY] rung.cu...): the program NAME. Its rungs are compiled
# for it alone: a program that took single objects of a library would wait for all of them. TOUR: it has
# those of the tour, too. COUNTED_ONLY: of its own rungs, only the flavour that verify and explain run,
# which all processors compile together.
function(warpladder_few_rungs name)
  cmake_parse_arguments(ARG "TOUR;COUNTED_ONLY" "" "" ${ARGN})
  set(rungs ${ARG_UNPARSED_ARGUMENTS})
  set(flavours)
  if(ARG_COUNTED_ONLY)
    set(flavours COUNTED_ONLY)
  endif()
  warpladder_cpu_flavours(${name} ${flavours} ${rungs})
  if(ARG_TOUR)
    list(APPEND rungs ${tour_sources})
  endif()
  warpladder_rung_list(${name} CPU_ONLY ${flavours} ${rungs})
  list(TRANSFORM rungs REPLACE ".*/ops/([a-z0-9_]+)/rungs/.*" "\\1" OUTPUT_VARIABLE operators)
  list(REMOVE_DUPLICATES operators)
  warpladder_program(${name} LOCAL LINK warpladder_app OPERATORS ${operators})
  target_link_libraries(${name} PRIVATE ${name}_cpu_counted ${name}_list)
  if(ARG_COUNTED_ONLY)
    check_cxx_compiler_flag(-flto WARPLADDER_LINK_TIME_OPTIMISATION)  # asked once for a build folder
    if(WARPLADDER_LINK_TIME_OPTIMISATION AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      set_target_properties(${name}_cpu_counted PROPERTIES
        CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/tools/compile_in_parts.sh)
    endif()
  else()
    target_link_libraries(${name} PRIVATE ${name}_cpu_plain)
  endif()
  if(ARG_TOUR)
    target_link_libraries(${name} PRIVATE tour_cpu_plain tour_cpu_counted)
  endif()
  warpladder_embed_sites(${name})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

set(WARPLADDER_RUNG "" CACHE STRING "The rungs of the program `one_rung`, as OP/ID")
if(WARPLADDER_RUNG)
  set(one_rung)
  set(flavours COUNTED_ONLY)
  foreach(rung ${WARPLADDER_RUNG})
    string(REGEX REPLACE "^([^/]*)/" "src/ops/\\1/rungs/" path "${rung}")
    file(GLOB source ${PROJECT_SOURCE_DIR}/${path}.cu ${PROJECT_SOURCE_DIR}/${path}.sm90a.cu)
    list(APPEND one_rung ${source})
    file(STRINGS "${source}" host_function REGEX "\\.on_host = true")
    if(host_function)
      set(flavours)  # no kernel: the plain flavour alone runs it
    endif()
  endforeach()
  if(one_rung)
    warpladder_few_rungs(one_rung ${flavours} ${one_rung})
  endif()
endif()

# The tour, and a bug for it.
file(GLOB demo_bugs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/demo/ops/*/rungs/*.cu)
warpladder_few_rungs(demo TOUR ${demo_bugs})
