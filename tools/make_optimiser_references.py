#!/usr/bin/env python3
"""Writes tests/optim/references.txt: 50 steps of PyTorch's optimisers on given gradients, its schedulers, and gradient
clipping. Needs PyTorch 2.13 (./luminal setup --references). Lion and LAMB are not in PyTorch: they are computed here from
their papers' formulas in f64."""
import pathlib

import torch

STEPS, SIZE = 50, 5
OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "optim" / "references.txt"


def lion(parameters, lr, beta1, beta2, weight_decay):
    p = parameters[0]
    state = {"m": torch.zeros_like(p)}

    def step():
        g, m = p.grad, state["m"]
        update = torch.sign(beta1 * m + (1 - beta1) * g)
        p.data = p.data * (1 - lr * weight_decay) - lr * update
        state["m"] = beta2 * m + (1 - beta2) * g

    return step


def lamb(parameters, lr, beta1, beta2, eps, weight_decay):
    p = parameters[0]
    state = {"m": torch.zeros_like(p), "v": torch.zeros_like(p), "t": 0}

    def step():
        g = p.grad
        state["t"] += 1
        state["m"] = beta1 * state["m"] + (1 - beta1) * g
        state["v"] = beta2 * state["v"] + (1 - beta2) * g * g
        m = state["m"] / (1 - beta1 ** state["t"])
        v = state["v"] / (1 - beta2 ** state["t"])
        r = m / (v.sqrt() + eps) + weight_decay * p.data
        a, b = p.data.norm(), r.norm()
        trust = a / b if a > 0 and b > 0 else 1.0
        p.data = p.data - lr * trust * r

    return step


def torch_step(make):
    return lambda parameters: make(parameters).step


CASES = {
    "sgd": torch_step(lambda p: torch.optim.SGD(p, lr=0.1)),
    "sgd_momentum": torch_step(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01)),
    "sgd_nesterov": torch_step(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
    "sgd_dampened": torch_step(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.3)),
    "adam": torch_step(lambda p: torch.optim.Adam(p, lr=0.01)),
    "adam_decay": torch_step(lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    "adamw": torch_step(lambda p: torch.optim.AdamW(p, lr=0.01)),
    "rmsprop": torch_step(lambda p: torch.optim.RMSprop(p, lr=0.01)),
    "rmsprop_centred": torch_step(lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True, weight_decay=0.01)),
    "adagrad": torch_step(lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.01, initial_accumulator_value=0.1)),
    "lion": lambda p: lion(p, 0.01, 0.9, 0.99, 0.1),
    "lamb": lambda p: lamb(p, 0.01, 0.9, 0.999, 1e-6, 0.01),
}

# name: scheduler of an optimiser with rate 0.5
SCHEDULES = {
    "step_decay": lambda o: torch.optim.lr_scheduler.StepLR(o, 7, gamma=0.3),
    "exponential": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 40, eta_min=0.05),
    "linear_warm_up": lambda o: torch.optim.lr_scheduler.LinearLR(o, start_factor=0.2, total_iters=10),
    "one_cycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=50),
}


def row(tensor):
    return " ".join("%.17g" % x for x in tensor.flatten().tolist())


def main():
    lines = ["# made by tools/make_optimiser_references.py with PyTorch " + torch.__version__.split("+")[0]]
    for name, make in CASES.items():
        torch.manual_seed(1)
        # The trajectory itself in f64: what an exact f32 implementation should stay close to.
        parameter = torch.randn(SIZE, dtype=torch.float64).float().double().requires_grad_()
        lines += [f"optimiser {name}", "initial " + row(parameter.data)]
        step = make([parameter])
        for _ in range(STEPS):
            parameter.grad = (torch.randn(SIZE) + 0.3 * parameter.detach().float()).double()
            lines.append("gradient " + row(parameter.grad))
            step()
            lines.append("value " + row(parameter.data))
    for name, make in SCHEDULES.items():
        optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
        schedule = make(optimiser)
        rates = []
        for _ in range(STEPS):
            rates.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            schedule.step() if len(rates) < STEPS else None
        lines.append(f"schedule {name} " + row(torch.tensor(rates, dtype=torch.float64)))
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=2, cooldown=1, min_lr=0.01)
    torch.manual_seed(2)
    values, rates = (1 + 0.3 * torch.rand(STEPS, dtype=torch.float64)).tolist(), []
    for value in values:
        plateau.step(value)
        rates.append(optimiser.param_groups[0]["lr"])
    lines.append("plateau_values " + row(torch.tensor(values, dtype=torch.float64)))
    lines.append("plateau_rates " + row(torch.tensor(rates, dtype=torch.float64)))
    a, b = torch.nn.Parameter(torch.zeros(4)), torch.nn.Parameter(torch.zeros(3))
    a.grad, b.grad = torch.randn(4) * 3, torch.randn(3)
    lines += ["clip_a " + row(a.grad), "clip_b " + row(b.grad)]
    torch.nn.utils.clip_grad_norm_([a, b], 1.5)
    lines += ["clipped_a " + row(a.grad), "clipped_b " + row(b.grad)]
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{OUT.name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
