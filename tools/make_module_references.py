#!/usr/bin/env python3
"""Writes tests/nn/references.txt: inputs, parameters and results of PyTorch's modules, losses and gradients, and of
transformers' rotary positions, Llama block and sparse experts. Needs both (./luminal setup --references). A line is `case name` or `key dtype dims : values`."""
import math
import pathlib

import torch
import torch.nn.functional as F
import transformers
from torch import nn
from transformers import CohereConfig, DynamicCache, LlamaConfig, MixtralConfig, Qwen3MoeConfig
from transformers.models.cohere import modeling_cohere
from transformers.models.llama import modeling_llama
from transformers.models.mixtral import modeling_mixtral
from transformers.models.qwen3_moe import modeling_qwen3_moe

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "nn" / "references.txt"
LINES = []
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.bool: "bool"}


def case(name, **tensors):
    LINES.append(f"case {name}")
    for key, t in tensors.items():
        t = t.detach()
        values = " ".join(str(int(x)) if t.dtype in (torch.int64, torch.bool) else "%.9g" % x for x in t.flatten().tolist())
        LINES.append(f"{key} {NAMES[t.dtype]} {','.join(map(str, t.shape)) or '-'} : {values}")


def parameters(module):
    return {name.replace(".", "/"): p for name, p in module.named_parameters()}


def recurrent():
    for name, kind in {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}.items():
        m = kind(3, 4, batch_first=True)
        x = torch.randn(2, 5, 3)
        out, last = m(x)
        w = {k.replace("_l0", ""): v for k, v in parameters(m).items()}
        extra = {"hidden": last[0][0], "cell": last[1][0]} if name == "lstm" else {"hidden": last[0]}
        case(name, x=x, out=out, **w, **extra)
        first = torch.randn(1, 2, 4), torch.randn(1, 2, 4)
        out, _ = m(x, first if name == "lstm" else first[0])
        case(name + "_continued", hidden=first[0][0], cell=first[1][0], out=out)


def norms():
    m = nn.BatchNorm2d(3)
    nn.init.normal_(m.weight)
    nn.init.normal_(m.bias)
    xs = [torch.randn(4, 3, 2, 2) * 2 + 1 for _ in range(3)]
    outs = [m(x) for x in xs]
    tensors = {f"x{i}": x for i, x in enumerate(xs)} | {f"out{i}": o for i, o in enumerate(outs)}
    running = {"mean": m.running_mean.clone(), "var": m.running_var.clone()}
    m.eval()
    case("batch_norm", weight=m.weight, bias=m.bias, eval=m(xs[0]), **tensors, **running)
    g = nn.GroupNorm(2, 4)
    nn.init.normal_(g.weight)
    nn.init.normal_(g.bias)
    x = torch.randn(2, 4, 3)
    case("group_norm", x=x, out=g(x), **parameters(g))


def rotate(x, first, base, model, config):
    """What a model of transformers does to queries [batch, heads, positions, size]."""
    heads, positions, size = x.shape[1:]
    c = config(hidden_size=heads * size, num_attention_heads=heads, head_dim=size,
               rope_parameters={"rope_type": "default", "rope_theta": base})
    embedding = next(getattr(model, name) for name in dir(model) if name.endswith("RotaryEmbedding"))(c)
    cos, sin = embedding(x, torch.arange(first, first + positions)[None])
    return model.apply_rotary_pos_emb(x, x, cos, sin)[0]


def attention():
    x = torch.randn(2, 3, 5, 8)
    case("rotary", x=x, halves=rotate(x, 4, 10000.0, modeling_llama, LlamaConfig),
         pairs=rotate(x, 0, 500000.0, modeling_cohere, CohereConfig),
         pairs_later=rotate(x, 7, 10000.0, modeling_cohere, CohereConfig))
    size, heads, kv = 12, 6, 2
    d = size // heads
    x = torch.randn(2, 5, size)
    wq, wk, wv, wo = torch.randn(size, size), torch.randn(kv * d, size), torch.randn(kv * d, size), torch.randn(size, size)
    split = lambda y, h: y.view(2, 5, h, d).transpose(1, 2)
    q, k, v = split(x @ wq.T, heads), split(x @ wk.T, kv), split(x @ wv.T, kv)
    q, k = (rotate(y, 0, 10000.0, modeling_llama, LlamaConfig) for y in (q, k))
    join = lambda y: y.transpose(1, 2).reshape(2, 5, size) @ wo.T
    mask = torch.rand(2, 1, 5, 5) > 0.3
    mask |= torch.eye(5, dtype=torch.bool)
    add = torch.randn(1, heads, 5, 5)
    case("attention", x=x, query=wq, key=wk, value=wv, output=wo, mask=mask, add=add,
         causal=join(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)),
         masked=join(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)),
         added=join(F.scaled_dot_product_attention(q, k, v, attn_mask=add, enable_gqa=True)))


