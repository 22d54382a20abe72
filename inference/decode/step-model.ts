// The interface of the decode loop to a model: feed new tokens to some rows, on top of their KV caches, and get the last
// position's logits. Rows are padded on the left. Independent of ONNX.

/** Cached keys and values of a batch; each tensor is [rows, heads, slots, dim], float32, row-major. */
export interface Kv {
  readonly rows: number;
  /** Places per row, padding included. */
  readonly slots: number;
  /** Key and value of layer 0, of layer 1, … */
  readonly tensors: readonly Float32Array[];
}

export interface KvShape {
  readonly tensors: number;
  readonly heads: number;
  readonly dim: number;
}

export interface StepInput {
  readonly rows: number;
  /** New tokens per row. */
  readonly width: number;
  /** rows × width token ids. */
  readonly ids: ArrayLike<number>;
  /** Slots left of each row's first token, in the whole (cached and new) length. */
  readonly pads: ArrayLike<number>;
  /** Null for the first tokens. */
  readonly past: Kv | null;
}

export interface StepOutput {
  /** rows × vocabSize: the logits after each row's last new token. */
  readonly logits: Float32Array;
  /** past plus the new tokens. */
  readonly kv: Kv;
}

export interface StepModel {
  readonly vocabSize: number;
  readonly shape: KvShape;
  step(input: StepInput): Promise<StepOutput>;
}

export interface ModelTraits {
  /** Left padding does not change a row's answer (beyond rounding): rows of different lengths may share a step. */
  readonly padding: boolean;
  /** Padding by multiples of this changes no bit. 0: no such number was found. */
  readonly alignment: number;
  /** … while the whole length is at most this. 0: nothing is proven. */
  readonly exactUpTo: number;
}
