# cmake -P join_sources.cmake FILE SOURCE...: writes the sources into FILE, one after the other. Each
# one's names lie in a namespace of its own, its macros end with it, and compilers name its own lines.

# A source's text as the one at `place` in the file.
function(warpladder_text_to_join source place result)
  file(READ ${source} text)
  if(NOT source MATCHES "/plan\\.cu$")
    string(REGEX MATCH "\nnamespace (warpladder[a-z_:]*) {\n" opened "${text}")
    if(NOT opened)
      message(FATAL_ERROR "${source} has no line `namespace warpladder::NAME {`")
    endif()
    set(namespace ${CMAKE_MATCH_1})
    set(own "source_${place}")
    string(REPLACE "${opened}" "\nnamespace ${namespace}::${own} {\n" text "${text}")
    string(REGEX MATCH "\nWARPLADDER_RUNG\\([^)]*\\) =" declared "${text}")
    if(declared)  # in the operator's namespace, where the list of rungs looks for it
      string(REPLACE "${declared}" "\nconstexpr ladder::Rung<Call> rung =" text "${text}")
      string(APPEND text "namespace ${namespace} {${declared} ${own}::rung;\n}\n")
    endif()
  endif()
  string(REGEX MATCHALL "\n#define [A-Za-z_]+" macros "${text}")
  foreach(macro ${macros})
    string(REPLACE "\n#define" "#undef" macro "${macro}")
    string(APPEND text "${macro}\n")
  endforeach()
  set(${result} "#line 1 \"${source}\"\n${text}" PARENT_SCOPE)
endfunction()

set(first 4)  # of the sources, behind `cmake -P SCRIPT FILE`
math(EXPR last "${CMAKE_ARGC} - 1")
set(all)
foreach(number RANGE ${first} ${last})
  warpladder_text_to_join(${CMAKE_ARGV${number}} ${number} text)
  string(APPEND all "${text}")
endforeach()
# What is the same as before need not be compiled again.
file(WRITE ${CMAKE_ARGV3}.new "${all}")
file(COPY_FILE ${CMAKE_ARGV3}.new ${CMAKE_ARGV3} ONLY_IF_DIFFERENT)
file(REMOVE ${CMAKE_ARGV3}.new)
