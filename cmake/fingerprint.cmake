# Writes a C++ source with the hash of the given files: OUT is the source, LIST a file that names them, one a line.
file(STRINGS ${LIST} files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  string(APPEND hashes "${hash}\n")
endforeach()
string(SHA256 all "${hashes}")
file(WRITE ${OUT} "// Made by cmake/fingerprint.cmake.\n#include \"luminal/compile/fingerprint.h\"\n\nnamespace luminal {\n\nstd::string_view build_fingerprint() {\n  return \"${all}\";\n}\n\n}  // namespace luminal\n")
