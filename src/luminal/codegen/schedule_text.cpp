#include "luminal/codegen/schedule_text.h"

#include <charconv>
#include <vector>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

using kernel::LoopId;

std::string nest_text(const NestSchedule& nest) {
  // A new member does not compile here until it has a word of its own.
  const auto& [cover, retile, vector_loop, lanes, chunk, grain, tiles] = nest;
  std::string words = cat("lanes=", lanes, " chunk=", chunk, " grain=", grain);
  for (const auto loop : cover) words += cat(" cover=", loop.value());
  if (retile) words += " retile=1";
  if (vector_loop) words += cat(" vector=", vector_loop->value());
  if (!tiles) return words;
  const auto& [rows, vectors, block_rows, block_columns, depth, library] = *tiles;
  words += cat(" tile=", rows, "x", vectors, " block=", block_rows, "x", block_columns, " depth=", depth);
  return library ? words + " library=1" : words;
}

[[noreturn]] void refuse(std::string_view word) {
  throw Error(cat("schedule: ", in_quotes(word), " is no part of one"));
}

std::int64_t number(std::string_view text, std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) refuse(word);
  return value;
}

std::pair<std::int64_t, std::int64_t> pair(std::string_view text, std::string_view word) {
  const auto cross = text.find('x');
  if (cross == std::string_view::npos) refuse(word);
  return {number(text.substr(0, cross), word), number(text.substr(cross + 1), word)};
}

TileSchedule& tiles_of(NestSchedule& nest) {
  if (!nest.tiles) nest.tiles.emplace();
  return *nest.tiles;
}

void read_word(NestSchedule& nest, std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) refuse(word);
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (name == "lanes") {
    nest.lanes = static_cast<int>(number(value, word));
  } else if (name == "chunk") {
    nest.chunk = number(value, word);
  } else if (name == "grain") {
    nest.grain = number(value, word);
  } else if (name == "cover") {
    nest.cover.emplace_back(static_cast<std::size_t>(number(value, word)));
  } else if (name == "retile") {
    nest.retile = number(value, word) != 0;
  } else if (name == "vector") {
    nest.vector_loop = LoopId(static_cast<std::size_t>(number(value, word)));
  } else if (name == "tile") {
    const auto [rows, vectors] = pair(value, word);
    tiles_of(nest).rows = static_cast<int>(rows);
    tiles_of(nest).vectors = static_cast<int>(vectors);
  } else if (name == "block") {
    std::tie(tiles_of(nest).block_rows, tiles_of(nest).block_columns) = pair(value, word);
  } else if (name == "depth") {
    tiles_of(nest).depth = number(value, word);
  } else if (name == "library") {
    tiles_of(nest).library = number(value, word) != 0;
  } else {
    refuse(word);
  }
}

}  // namespace

std::string text(const Schedule& schedule) {
  std::string result;
  for (const auto& nest : schedule.nests) result += cat(result.empty() ? "" : " ; ", nest_text(nest));
  return result;
}

Schedule parse_schedule(std::string_view text) {
  Schedule schedule;
  if (text.empty()) return schedule;
  schedule.nests.emplace_back();
  while (!text.empty()) {
    const auto space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    if (word == ";")
      schedule.nests.emplace_back();
    else
      read_word(schedule.nests.back(), word);
  }
  return schedule;
}

}  // namespace luminal::codegen
