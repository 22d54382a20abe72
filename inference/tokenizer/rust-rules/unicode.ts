// Where the Rust tokenizers know less of Unicode than Node does, as sets of code points: their normalisation is that
// of Unicode 12.0, the classes of their regular expressions are those of Unicode 16, and BERT's classes older still.
// test/inference/rust-rules.test.ts compares each of these code points.

/** Characters since Unicode 12.1 that combine, decompose or compose: to Rust they are letters like any other. */
const NORMALISED_SINCE_12 =
  '7fd 897-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1add 1ae0-1aeb 1df6-1dfa 32ff a7f1-a7f4 a82c ab69 105c9 105d2 105da ' +
  '105e4 10781-10785 10787-107b0 107b2-107ba 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10efb 10efd-10eff 10f46-10f50 ' +
  '10f82-10f85 11070 1133b 11382-11385 1138b 1138e 11390-11391 113b8 113bb 113c2 113c5 113c7-113c9 113ce-113d0 1145e ' +
  '11839-1183a 11930 11935 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42 11d44-11d45 11d97 11f41-11f42 ' +
  '1611e-16129 1612f 16d63 16d67-16d6a 16ff0-16ff1 1ccd6-1ccf9 1e030-1e06d 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef ' +
  '1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5 1f16c 1fbf0-1fbf9';

/** Characters new in Unicode 17: to Rust they are of no class. */
const NEW_IN_17 =
  '88f c5c cdc 1acf-1add 1ae0-1aeb 20c1 2b96 a7ce-a7cf a7d2 a7d4 a7f1 fbc3-fbd2 fd90-fd91 fdc8-fdce 10940-10959 ' +
  '10ec5-10ec7 10ed0-10ed8 10efa-10efb 11b60-11b67 11db0-11ddb 11de0-11de9 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 ' +
  '187f8-187ff 18d09-18d1e 18d80-18df2 1ccfa-1ccfc 1ceba-1ced0 1cee0-1cef0 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff ' +
  '1f6d8 1f777-1f77a 1f8d0-1f8d8 1fa54-1fa57 1fa8a 1fa8e 1fac8 1facd 1faea 1faef 1fbfa 2b73a-2b73f 2cea2-2cead ' +
  '323b0-33479';

/** Marks (Mn) that stay where BERT strips accents. */
const NEW_MARKS =
  '7fd 897-89f 8ca-8e1 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1885-1886 1abf-1add 1ae0-1aeb ' +
  '1df6-1dfb a82c a8c5 a8ff a9bd 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10eff 10f46-10f50 10f82-10f85 11070 ' +
  '11073-11074 110c2 111c9 111cf 1123e 11241 1133b 113bb-113c0 113ce 113d0 113d2 113e1-113e2 11438-1143f ' +
  '11442-11444 11446 1145e 1182f-11837 11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db 119e0 ' +
  '11a01-11a0a 11a33-11a38 11a3b-11a3e 11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11b60 11b62-11b64 ' +
  '11b66 11c30-11c36 11c38-11c3d 11c3f 11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a ' +
  '11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 11ef3-11ef4 11f00-11f01 11f36-11f3a 11f40 11f42 11f5a ' +
  '13440 13447-13455 1611e-16129 1612d-1612f 16f4f 16fe4 1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 ' +
  '1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 ' +
  '1e6ee-1e6ef 1e6f5 1e944-1e94a';

/** Punctuation that is a letter like any other. */
const NEW_PUNCTUATION =
  '61d 9fd a76 c77 c84 1b4e-1b4f 1b7d-1b7f 2e43-2e4f 2e52-2e5d 10d6e 10ead 10f55-10f59 10f86-10f89 ' +
  '113d4-113d5 113d7-113d8 1144b-1144f 1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 11a3f-11a46 ' +
  '11a9a-11a9c 11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f 11fff 12ff1-12ff2 ' +
  '16d6d-16d6f 16e97-16e9a 16fe2 1e5ff 1e95e-1e95f';

/** Format characters (Cf) that BERT keeps. */
const NEW_FORMATS = '890-891 8e2 110cd 13430-1343f';

const normalisedSince12 = new RegExp(classOf(NORMALISED_SINCE_12), 'u');
const newIn17 = new RegExp(classOf(NEW_IN_17), 'u');
const eachNormalisedSince12 = new RegExp(`(${normalisedSince12.source})`, 'u');
const eachNewIn17 = new RegExp(newIn17.source, 'gu');

// The characters named outright were marks and punctuation once.
export const ACCENT = new RegExp(`[\\u1734\\u{1171e}]|(?!${classOf(NEW_MARKS)})\\p{Mn}`, 'gu');
export const PUNCTUATION = new RegExp(`[\\u166d\\u{111c9}]|(?!${classOf(NEW_PUNCTUATION)})[\\p{P}!-/:-@[-\`{-~]`, 'gu');
export const CONTROL = new RegExp(`^(?!${classOf(NEW_FORMATS)})[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]$`, 'u');

function classOf(ranges: string): string {
  const all = ranges.split(' ').map((range) =>
    range
      .split('-')
      .map((code) => `\\u{${code}}`)
      .join('-'),
  );
  return `[${all.join('')}]`;
}

export type Form = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** A character that Rust does not know stays, and nothing moves or joins across it. */
export function normaliseAsRust(text: string, form: Form): string {
  if (!normalisedSince12.test(text)) return text.normalize(form);
  const parts = text.split(eachNormalisedSince12);
  return parts.map((part, i) => (i % 2 === 0 ? part.normalize(form) : part)).join('');
}

/** The same text for a regular expression: characters new to Rust are replaced by unassigned ones of their length. */
export function withoutNewCharacters(text: string): string {
  if (!newIn17.test(text)) return text;
  return text.replace(eachNewIn17, (char) => (char.length === 1 ? '\u0378' : '\u{e0080}'));
}

/** White space as Rust, and not as JavaScript, has it: with U+0085 and without U+FEFF. */
export function trimStartAsRust(text: string): string {
  return text.replace(/^\p{White_Space}+/u, '');
}

export function trimEndAsRust(text: string): string {
  const end = text.search(/\p{White_Space}+$/u);
  return end < 0 ? text : text.slice(0, end);
}
