#!/usr/bin/env python3
"""Writes tests/optim/references.txt: PyTorch's own trajectories in f32, 50 steps each, of optimisers, clipped, accumulated
and averaged updates, losses and the loss scaler; and its schedulers. Needs PyTorch 2.13 (./luminal setup --references).
Lion and LAMB are not in PyTorch, nor is the focal loss: they are written here from their papers' formulas, in f32 too.

The test compares element by element, relative to the element's own size. So values and rates are chosen such that no
element comes near zero, where two correct f32 programs differ by more than any relative bound; `away_from_zero` checks it."""
import pathlib

import torch
import torch.nn.functional as F
from torch.optim import lr_scheduler, swa_utils

STEPS = 50
SHAPES = [(5,), (2, 3)]
OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "optim" / "references.txt"


def row(tensors):
    return " ".join("%.9g" % x for t in tensors for x in t.detach().flatten().tolist())


def exact_row(numbers):
    return " ".join("%.17g" % x for x in numbers)


def start(shapes):
    """Parameters of both signs, with sizes between 2 and 4."""
    def one(shape):
        return (2 + 2 * torch.rand(shape)) * torch.where(torch.rand(shape) < 0.5, -1.0, 1.0)
    return [one(shape).requires_grad_() for shape in shapes]


def away_from_zero(name, parameters, initial):
    for now, first in zip(parameters, initial):
        assert (now.detach() / first > 0.2).all(), f"{name}: a parameter comes close to zero"


# --- optimisers ---


class Lion:
    def __init__(self, parameters, lr, betas, weight_decay):
        self.parameters, self.lr, self.betas, self.weight_decay = parameters, lr, betas, weight_decay
        self.momentum = [torch.zeros_like(p) for p in parameters]

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for p, m in zip(self.parameters, self.momentum):
            update = torch.sign(beta1 * m + (1 - beta1) * p.grad)
            p.mul_(1 - self.lr * self.weight_decay).sub_(self.lr * update)
            m.mul_(beta2).add_((1 - beta2) * p.grad)


class Lamb:
    def __init__(self, parameters, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        self.parameters, self.lr, self.betas, self.eps, self.weight_decay = parameters, lr, betas, eps, weight_decay
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        beta1, beta2 = self.betas
        for p, (mean, square) in zip(self.parameters, self.moments):
            mean.mul_(beta1).add_((1 - beta1) * p.grad)
            square.mul_(beta2).add_((1 - beta2) * p.grad * p.grad)
            corrected = mean / (1 - beta1 ** self.steps)
            root = (square / (1 - beta2 ** self.steps)).sqrt() + self.eps
            direction = corrected / root + self.weight_decay * p
            size, length = p.norm(), direction.norm()
            trust = size / length if size > 0 and length > 0 else 1.0
            p.sub_(self.lr * trust * direction)


OPTIMISERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd_decay": lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.02, nesterov=True),
    "sgd_dampened": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, dampening=0.3),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam_decay": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw_decay": lambda p: torch.optim.AdamW(p, lr=0.02, betas=(0.85, 0.97), eps=1e-6, weight_decay=0.2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, lr=0.003, alpha=0.9, eps=1e-6, momentum=0.8, weight_decay=0.1),
    "rmsprop_centred": lambda p: torch.optim.RMSprop(p, lr=0.002, momentum=0.9, centered=True, weight_decay=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "adagrad_decay": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.01, weight_decay=0.05,
                                                   initial_accumulator_value=0.1),
    "lion": lambda p: Lion(p, 0.01, (0.9, 0.99), 0.0),
    "lion_decay": lambda p: Lion(p, 0.01, (0.95, 0.98), 0.1),
    "lamb": lambda p: Lamb(p, 0.005),
    "lamb_decay": lambda p: Lamb(p, 0.005, (0.85, 0.98), 1e-5, 0.2),
}


def momentum(p):
    return torch.optim.SGD(p, lr=0.02, momentum=0.9)


def take_gradients(parameters, initial):
    """Noise around the slope towards the initial values: what keeps parameters on the move and away from zero."""
    for p, first in zip(parameters, initial):
        p.grad = torch.randn(p.shape) + 0.3 * (p.detach() - first)


