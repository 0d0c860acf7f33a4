# Installing libwarpladder: headers, libraries, and what CMake and pkg-config look for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/warpladder DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS warpladder_shared EXPORT warpladder LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS warpladder_static EXPORT warpladder_static
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warpladder)
install(EXPORT warpladder NAMESPACE warpladder:: DESTINATION ${package_folder}
  FILE warpladderTargets.cmake)
install(EXPORT warpladder_static NAMESPACE warpladder:: DESTINATION ${package_folder}
  FILE warpladderStaticTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/warpladderConfig.cmake.in
  ${PROJECT_BINARY_DIR}/warpladderConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpladderConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpladderConfig.cmake
  ${PROJECT_BINARY_DIR}/warpladderConfigVersion.cmake DESTINATION ${package_folder})

file(RELATIVE_PATH WARPLADDER_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/warpladder.pc.in ${PROJECT_BINARY_DIR}/warpladder.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/warpladder.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
