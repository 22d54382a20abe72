"""The model as an ONNX graph of plain opset-17 operators, with a key-value cache.

Weights are stored as float16 and cast to float32 when the session loads; inputs, outputs and arithmetic are float32.
Rows may be padded on either side: attention_mask and position_ids say where a row's tokens are."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.constants, self.count = [], [], {}, 0

    def op(self, kind, inputs, outputs=1, names=None, **attributes):
        self.count += 1
        names = names or [f"{kind}_{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind}_{self.count}", **attributes))
        return names if len(names) > 1 else names[0]

    def weight(self, name, array):
        half = np.asarray(array, order="C").astype(np.float16)
        self.weights.append(numpy_helper.from_array(half, name + ".f16"))
        return self.op("Cast", [name + ".f16"], names=[name], to=TensorProto.FLOAT)

    def table(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype=np.float32, order="C"), name))
        return name

    def const(self, value, dtype=np.int64):
        k = (str(value), dtype)
        if k not in self.constants:
            self.constants[k] = f"const_{len(self.constants)}"
            self.weights.append(numpy_helper.from_array(np.array(value, dtype=dtype), self.constants[k]))
        return self.constants[k]


def build_graph(tensors, config):
    """tensors: the state dict as numpy arrays; config: config.json"""
    H, KV, D, E, layers, I = (config[k] for k in (
        "num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size", "num_hidden_layers", "intermediate_size"))
    G, g, f32 = H // KV, Graph(), np.float32
    op, c, weight = g.op, g.const, g.weight

    embed = weight("embed", tensors["model.embed_tokens.weight"])
    x = op("Gather", [embed, "input_ids"])
    frequencies = (1 / config["rope_theta"] ** (np.arange(0, D, 2, dtype=f32) / f32(D))).astype(f32)
    angles = np.outer(np.arange(config["max_position_embeddings"], dtype=f32), frequencies)
    cos, sin = (op("Unsqueeze", [op("Gather", [g.table(n, t), "position_ids"]), c([2])])
                for n, t in (("cos", np.cos(angles)), ("sin", np.sin(angles))))

    # a query sees the keys up to its own place, as far as the mask allows: B,1,1,T,S
    T = op("Gather", [op("Shape", ["input_ids"]), c(1)], axis=0)
    S = op("Gather", [op("Shape", ["attention_mask"]), c(1)], axis=0)
    keys, queries = op("Range", [c(0), S, c(1)]), op("Range", [op("Sub", [S, T]), S, c(1)])
    causal = op("LessOrEqual", [keys, op("Unsqueeze", [queries, c([1])])])
    allowed = op("Unsqueeze", [op("Cast", ["attention_mask"], to=TensorProto.BOOL), c([1, 2])])
    bias = op("Unsqueeze", [op("Where", [op("And", [causal, allowed]), c(0, f32), c(-1e9, f32)]), c([1])])
    T1, S1 = op("Unsqueeze", [T, c([0])]), op("Unsqueeze", [S, c([0])])

    def norm(x, name):
        variance = op("ReduceMean", [op("Mul", [x, x])], axes=[-1], keepdims=1)
        scale = op("Sqrt", [op("Add", [variance, c(config["rms_norm_eps"], f32)])])
        return op("Mul", [op("Div", [x, scale]), weight(name, tensors[name])])

    def attention(n, i):
        a = f"model.layers.{i}.self_attn."
        qkv = op("MatMul", [n, weight(a + "qkv", np.concatenate([tensors[a + k + "_proj.weight"] for k in "qkv"]).T)])
        qk, v = op("Split", [qkv, c([(H + KV) * D, KV * D])], 2, axis=2)
        low, high = op("Split", [op("Reshape", [qk, c([0, 0, H + KV, D])]), c([D // 2, D // 2])], 2, axis=3)
        qk = op("Concat", [op("Sub", [op("Mul", [low, cos]), op("Mul", [high, sin])]),
                           op("Add", [op("Mul", [high, cos]), op("Mul", [low, sin])])], axis=3)
        q, k = op("Split", [op("Transpose", [qk], perm=[0, 2, 1, 3]), c([H, KV])], 2, axis=1)
        v = op("Transpose", [op("Reshape", [v, c([0, 0, KV, D])])], perm=[0, 2, 1, 3])
        k = op("Concat", [f"past_key_values.{i}.key", k], names=[f"present.{i}.key"], axis=2)
        v = op("Concat", [f"past_key_values.{i}.value", v], names=[f"present.{i}.value"], axis=2)
        # the query heads that share a key head become rows of one matrix: B,KV,G*T,D
        q = op("Reshape", [op("Mul", [q, c(D ** -.5, f32)]), c([0, KV, -1, D])])
        s = op("MatMul", [q, op("Transpose", [k], perm=[0, 1, 3, 2])])
        s = op("Reshape", [s, op("Concat", [c([0, KV, G]), T1, S1], axis=0)])
        s = op("Softmax", [op("Add", [s, bias])], axis=-1)
        s = op("Reshape", [s, op("Concat", [c([0, KV, -1]), S1], axis=0)])
        o = op("Reshape", [op("MatMul", [s, v]), op("Concat", [c([0, H]), T1, c([D])], axis=0)])
        o = op("Reshape", [op("Transpose", [o], perm=[0, 2, 1, 3]), c([0, 0, H * D])])
        return op("MatMul", [o, weight(a + "o", tensors[a + "o_proj.weight"].T)])

    def mlp(n, i):
        m = f"model.layers.{i}.mlp."
        both = op("MatMul", [n, weight(m + "gate_up", np.concatenate(
            [tensors[m + "gate_proj.weight"], tensors[m + "up_proj.weight"]]).T)])
        gate, up = op("Split", [both, c([I, I])], 2, axis=2)
        y = op("Mul", [op("Mul", [gate, op("Sigmoid", [gate])]), up])
        return op("MatMul", [y, weight(m + "down", tensors[m + "down_proj.weight"].T)])

    for i in range(layers):
        x = op("Add", [x, attention(norm(x, f"model.layers.{i}.input_layernorm.weight"), i)])
        x = op("Add", [x, mlp(norm(x, f"model.layers.{i}.post_attention_layernorm.weight"), i)])
    op("MatMul", [norm(x, "model.norm.weight"), op("Transpose", [embed], perm=[1, 0])], names=["logits"])

    def value(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, ["batch_size", *shape])

    inputs = [value("input_ids", ["sequence_length"], TensorProto.INT64),
              value("attention_mask", ["total_sequence_length"], TensorProto.INT64),
              value("position_ids", ["sequence_length"], TensorProto.INT64)]
    outputs = [value("logits", ["sequence_length", config["vocab_size"]])]
    for i in range(layers):
        for t in ("key", "value"):
            inputs.append(value(f"past_key_values.{i}.{t}", [KV, "past_sequence_length", D]))
            outputs.append(value(f"present.{i}.{t}", [KV, "total_sequence_length", D]))
    model = helper.make_model(helper.make_graph(g.nodes, "tiny", inputs, outputs, g.weights),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="onnx_graph.py")
    onnx.checker.check_model(model, full_check=True)
    return model
