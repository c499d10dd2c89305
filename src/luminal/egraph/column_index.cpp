#include "luminal/egraph/column_index.h"

namespace luminal::egraph {

ColumnIndex::ColumnIndex(const ColumnIndex& other)
    : pages_(other.pages_.size()),
      next_(other.next_),
      distinct_(other.distinct_),
      page_count_(other.page_count_) {
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    if (other.pages_[i]) pages_[i] = std::make_unique<Page>(*other.pages_[i]);
  }
}

ColumnIndex& ColumnIndex::operator=(const ColumnIndex& other) {
  if (this != &other) *this = ColumnIndex(other);
  return *this;
}

void ColumnIndex::append(Value value) {
  const std::size_t number = value / page_size;
  if (number >= pages_.size()) pages_.resize(number + 1);
  auto& page = pages_[number];
  if (!page) {
    page = std::make_unique<Page>();
    ++page_count_;
  }
  Chain& chain = (*page)[value % page_size];
  if (chain.length == 0) ++distinct_;
  next_.push_back(chain.head);
  chain.head = static_cast<Row>(next_.size() - 1);
  ++chain.length;
}

void ColumnIndex::clear() {
  pages_.clear();
  next_.clear();
  distinct_ = 0;
  page_count_ = 0;
}

std::size_t ColumnIndex::bytes() const {
  return page_count_ * sizeof(Page) + pages_.capacity() * sizeof(pages_[0]) + next_.capacity() * sizeof(Row);
}

}  // namespace luminal::egraph