def trajectory(name, make, between=lambda p: None, every=1):
    """Lines 'initial', then 'gradient' (what comes in) and 'value' (what an update leaves) for every step. `between`
    changes gradients before the update, which is made every few steps, with the mean gradient."""
    torch.manual_seed(1)
    parameters = start(SHAPES)
    initial = [p.detach().clone() for p in parameters]
    optimiser = make(parameters)
    lines = [f"optimiser {name}", "initial " + row(initial)]
    total = None
    for step in range(STEPS):
        take_gradients(parameters, initial)
        fresh = [p.grad.clone() for p in parameters]
        lines.append("gradient " + row(fresh))
        total = fresh if total is None else [a + b for a, b in zip(total, fresh)]
        if (step + 1) % every == 0:
            for p, g in zip(parameters, total):
                p.grad = g / every
            total = None
            between(parameters)
            optimiser.step()
        lines.append("value " + row(parameters))
        away_from_zero(name, parameters, initial)
    return lines


def averages():
    """An exponential moving average beside a trajectory: lines 'average'."""
    torch.manual_seed(1)
    model = torch.nn.ParameterList([torch.nn.Parameter(p.detach()) for p in start(SHAPES)])
    initial = [p.detach().clone() for p in model]
    average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    lines = ["optimiser average", "initial " + row(initial)]
    for _ in range(STEPS):
        take_gradients(list(model), initial)
        lines.append("gradient " + row([p.grad for p in model]))
        optimiser.step()
        average.update_parameters(model)
        lines.append("value " + row(average.module))
        away_from_zero("average", list(average.module), initial)
    return lines


# --- losses: a linear model is trained with each ---

ROWS, INPUTS, OUTPUTS = 6, 4, 3
IGNORED = 1


