#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/database.h"

namespace luminal::egraph {

/// The sorts every program starts with: Unit, bool, i64, f64, String, BigInt, BigRat, and their primitives.
void add_base_sorts(Database& database);

/// Declares a container sort (`Vec`, `Set`, `MultiSet`, `Map`, `Pair`, `UnstableFn`, whose elements are its
/// inputs and its output) and its primitives. Throws
/// `ProgramError` for an unknown presort or a wrong number of element sorts.
SortId add_container_sort(Database& database, const std::string& name, const std::string& presort,
                          const std::vector<SortId>& elements, Span span);

/// Whether some container sort has a primitive of this name: such names cannot be declared, even before the
/// sort is.
bool is_container_primitive(std::string_view name);

/// The parts of `add_base_sorts` and `add_container_sort`.
void add_integer_primitives(Database& database);
void add_real_primitives(Database& database);
void add_text_primitives(Database& database);
void add_boolean_primitives(Database& database);
void add_generic_primitives(Database& database);
void add_big_primitives(Database& database);
void add_rational_primitives(Database& database);
void add_vec_primitives(Database& database, SortId sort);
void add_set_primitives(Database& database, SortId sort);
void add_multiset_primitives(Database& database, SortId sort);
void add_map_primitives(Database& database, SortId sort);
void add_pair_primitives(Database& database, SortId sort);
void add_function_primitives(Database& database, SortId sort);
/// The primitives that call functions on containers, for the combinations of sorts that this one completes.
void add_mapping_primitives(Database& database, SortId sort);

}  // namespace luminal::egraph
