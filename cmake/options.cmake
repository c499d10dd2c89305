# Flags for our own code only: a consumer of the library never inherits them.
add_library(luminal_options INTERFACE)
target_compile_options(luminal_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# Results must not depend on how a compiler contracts a*b+c: the oracle rounds after every operation.
target_compile_options(luminal_options INTERFACE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 and 13 report these inside the standard library's own headers when optimising.
  target_compile_options(luminal_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                   -Wno-maybe-uninitialized -Wno-free-nonheap-object)
endif()

if(LUMINAL_SANITIZE)
  add_compile_options(-fsanitize=${LUMINAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LUMINAL_SANITIZE})
endif()
