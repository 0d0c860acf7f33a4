# Installing the command line with what it brings along, its man page and its completions: make
# install, pip install, cpack, or cmake --install build --component workbench. The program writes the last
# two from its own parser.
include(GNUInstallDirs)

install(PROGRAMS $<TARGET_FILE:warpladder> DESTINATION ${CMAKE_INSTALL_BINDIR}
  COMPONENT workbench EXCLUDE_FROM_ALL)
install(DIRECTORY ${programs_folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/warpladder
  COMPONENT workbench EXCLUDE_FROM_ALL)

function(warpladder_install_generated kind folder file)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/${file}\")
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
    message(STATUS \"Installing: \${file}\")
    execute_process(COMMAND \"$<TARGET_FILE:warpladder>\" generate ${kind}
      OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT workbench EXCLUDE_FROM_ALL)
endfunction()
warpladder_install_generated(man ${CMAKE_INSTALL_MANDIR}/man1 warpladder.1)
set(share ${CMAKE_INSTALL_DATADIR})
warpladder_install_generated(bash ${share}/bash-completion/completions warpladder)
# Debian's zsh looks for completions of packages in a folder of its own.
install(CODE "
  set(zsh_folder site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" AND EXISTS /etc/debian_version)
    set(zsh_folder vendor-completions)
  endif()"
  COMPONENT workbench EXCLUDE_FROM_ALL)
warpladder_install_generated(zsh "${share}/zsh/\${zsh_folder}" _warpladder)
warpladder_install_generated(fish ${share}/fish/vendor_completions.d warpladder.fish)
