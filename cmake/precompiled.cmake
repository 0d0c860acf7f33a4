# Headers that most host sources read, precompiled: reading them takes a third of such a compilation,
# and a sixth of a kernel's for the executor. Not where a compiler cache is used, because it would miss
# all these sources.

# warpladder_precompiled(NAME HEADERS <header>... [OPTIONS flag...] [LINK target...]): the target NAME,
# for sources that are compiled with these options.
function(warpladder_precompiled name)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;OPTIONS;LINK" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# The target's sources read the headers of NAME. What g++ 12 takes for errors in the library's strings
# it no longer knows to be the library's.
function(warpladder_use_precompiled target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
    set(unwarned -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${unwarned}>")
  endif()
endfunction()
