# Where all is compiled quickly, for tests: several sources as one file. Compilers take most of the time
# of a small one for what it includes and instantiates; nvcc reads headers four times.

set(warpladder_join_sources ${CMAKE_CURRENT_LIST_DIR}/join_sources.cmake)

# warpladder_joined(NAME RESULT source...): has the rungs, plans, test kernels and tests among them
# written into few files, and sets RESULT to what is to be compiled, in this directory.
function(warpladder_joined name result)
  set(compiled ${ARGN})
  if(NOT WARPLADDER_QUICK)
    set(${result} ${compiled} PARENT_SCOPE)
    return()
  endif()
  set(joined ${ARGN})
  set(plans ${ARGN})
  list(FILTER joined INCLUDE REGEX "/(rungs|kernels)/[^/]*\\.cu$|_test\\.cpp$")
  list(FILTER plans INCLUDE REGEX "/plan\\.cu$")
  list(APPEND joined ${plans})  # last: they open the flavour's namespace otherwise than rungs' headers
  list(LENGTH joined count)
  set(in_a_file 16)  # each template is compiled once for a file
  set(number 0)
  while(count GREATER 0)
    list(SUBLIST joined 0 ${in_a_file} batch)
    list(REMOVE_ITEM joined ${batch})
    list(REMOVE_ITEM compiled ${batch})
    list(LENGTH joined count)
    list(GET batch 0 first)
    get_filename_component(suffix ${first} LAST_EXT)
    set(file ${CMAKE_BINARY_DIR}/generated/${name}_${number}${suffix})
    add_custom_command(OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -P ${warpladder_join_sources} ${file} ${batch}
      DEPENDS ${warpladder_join_sources} ${batch} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM
      COMMENT "Joining sources into ${name}_${number}${suffix}")
    list(APPEND compiled ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${result} ${compiled} PARENT_SCOPE)
endfunction()
