# Cached entries of one build are foreign to another: a hash of all sources that decide what they hold.
file(GLOB_RECURSE fingerprint_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/rules/*.egg)
foreach(layer support shape op egraph graph kernel rewrite search codegen runtime backend compile)
  file(GLOB_RECURSE layer_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/luminal/${layer}/*.cpp
       ${CMAKE_CURRENT_SOURCE_DIR}/src/luminal/${layer}/*.h)
  list(APPEND fingerprint_sources ${layer_sources})
endforeach()
list(SORT fingerprint_sources)
list(JOIN fingerprint_sources "\n" fingerprint_list)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/fingerprint_list "${fingerprint_list}\n")
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fingerprint.cpp
  COMMAND ${CMAKE_COMMAND} "-DOUT=${CMAKE_CURRENT_BINARY_DIR}/fingerprint.cpp"
          "-DLIST=${CMAKE_CURRENT_BINARY_DIR}/fingerprint_list" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/fingerprint.cmake
  DEPENDS ${fingerprint_sources} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/fingerprint.cmake VERBATIM)
target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/fingerprint.cpp)
