include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS luminal EXPORT luminal-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/luminal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN "cli" EXCLUDE)
install(EXPORT luminal-targets NAMESPACE luminal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/luminal)
configure_package_config_file(cmake/luminal-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/luminal-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/luminal)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/luminal-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/luminal-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/luminal-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/luminal)
set(LUMINAL_EXTERNAL_FLAGS "")
foreach(library IN LISTS LUMINAL_EXTERNAL_LIBRARIES)
  if(library MATCHES "^[/-]")
    string(APPEND LUMINAL_EXTERNAL_FLAGS " ${library}")
  else()
    string(APPEND LUMINAL_EXTERNAL_FLAGS " -l${library}")
  endif()
endforeach()
configure_file(cmake/luminal.pc.in ${CMAKE_CURRENT_BINARY_DIR}/luminal.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/luminal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET luminal_cli)
  install(TARGETS luminal_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