def llama_block():
    """Transformers' LlamaDecoderLayer: the whole text at once, and in parts with its cache."""
    config = LlamaConfig(attn_implementation="eager", hidden_size=16, num_attention_heads=4, num_key_value_heads=2, head_dim=4,
                         intermediate_size=20, rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 500000.0})
    block = modeling_llama.LlamaDecoderLayer(config, 0).eval()
    for p in block.parameters():
        nn.init.normal_(p, std=0.5)
    embedding = modeling_llama.LlamaRotaryEmbedding(config)
    x = torch.randn(2, 6, 16)

    def run(part, first, cache=None):
        rows, keys = part.shape[1], first + part.shape[1]
        seen = torch.arange(keys)[None, :] <= torch.arange(first, keys)[:, None]
        mask = torch.where(seen, 0.0, float("-inf")).view(1, 1, rows, keys)
        places = embedding(part, torch.arange(first, keys)[None])
        return block(part, attention_mask=mask, past_key_values=cache, use_cache=cache is not None, position_embeddings=places)

    cache, parts = DynamicCache(), []
    for first, last in ((0, 3), (3, 4), (4, 5), (5, 6)):
        parts.append(run(x[:, first:last], first, cache))
    whole, cached = run(x, 0), torch.cat(parts, 1)
    assert torch.allclose(whole, cached, atol=1e-5)
    case("llama_block", x=x, whole=whole, cached=cached, **parameters(block))


def layers():
    for norm_first in (False, True):
        m = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=norm_first, activation="gelu")
        x = torch.randn(2, 4, 8)
        case("encoder_first" if norm_first else "encoder", x=x, out=m(x), **parameters(m))
    m = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x, memory = torch.randn(2, 4, 8), torch.randn(2, 3, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    case("decoder", x=x, memory=memory, out=m(x, memory, tgt_mask=mask), **parameters(m))


def experts():
    """The sparse blocks of transformers' Mixtral, which scales the chosen weights to sum to 1, and Qwen 3, which need not."""
    mixtral = MixtralConfig(hidden_size=6, intermediate_size=5, num_local_experts=4, num_experts_per_tok=2)
    qwen = Qwen3MoeConfig(hidden_size=6, moe_intermediate_size=5, num_experts=5, num_experts_per_tok=3, norm_topk_prob=False)
    for name, block in {"mixtral": modeling_mixtral.MixtralSparseMoeBlock(mixtral),
                        "qwen_experts": modeling_qwen3_moe.Qwen3MoeSparseMoeBlock(qwen)}.items():
        for p in block.parameters():
            nn.init.normal_(p)
        x = torch.randn(3, 2, 6)
        gate, up = block.experts.gate_up_proj.chunk(2, 1)
        out = block.eval()(x)
        case(name, x=x, router=block.gate.weight, gate=gate.transpose(1, 2), up=up.transpose(1, 2),
             down=block.experts.down_proj.transpose(1, 2), out=out[0] if isinstance(out, tuple) else out)


def losses():
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    case("regression", a=a, b=b, mse=F.mse_loss(a, b), rmse=F.mse_loss(a, b).sqrt(), mae=F.l1_loss(a, b, reduction="sum"),
         huber=F.huber_loss(a, b, delta=0.7), smooth_l1=F.smooth_l1_loss(a, b, beta=0.5),
         mse_none=F.mse_loss(a, b, reduction="none"))
    scores, labels = torch.randn(6, 4, 2), torch.randint(0, 4, (6, 2))
    labels[1, 0] = labels[4, 1] = -100
    weight, soft = torch.rand(4) + 0.5, torch.randn(6, 4, 2).softmax(1)
    ce = lambda **k: F.cross_entropy(scores, labels, **k)
    case("classes", scores=scores, labels=labels, weight=weight, soft_target=soft, plain=ce(), weighted=ce(weight=weight),
         smooth=ce(label_smoothing=0.1), all=ce(weight=weight, label_smoothing=0.2), total=ce(reduction="sum"),
         none=ce(reduction="none"), soft=F.cross_entropy(scores, soft), soft_all=F.cross_entropy(scores, soft, weight=weight, label_smoothing=0.1),
         nll=F.nll_loss(scores.log_softmax(1), labels, weight=weight))
    logs, target = torch.randn(3, 4).log_softmax(-1), torch.randn(3, 4).softmax(-1)
    target[0, 0] = 0
    case("kl", logs=logs, target=target, mean=F.kl_div(logs, target), batch=F.kl_div(logs, target, reduction="batchmean"),
         log=F.kl_div(logs, (target + 0.1).log(), log_target=True, reduction="sum"), log_target=(target + 0.1).log())
    p, t, x = torch.rand(5), (torch.rand(5) > 0.5).float(), torch.randn(5) * 4
    p[0], t[0], p[1], t[1] = 0, 1, 1, 1
    w, positive = torch.rand(5), torch.tensor([2.5])
    s = x.sigmoid()
    right = s * t + (1 - s) * (1 - t)
    focal = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - right) ** 2 * (0.25 * t + 0.75 * (1 - t))
    case("binary", p=p, t=t, x=x, w=w, positive=positive, bce=F.binary_cross_entropy(p, t, weight=w),
         logits=F.binary_cross_entropy_with_logits(x, t, pos_weight=positive), focal=focal.mean())
    a, b, y = torch.randn(4, 5), torch.randn(4, 5), torch.tensor([1, -1, 1, -1])
    case("cosine", a=a, b=b, y=y, out=F.cosine_embedding_loss(a, b, y, margin=0.1))