def focal(x, t, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(x)
    cross = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    right = p * t + (1 - p) * (1 - t)
    return ((alpha * t + (1 - alpha) * (1 - t)) * cross * (1 - right) ** gamma).mean()


LOSSES = {
    "mse": lambda y, d: F.mse_loss(y, d["real"]),
    "rmse": lambda y, d: F.mse_loss(y, d["real"]).sqrt(),
    "mae": lambda y, d: F.l1_loss(y, d["real"]),
    "huber": lambda y, d: F.huber_loss(y, d["real"], delta=0.7),
    "smooth_l1": lambda y, d: F.smooth_l1_loss(y, d["real"], beta=0.5),
    "cross_entropy": lambda y, d: F.cross_entropy(y, d["labels"].long()),
    "cross_entropy_all": lambda y, d: F.cross_entropy(y, d["labels"].long(), weight=d["weight"], ignore_index=IGNORED,
                                                      label_smoothing=0.1),
    "cross_entropy_soft": lambda y, d: F.cross_entropy(y, d["share"], weight=d["weight"], label_smoothing=0.2),
    "nll": lambda y, d: F.nll_loss(F.log_softmax(y, 1), d["labels"].long(), weight=d["weight"], ignore_index=IGNORED),
    "kl": lambda y, d: F.kl_div(F.log_softmax(y, 1), d["share"], reduction="batchmean"),
    "kl_log": lambda y, d: F.kl_div(F.log_softmax(y, 1), d["share"].log(), reduction="sum", log_target=True),
    "bce": lambda y, d: F.binary_cross_entropy(torch.sigmoid(y), d["binary"], weight=d["weight"]),
    "bce_logits": lambda y, d: F.binary_cross_entropy_with_logits(y, d["binary"], weight=d["weight"],
                                                                  pos_weight=d["positive"]),
    "focal": lambda y, d: focal(y, d["binary"]),
    "cosine": lambda y, d: F.cosine_embedding_loss(y, d["real"], 2 * d["pairs"] - 1, margin=0.1),
}


def loss_data():
    torch.manual_seed(3)
    return {
        "x": torch.randn(ROWS, INPUTS) * 0.5,
        "real": torch.randn(ROWS, OUTPUTS) + 1,
        "labels": torch.tensor([0.0, 1, 2, 2, 0, 1]),
        "weight": torch.tensor([0.5, 1.5, 2.0]),
        "share": torch.softmax(torch.randn(ROWS, OUTPUTS), 1),
        "binary": (torch.rand(ROWS, OUTPUTS) < 0.5).float(),
        "positive": torch.tensor([0.7, 1.3, 2.5]),
        "pairs": (torch.rand(ROWS) < 0.5).float(),
    }


def loss_trajectory(name, function, data):
    torch.manual_seed(4)
    (w,) = start([(INPUTS, OUTPUTS)])
    initial = w.detach().clone()
    optimiser = torch.optim.SGD([w], lr=0.006, momentum=0.9)
    lines = [f"optimiser loss_{name}", "initial " + row([initial])]
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = function(data["x"] @ w, data)
        assert loss > 0.02, f"{name}: the loss comes close to zero"
        loss.backward()
        optimiser.step()
        lines += ["loss " + row([loss]), "value " + row([w])]
        away_from_zero(name, [w], [initial])
    return lines


def scaler_trajectory():
    """Gradients in f16 overflow as the scale grows: steps are skipped, and the scale shrinks."""
    torch.manual_seed(5)
    (w,) = start([(5,)])
    initial = w.detach().clone()
    optimiser = torch.optim.SGD([w], lr=0.01, momentum=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**13, growth_interval=4)
    lines = ["optimiser scaler", "initial " + row([initial])]
    skipped = 0
    for _ in range(STEPS):
        optimiser.zero_grad()
        x = (torch.rand(5) * 4 - 2).half()
        before = w.detach().clone()
        loss = (w.half() * x).float().sum()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        skipped += bool((w == before).all())
        lines += ["gradient " + row([x]), "value " + row([w]), "scale " + "%.9g" % scaler.get_scale()]
        away_from_zero("scaler", [w], [initial])
    assert skipped >= 5, "the scaler's test skips too few steps"
    return lines


# --- schedules: of an optimiser with rate 0.5 ---

SCHEDULES = {
    "constant": lambda o: lr_scheduler.ConstantLR(o, factor=1.0),
    "step_decay": lambda o: lr_scheduler.StepLR(o, 7, gamma=0.3),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 40, eta_min=0.05),
    "linear_warm_up": lambda o: lr_scheduler.LinearLR(o, start_factor=0.2, total_iters=10),
    "warm_up_and_step": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=8), lr_scheduler.StepLR(o, 5, gamma=0.5)], [8]),
    "one_cycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=STEPS),
    "one_cycle_other": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=STEPS, pct_start=0.42, div_factor=10,
                                                         final_div_factor=100),
}


def schedules():
    lines = []
    for name, make in SCHEDULES.items():
        optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
        schedule = make(optimiser)
        rates = []
        for _ in range(STEPS):
            rates.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            schedule.step() if len(rates) < STEPS else None
        lines.append(f"schedule {name} " + exact_row(rates))
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    plateau = lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=2, cooldown=1, min_lr=0.01)
    torch.manual_seed(2)
    values, rates = (1 + 0.3 * torch.rand(STEPS, dtype=torch.float64)).tolist(), []
    for value in values:
        plateau.step(value)
        rates.append(optimiser.param_groups[0]["lr"])
    return lines + ["plateau_values " + exact_row(values), "plateau_rates " + exact_row(rates)]


def main():
    lines = ["# made by tools/make_optimiser_references.py with PyTorch " + torch.__version__.split("+")[0]]
    for name, make in OPTIMISERS.items():
        lines += trajectory(name, make)
    lines += trajectory("clipped_by_norm", momentum, lambda p: torch.nn.utils.clip_grad_norm_(p, 1.5))
    lines += trajectory("clipped_by_value", momentum, lambda p: torch.nn.utils.clip_grad_value_(p, 0.6))
    lines += trajectory("accumulated", momentum, every=3)
    lines += averages()
    data = loss_data()
    lines += [f"{key} {row([value])}" for key, value in data.items()]
    for name, function in LOSSES.items():
        lines += loss_trajectory(name, function, data)
    lines += scaler_trajectory()
    lines += schedules()
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{OUT.name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
