"""Runs what our benchmarks run, in PyTorch and onnxruntime, when it is told to: one JSON object a line in, one out.

{"load": KIND, "arrays": {NAME: {"file", "shape", "dtype"}}, "threads": N}  ->  {"peers": [...]}
{"run": PEER}                                                              ->  {"seconds": ...}   (< 0: disturbed)
{"output": PEER, "file": PATH}                                             ->  {"shape": [...]}   (f32, row-major)
{"restore": PEER}                                                          ->  {}   (weights and moments as at first)
A request that fails gets {"error": why}.
"""
import io
import json
import os
import resource
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def load(arrays):
    types = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32}
    return {name: torch.from_numpy(np.fromfile(a["file"], dtype=types[a["dtype"]]).reshape(a["shape"]).copy())
            for name, a in arrays.items()}


def attention_block(t, prefix, x, heads, kv_heads, size, past=0, cache=None, rotary=None, causal=False):
    batch, length, _ = x.shape

    def project(name, count):
        y = F.linear(x, t[f"{prefix}/{name}/weight"], t.get(f"{prefix}/{name}/bias"))
        return y.view(batch, length, count, size).transpose(1, 2)

    q, k, v = project("query", heads), project("key", kv_heads), project("value", kv_heads)
    if rotary:
        position = torch.arange(past, past + length, dtype=torch.float32)
        angle = position[:, None] * rotary ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
        cosine, sine = angle.cos(), angle.sin()

        def turn(y):
            a, b = y[..., : size // 2], y[..., size // 2:]
            return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)

        q, k = turn(q), turn(k)
    if cache is not None:
        cache[0][:, :, past:past + length] = k
        cache[1][:, :, past:past + length] = v
        k, v = cache[0][:, :, :past + length], cache[1][:, :, :past + length]
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal and length > 1, enable_gqa=heads != kv_heads)
    mixed = mixed.transpose(1, 2).reshape(batch, length, heads * size)
    return F.linear(mixed, t[f"{prefix}/output/weight"], t.get(f"{prefix}/output/bias"))


def mnist(t, x):
    x = F.max_pool2d(F.relu(F.conv2d(x, t["c1/weight"], t["c1/bias"])), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, t["c2/weight"], t["c2/bias"])), 2)
    return F.linear(x.flatten(1), t["fc/weight"], t["fc/bias"])


def resnet50(t, x):
    def norm(y, name):
        return F.batch_norm(y, t[f"{name}/running_mean"], t[f"{name}/running_var"], t[f"{name}/weight"],
                            t[f"{name}/bias"], False, 0.1, 1e-5)

    y = F.relu(norm(F.conv2d(x, t["conv1/weight"], None, 2, 3), "bn1"))
    y = F.max_pool2d(y, 3, 2, 1)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for k in range(blocks):
            at = f"layer{stage + 1}/{k}"
            stride = 2 if k == 0 and stage > 0 else 1
            z = F.relu(norm(F.conv2d(y, t[f"{at}/conv1/weight"]), f"{at}/bn1"))
            z = F.relu(norm(F.conv2d(z, t[f"{at}/conv2/weight"], None, stride, 1), f"{at}/bn2"))
            z = norm(F.conv2d(z, t[f"{at}/conv3/weight"]), f"{at}/bn3")
            if f"{at}/downsample/0/weight" in t:
                y = norm(F.conv2d(y, t[f"{at}/downsample/0/weight"], None, stride), f"{at}/downsample/1")
            y = F.relu(y + z)
    return F.linear(y.mean((2, 3)), t["fc/weight"], t["fc/bias"])


def bert(t, x):
    x = F.layer_norm(x + attention_block(t, "layer/attention", x, 12, 12, 64), (768,), t["layer/norm1/weight"],
                     t["layer/norm1/bias"])
    y = F.linear(F.gelu(F.linear(x, t["layer/widen/weight"], t["layer/widen/bias"])), t["layer/narrow/weight"],
                 t["layer/narrow/bias"])
    return F.layer_norm(x + y, (768,), t["layer/norm2/weight"], t["layer/norm2/bias"])


