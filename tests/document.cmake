# Writes the first C++ program of a document to OUTPUT, so that the tests run what readers copy.
file(READ ${DOCUMENT} text)
string(FIND "${text}" "```cpp\n" start)
string(SUBSTRING "${text}" ${start} -1 text)
string(SUBSTRING "${text}" 7 -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${OUTPUT} "${text}")
