# Other people's programs: what `check`, `explain` and `run` bring along for FILE.cu, in
# share/warpladder/programs beside bin/. A program is linked with one object that holds the executor
# and the runtime API; only the names that programs call stay visible in it, or the linker might hand
# the executor templates of the standard library that are instrumented. Objects that are unique in a
# process, such as tables in std::to_string, stay visible whatever objcopy is told. They get names of
# their own, because a program has them, too.
file(GLOB programs_sources CONFIGURE_DEPENDS src/programs/*.cpp)
set_source_files_properties(${programs_sources} PROPERTIES COMPILE_OPTIONS -O1)  # nobody waits for texts
warpladder_layer(programs SOURCES ${programs_sources} LINK warpladder_base ${core})

file(GLOB program_runtime_sources CONFIGURE_DEPENDS src/programs/runtime/*.cpp)
add_library(warpladder_program_runtime OBJECT ${program_runtime_sources})
target_include_directories(warpladder_program_runtime SYSTEM PRIVATE src/programs/include)
target_compile_options(warpladder_program_runtime PRIVATE -mavx2 -mfma -mf16c)
set(program_archives warpladder_executor warpladder_base)
if(WARPLADDER_SANITIZE)
  # A person's program is linked without the sanitizers' library, so its executor is built without them.
  add_library(warpladder_program_executor STATIC ${executor_sources})
  add_library(warpladder_program_base STATIC ${base_sources})
  set(program_archives warpladder_program_executor warpladder_program_base)
  foreach(target warpladder_program_runtime ${program_archives})
    target_include_directories(${target} PRIVATE src
      $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json ZLIB::ZLIB)
  endforeach()
else()
  target_link_libraries(warpladder_program_runtime PRIVATE warpladder_executor)
endif()
list(GET program_archives 0 program_executor)
list(GET program_archives 1 program_base)

set(programs_folder ${CMAKE_BINARY_DIR}/share/warpladder/programs)
file(MAKE_DIRECTORY ${programs_folder})
set(visible)
foreach(names simt_* cuda* program_* __tsan_* __sanitizer_* __wrap_* warpladder_dynamic_shared)
  list(APPEND visible --keep-global-symbol=${names})
endforeach()
add_custom_command(OUTPUT ${programs_folder}/program.o
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o program_all.o
    $<TARGET_OBJECTS:warpladder_program_runtime>
    --whole-archive $<TARGET_FILE:${program_executor}> --no-whole-archive
    $<TARGET_FILE:${program_base}>
  COMMAND ${CMAKE_OBJCOPY} -w ${visible} --strip-debug program_all.o program_visible.o
  COMMAND sh -c "${CMAKE_NM} program_visible.o | sed -n 's/.* u \\(.*\\)/\\1 program_\\1/p' > unique_names.txt"
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=unique_names.txt program_visible.o
    ${programs_folder}/program.o
  DEPENDS warpladder_program_runtime $<TARGET_OBJECTS:warpladder_program_runtime>
    ${program_archives}
  COMMAND_EXPAND_LISTS VERBATIM)
file(GLOB_RECURSE program_headers CONFIGURE_DEPENDS src/programs/include/*)
set(language_headers ${PROJECT_SOURCE_DIR}/src/executor/simt_functions.hpp
  ${PROJECT_SOURCE_DIR}/src/executor/place.hpp)
file(GLOB exercises CONFIGURE_DEPENDS docs/course/exercises/*.cu)
add_custom_command(OUTPUT ${programs_folder}/program.ld
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/src/programs/include
    ${programs_folder}/include
  COMMAND ${CMAKE_COMMAND} -E make_directory ${programs_folder}/include/executor
  COMMAND ${CMAKE_COMMAND} -E copy ${language_headers} ${programs_folder}/include/executor
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/docs/course/exercises
    ${programs_folder}/exercises
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/src/programs/program.ld ${programs_folder}
  DEPENDS ${program_headers} ${exercises} ${language_headers} src/programs/program.ld
  VERBATIM)
add_custom_target(program_files DEPENDS ${programs_folder}/program.o ${programs_folder}/program.ld)