def llama_block(t, prefix, x, heads, kv_heads, past=0, cache=None):
    width = x.shape[-1]
    y = F.rms_norm(x, (width,), t[f"{prefix}/attention_norm/weight"], 1e-5)
    x = x + attention_block(t, f"{prefix}/attention", y, heads, kv_heads, width // heads, past, cache, ROTARY, True)
    y = F.rms_norm(x, (width,), t[f"{prefix}/mlp_norm/weight"], 1e-5)
    gated = F.silu(F.linear(y, t[f"{prefix}/mlp/gate/weight"])) * F.linear(y, t[f"{prefix}/mlp/up/weight"])
    return x + F.linear(gated, t[f"{prefix}/mlp/down/weight"])


ROTARY = 10000.0


def llama(t, x, past=0, cache=None):
    return llama_block(t, "block", x, 32, 8, past, cache)


def adder(t):
    x = F.embedding(t["tokens"], t["embedding/weight"])
    for layer in range(2):
        x = llama_block(t, f"layers/{layer}", x, 4, 2)
    x = x[:, -t["answer"].shape[1]:]  # the tokens before each digit of the answer predict it
    return F.linear(F.rms_norm(x, (64,), t["norm/weight"], 1e-5), t["head/weight"])


def mlp(t, x):
    for name in ["first", "second"]:
        x = F.relu(F.linear(x, t[f"{name}/weight"], t[f"{name}/bias"]))
    return F.linear(x, t["third/weight"], t["third/bias"])


def training(forward, loss_of):
    """One step of AdamW; gives the loss before it."""
    def make(t):
        names = [n for n in t if n not in ("x", "images", "labels", "target", "rate") and "/adamw/" not in n
                 and t[n].is_floating_point()]
        weights = [t[n].requires_grad_() for n in names]
        first = [w.detach().clone() for w in weights]
        optimiser = torch.optim.AdamW(weights, lr=float(t["rate"]), weight_decay=0.01)

        def step():
            optimiser.zero_grad()
            loss = loss_of(forward(t), t)
            loss.backward()
            optimiser.step()
            return loss.detach().reshape(1)

        def restore():
            with torch.no_grad():
                for weight, value in zip(weights, first):
                    weight.copy_(value)
                for state in optimiser.state.values():
                    for value in state.values():
                        value.zero_()
        step.restore = restore
        return step
    return make


def without_gradients(function):
    def make(t):
        return lambda: function(t)
    make.pure = function
    return make


def decode(t):
    return llama(t, t["x"], 1000, (t["cache/keys"], t["cache/values"]))


KINDS = {
    "matmul": without_gradients(lambda t: t["a"] @ t["b"]),
    "linear": without_gradients(lambda t: F.linear(t["a"], t["b"])),
    "softmax": without_gradients(lambda t: F.softmax(t["x"], -1)),
    "layer_norm": without_gradients(lambda t: F.layer_norm(t["x"], t["x"].shape[-1:])),
    "gelu": without_gradients(lambda t: F.gelu(t["x"])),
    "add": without_gradients(lambda t: t["a"] + t["b"]),
    "sum": without_gradients(lambda t: t["x"].sum(-1)),
    "sum columns": without_gradients(lambda t: t["x"].sum(0)),
    "conv": without_gradients(lambda t: F.conv2d(t["x"], t["w"], None, 1, t["w"].shape[-1] // 2)),
    "attention": without_gradients(lambda t: F.scaled_dot_product_attention(t["q"], t["k"], t["v"], is_causal=True)),
    "mnist": without_gradients(lambda t: mnist(t, t["images"])),
    "resnet50": without_gradients(lambda t: resnet50(t, t["images"])),
    "bert": without_gradients(lambda t: bert(t, t["x"])),
    "llama-prefill": without_gradients(lambda t: llama(t, t["x"])),
    "llama-decode": without_gradients(decode),
    "mnist-training": training(lambda t: mnist(t, t["images"]), lambda y, t: F.cross_entropy(y, t["labels"])),
    "mlp-training": training(lambda t: mlp(t, t["x"]), lambda y, t: F.cross_entropy(y, t["labels"])),
    "bert-training": training(lambda t: bert(t, t["x"]), lambda y, t: (y - t["target"]).square().mean()),
    "adder-training": training(adder, lambda y, t: F.cross_entropy(y.flatten(0, 1), t["answer"].flatten().long())),
}


class Model(torch.nn.Module):
    def __init__(self, function, tensors):
        super().__init__()
        self.function, self.tensors = function, tensors

    def forward(self, *inputs):
        return self.function({**self.tensors, **dict(zip(self.names, inputs))})


def onnx_session(make, tensors):
    """What the same function is as an ONNX file; None where it has no such form."""
    inputs = [n for n in tensors if n in ("x", "images", "a", "b", "q", "k", "v", "w")]
    model = Model(make.pure, {n: v for n, v in tensors.items() if n not in inputs})
    model.names = inputs
    data = io.BytesIO()
    torch.onnx.export(model, tuple(tensors[n] for n in inputs), data, input_names=inputs, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(data.getvalue(), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    given = {n: tensors[n].numpy() for n in names}
    return lambda: torch.from_numpy(session.run(None, given)[0])


class Server:
    def __init__(self):
        self.peers = {}
        self.restores = {}  # of those that change what they are given

    def load(self, request):
        torch.set_num_threads(request["threads"])
        torch._dynamo.reset()
        self.peers = {}
        make = KINDS.get(request["load"])
        if make is None:
            return {"peers": []}
        tensors = load(request["arrays"])
        copy = {n: v.clone() for n, v in tensors.items()}
        trains = not hasattr(make, "pure")
        eager = make(tensors)
        other = make(copy)
        self.peers["torch"] = eager if trains else torch.no_grad()(eager)
        self.restores = {"torch": eager.restore, "torch.compile": other.restore} if trains else {}
        ways = [("torch.compile", lambda: torch.compile(other) if trains
                 else torch.no_grad()(torch.compile(other)))]
        if onnxruntime is not None and not trains and request["load"] != "llama-decode":
            ways.append(("onnxruntime", lambda: onnx_session(make, tensors)))
        for name, way in ways:
            try:
                peer = way()
                peer()
                self.peers[name] = peer
            except Exception as error:  # a peer that cannot run this is left out, and says why
                print(f"{name}: {request['load']}: {str(error).splitlines()[0]}", file=sys.stderr)
        return {"peers": list(self.peers)}

    def run(self, request):
        peer = self.peers[request["run"]]
        # As our own stopwatch: a run that was interrupted counts by what its threads computed.
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        computed, start = time.process_time(), time.perf_counter()
        peer()
        wall = time.perf_counter() - start
        computed = (time.process_time() - computed) / torch.get_num_threads()
        interrupted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw != before
        if interrupted and wall < 0.02:
            return {"seconds": -wall}
        return {"seconds": min(wall, computed) if interrupted else wall}

    def restore(self, request):
        self.restores.get(request["restore"], lambda: None)()
        return {}

    def output(self, request):
        result = self.peers[request["output"]]()
        result.to(torch.float32).contiguous().numpy().tofile(request["file"])
        return {"shape": list(result.shape)}


def main():
    server = Server()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        try:
            verb = next(v for v in ("load", "run", "output", "restore") if v in request)
            answer = getattr(server, verb)(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
