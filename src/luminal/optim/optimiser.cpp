#include "luminal/optim/optimiser.h"

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/reduce.h"
#include "luminal/optim/build.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::optim {

void Updates::add(const Updates& others) {
  entries_.insert(entries_.end(), others.entries_.begin(), others.entries_.end());
}

void Updates::apply(Location where) const {
  for (const auto& [state, value] : entries_) state.assign(value, where);
}

void Updates::apply_if(const Tensor& condition, Location where) const {
  for (const auto& [state, value] : entries_)
    state.assign(luminal::where(condition, value, state, where), where);
}

Updates sgd(const Step& step, const SgdOptions& options, Location where) {
  const Build build{where};
  Updates updates;
  const bool dampened = options.momentum != 0 && options.dampening != 0;
  const auto counter = dampened ? std::optional(build.counter(step, "sgd", updates)) : std::nullopt;
  for (const auto& slot : build.slots(step, "sgd")) {
    Term direction = build.decayed(slot, options.weight_decay);
    if (options.momentum != 0) {
      const State momentum = build.moment(slot, "sgd/momentum");
      Term fresh = direction;
      if (dampened) fresh = select(*counter == 1, fresh, fresh * (1 - options.dampening));
      const Term next = build.at(momentum) * options.momentum + fresh;
      updates.add(momentum, next);
      direction = options.nesterov ? direction + next * options.momentum : next;
    }
    build.finish(slot, slot.value - build.scalar(slot, step.rate) * direction, updates);
  }
  return updates;
}

namespace {

Term root(const Term& x) {
  return apply(Op::sqrt, x);
}

/// The bias-corrected moments of Adam and its kin.
struct Moments {
  Term mean;
  Term root;  // of the corrected second moment, plus ε
};

Moments adam_moments(const Build& build, const Slot& slot, const Term& direction, const Term& count,
                     const AdamOptions& options, const std::string& family, Updates& updates) {
  const State first = build.moment(slot, family + "/mean");
  const State second = build.moment(slot, family + "/square");
  const Term mean = build.at(first) + (direction - build.at(first)) * (1 - options.beta1);
  const Term square = build.at(second) * options.beta2 + direction * direction * (1 - options.beta2);
  updates.add(first, mean);
  updates.add(second, square);
  // In f64: 1 − βᵗ loses half its digits in f32 for the first steps.
  const Term correction1 = 1 - build.power(options.beta1, count);
  const Term correction2 = root(1 - build.power(options.beta2, count));
  return {mean / build.scalar(slot, correction1.operand()),
          root(square) / build.scalar(slot, correction2.operand()) + options.epsilon};
}

Updates adam_like(const Step& step, const AdamOptions& options, const std::string& family, bool decoupled,
                  Location where) {
  const Build build{where};
  Updates updates;
  const Term count = build.counter(step, family, updates);
  for (const auto& slot : build.slots(step, family)) {
    const Term rate = build.scalar(slot, step.rate);
    const Term direction = build.decayed(slot, decoupled ? 0 : options.weight_decay);
    const Moments moments = adam_moments(build, slot, direction, count, options, family, updates);
    const Term shrunk =
        decoupled && options.weight_decay != 0 ? slot.value * (1 - rate * options.weight_decay) : slot.value;
    build.finish(slot, shrunk - rate * (moments.mean / moments.root), updates);
  }
  return updates;
}

}  // namespace

Updates adam(const Step& step, const AdamOptions& options, Location where) {
  return adam_like(step, options, "adam", false, where);
}

Updates adamw(const Step& step, const AdamOptions& options, Location where) {
  return adam_like(step, options, "adamw", true, where);
}

Updates lamb(const Step& step, const AdamOptions& options, Location where) {
  const Build build{where};
  Updates updates;
  const Term count = build.counter(step, "lamb", updates);
  for (const auto& slot : build.slots(step, "lamb")) {
    const Moments moments = adam_moments(build, slot, slot.gradient, count, options, "lamb", updates);
    const Term direction = moments.mean / moments.root + slot.value * options.weight_decay;
    const Term size = build.at(norm(slot.value, 2, Axes::all(), false, where));
    const Term length = build.at(norm(direction, 2, Axes::all(), false, where));
    const Term trust = select((0 < size) & (0 < length), size / length, 1.0);
    build.finish(slot, slot.value - build.scalar(slot, step.rate) * trust * direction, updates);
  }
  return updates;
}

Updates rmsprop(const Step& step, const RmspropOptions& options, Location where) {
  const Build build{where};
  Updates updates;
  for (const auto& slot : build.slots(step, "rmsprop")) {
    const Term direction = build.decayed(slot, options.weight_decay);
    const State second = build.moment(slot, "rmsprop/square");
    const Term square = build.at(second) * options.alpha + direction * direction * (1 - options.alpha);
    updates.add(second, square);
    Term spread = square;
    if (options.centred) {
      const State first = build.moment(slot, "rmsprop/mean");
      const Term mean = build.at(first) + (direction - build.at(first)) * (1 - options.alpha);
      updates.add(first, mean);
      spread = square - mean * mean;
    }
    Term change = direction / (root(spread) + options.epsilon);
    if (options.momentum != 0) {
      const State momentum = build.moment(slot, "rmsprop/momentum");
      change = build.at(momentum) * options.momentum + change;
      updates.add(momentum, change);
    }
    build.finish(slot, slot.value - build.scalar(slot, step.rate) * change, updates);
  }
  return updates;
}

Updates adagrad(const Step& step, const AdagradOptions& options, Location where) {
  const Build build{where};
  Updates updates;
  const Term count = build.counter(step, "adagrad", updates);
  for (const auto& slot : build.slots(step, "adagrad")) {
    const Term direction = build.decayed(slot, options.weight_decay);
    const State sum = build.moment(slot, "adagrad/sum", options.initial);
    const Term next = build.at(sum) + direction * direction;
    updates.add(sum, next);
    const Term slowed = build.wide(slot, step.rate) / ((count - 1) * options.rate_decay + 1);
    const Term change = direction / (root(next) + options.epsilon);
    build.finish(slot, slot.value - build.scalar(slot, slowed.operand()) * change, updates);
  }
  return updates;
}

Updates lion(const Step& step, const LionOptions& options, Location where) {
  const Build build{where};
  Updates updates;
  for (const auto& slot : build.slots(step, "lion")) {
    const Term rate = build.scalar(slot, step.rate);
    const State momentum = build.moment(slot, "lion/momentum");
    const Term blend = build.at(momentum) * options.beta1 + slot.gradient * (1 - options.beta1);
    updates.add(momentum, build.at(momentum) * options.beta2 + slot.gradient * (1 - options.beta2));
    const Term shrunk = slot.value * (1 - rate * options.weight_decay);
    build.finish(slot, shrunk - rate * build.at(sign(blend, where)), updates);
  }
  return updates;
}

}  // namespace luminal::optim
