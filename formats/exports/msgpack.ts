// MessagePack of lists, numbers, booleans and texts: all that prime-rl's structs hold. A whole number is written as an
// integer, which its reader takes for a float where a float is due; a float32 value as float32.

export type Packable = number | boolean | string | readonly Packable[];

const NEGATIVE_FIX = 0xe0;
const TEXT = new TextEncoder();

export function msgpack(value: Packable): Uint8Array {
  let bytes = new Uint8Array(1 << 16);
  let view = new DataView(bytes.buffer);
  let at = 0;
  put(value);
  return bytes.subarray(0, at);

  function room(size: number): void {
    if (at + size <= bytes.length) return;
    const larger = new Uint8Array(Math.max(bytes.length * 2, at + size));
    larger.set(bytes.subarray(0, at));
    bytes = larger;
    view = new DataView(bytes.buffer);
  }

  /** A type byte, and a whole number of `size` bytes behind it, big-endian. */
  function head(type: number, size: 0 | 1 | 2 | 4 = 0, number = 0): void {
    room(1 + size);
    bytes[at++] = type;
    if (size === 1) view.setUint8(at, number);
    if (size === 2) view.setUint16(at, number);
    if (size === 4) view.setUint32(at, number);
    at += size;
  }

  function put(one: Packable): void {
    if (typeof one === 'boolean') head(one ? 0xc3 : 0xc2);
    else if (typeof one === 'number') putNumber(one);
    else if (typeof one === 'string') putText(TEXT.encode(one));
    else {
      const { length } = one;
      if (length < 16) head(0x90 | length);
      else if (length < 2 ** 16) head(0xdc, 2, length);
      else head(0xdd, 4, length);
      for (const item of one) put(item);
    }
  }

  function putText(text: Uint8Array): void {
    const { length } = text;
    if (length < 32) head(0xa0 | length);
    else if (length < 2 ** 8) head(0xd9, 1, length);
    else if (length < 2 ** 16) head(0xda, 2, length);
    else head(0xdb, 4, length);
    room(length);
    bytes.set(text, at);
    at += length;
  }

  function putNumber(number: number): void {
    const whole = Number.isInteger(number) && !Object.is(number, -0);
    if (whole && number >= 0 && number < 2 ** 7) head(number);
    else if (whole && number >= -32 && number < 0) head(NEGATIVE_FIX | (number + 32));
    else if (whole && number >= 0 && number < 2 ** 8) head(0xcc, 1, number);
    else if (whole && number >= 0 && number < 2 ** 16) head(0xcd, 2, number);
    else if (whole && number >= 0 && number < 2 ** 32) head(0xce, 4, number);
    else if (Math.fround(number) === number) {
      room(5);
      bytes[at] = 0xca;
      view.setFloat32(at + 1, number);
      at += 5;
    } else {
      room(9);
      bytes[at] = 0xcb;
      view.setFloat64(at + 1, number);
      at += 9;
    }
  }
}
