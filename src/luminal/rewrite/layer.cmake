# The rules are text in rules/, embedded in the binary.
file(GLOB rule_texts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/rules/*.egg)
list(JOIN rule_texts "|" rule_list)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/rule_files.cpp
  COMMAND ${CMAKE_COMMAND} "-DOUT=${CMAKE_CURRENT_BINARY_DIR}/rule_files.cpp" "-DFILES=${rule_list}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${rule_texts} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/rule_files.cpp)
