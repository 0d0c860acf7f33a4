# Packages for Debian and Ubuntu, and archives: cpack -G DEB, cpack -G TGZ in the build folder. `warpladder`
# is the workbench; `libwarpladder` is the library, its headers and the drop-in for cuBLAS.
include(GNUInstallDirs)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "the warpladder maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CUDA operators as ladders of kernels, with a SIMT executor for the CPU")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)  # libraries alone: the workbench needs its symbols, and is installed as a file
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the warpladder maintainers <maintainers@warpladder.invalid>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(dpkg_shlibdeps)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6")
endif()
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # gzip takes seconds for each package

# warpladder_package(GROUP PACKAGE SECTION DESCRIPTION COMPONENT...)
function(warpladder_package group package section description)
  string(TOUPPER ${group} upper)
  foreach(component ${ARGN})
    string(TOUPPER ${component} name)
    set(CPACK_COMPONENT_${name}_GROUP ${group} PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION ${description} PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${ARGN} PARENT_SCOPE)
  # Debian wants to find the licence here.
  list(GET ARGN 0 first)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    RENAME copyright COMPONENT ${first} EXCLUDE_FROM_ALL)
endfunction()

set(CPACK_COMPONENTS_ALL)
if(WARPLADDER_LAB)
  warpladder_package(workbench warpladder devel
    "CUDA kernels run, checked and counted on the CPU" workbench)
  set(CPACK_DEBIAN_WORKBENCH_PACKAGE_RECOMMENDS "g++")  # compiles people's programs
endif()
if(TARGET warpladder_shared)
  set(library_components library)
  if(TARGET warpladder_cublas)
    list(APPEND library_components cublas)
  endif()
  warpladder_package(libraries libwarpladder libs
    "FP32 operators for NVIDIA GPUs, faster than the vendor's" ${library_components})
endif()
include(CPack)