def gradient(name, function, *inputs):
    inputs = [x.clone().requires_grad_() for x in inputs]
    function(*inputs).sum().backward()
    tensors = {f"x{i}": x for i, x in enumerate(inputs)} | {f"g{i}": x.grad for i, x in enumerate(inputs)}
    case("gradient_" + name, **tensors)


def gradients():
    ties = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, -1.0, 0.0]])
    gradient("amax", lambda x: x.amax(1) * torch.tensor([1.0, 2.0, 3.0]), ties)
    gradient("amin", lambda x: x.amin(1), ties)
    gradient("maximum", torch.maximum, ties, ties.T.contiguous())
    gradient("minimum", torch.minimum, ties, ties.T.contiguous())
    gradient("relu", torch.relu, torch.tensor([-1.0, 0.0, 2.0]))
    gradient("abs", torch.abs, torch.tensor([-1.0, 0.0, 2.0]))
    gradient("clamp", lambda x: x.clamp(-1, 1), torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))
    gradient("norm_zero", lambda x: x.norm(dim=1), torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    gradient("prod_zeros", lambda x: x.prod(1), torch.tensor([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.0, 2.0, 4.0]]))
    gradient("cumprod_zeros", lambda x: x.cumprod(1), torch.tensor([[0.0, 2.0, 3.0], [1.0, 0.0, 5.0]]))
    gradient("pow", torch.pow, torch.tensor([0.0, 2.0, 0.0, 3.0]), torch.tensor([2.0, 0.0, 0.0, 1.5]))
    gradient("max_pool_ties", lambda x: F.max_pool2d(x, 2, 1), torch.randint(0, 3, (1, 2, 5, 5)).float())
    gradient("avg_pool_padding", lambda x: F.avg_pool2d(x, 3, 2, 1) ** 2, torch.randn(1, 2, 5, 5))
    gradient("conv_padding", lambda x, w: F.conv2d(x, w, stride=2, padding=1, dilation=2) ** 2, torch.randn(1, 2, 7, 7), torch.randn(3, 2, 3, 3))
    gradient("conv_transpose", lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1) ** 2, torch.randn(1, 2, 4, 4), torch.randn(2, 3, 3, 3))
    index = torch.tensor([[0, 2], [2, 2]])
    gradient("embedding", lambda w: F.embedding(index, w) ** 2, torch.randn(4, 3))
    gradient("softmax", lambda x: x.softmax(-1) ** 2, torch.randn(3, 4))
    gradient("log_softmax", lambda x: x.log_softmax(-1) ** 2, torch.randn(3, 4))
    gradient("layer_norm", lambda x: F.layer_norm(x, (4,)) ** 2, torch.randn(3, 4))
    gradient("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True) ** 2,
             torch.randn(1, 2, 4, 3), torch.randn(1, 2, 4, 3), torch.randn(1, 2, 4, 3))
    gradient("logsumexp", lambda x: x.logsumexp(1) ** 2, torch.randn(3, 4))
    gradient("std", lambda x: x.std(1) ** 2, torch.randn(3, 4))
    gradient("gelu", F.gelu, torch.randn(6))
    gradient("sigmoid_extremes", torch.sigmoid, torch.tensor([-200.0, -20.0, 0.0, 20.0, 200.0]))
    gradient("tanh_extremes", torch.tanh, torch.tensor([-50.0, -1.0, 0.0, 1.0, 50.0]))
    gradient("softplus_extremes", F.softplus, torch.tensor([-100.0, -1.0, 0.0, 19.0, 100.0]))


def scaler():
    scale, good, rows = 8.0, 0, []
    finite = [1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1]
    for f in finite:  # growth 2, backoff 0.5, interval 3, as torch.amp.GradScaler.update documents
        if f:
            good += 1
            if good == 3:
                scale, good = scale * 2, 0
        else:
            scale, good = scale * 0.5, 0
        rows.append(scale)
    case("scaler", finite=torch.tensor(finite), scales=torch.tensor(rows))


if __name__ == "__main__":
    torch.manual_seed(0)
    for part in (recurrent, norms, attention, llama_block, layers, experts, losses, gradients, scaler):
        part()
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(f"# made by tools/make_module_references.py with PyTorch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}\n" + "\n".join(LINES) + "\n")
    print(f"{OUT.name}: {sum(line.startswith('case') for line in LINES)} cases")
