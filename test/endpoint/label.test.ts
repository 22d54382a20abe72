// What a program says of a call beside its request: its model, its tag, and whether it is trained.

import { describe, expect, test } from 'vitest';
import { callLabel } from '../../endpoint/label.ts';

describe('the label of a call', () => {
  test.each([
    ['the model that it asks for', {}, { model: 'small' }, { model: 'small' }],
    [
      'a tag of a header, before all others',
      { 'x-everturn-tag': ' main ' },
      { metadata: { tag: 'x' } },
      { tag: 'main' },
    ],
    ['a tag of the metadata, before the user', {}, { metadata: { tag: 'title' }, user: 'user-7' }, { tag: 'title' }],
    ['its user', {}, { user: 'user-7' }, { tag: 'user-7' }],
    ['no user that is no tag', {}, { user: 'x'.repeat(101), metadata: { user_id: 'y' } }, {}],
    ['no user that steers a terminal', {}, { user: 'a\u001b[31m' }, {}],
    ['half a character as its sign', {}, { model: 'a\ud800', user: 'b\udc00' }, { model: 'a\ufffd', tag: 'b\ufffd' }],
    ['that it is not trained', { 'x-everturn-train': '0' }, {}, { train: false }],
    ['nothing of one that is', { 'x-everturn-train': '1' }, { model: 7, metadata: null, user: '' }, {}],
  ])('has %s', (_, headers, body, label) => {
    expect(callLabel(headers, body)).toEqual(label);
  });

  test.each([
    ['x-everturn-train', { 'x-everturn-train': 'no' }, {}],
    ['x-everturn-tag', { 'x-everturn-tag': 'x'.repeat(101) }, {}],
    ['x-everturn-tag', { 'x-everturn-tag': ' ' }, {}],
    ['metadata.tag', {}, { metadata: { tag: 7 } }],
    ['metadata.tag', {}, { metadata: { tag: 'a\u001b[31m' } }],
  ])('is refused for a wrong %s', (field, headers, body) => {
    expect(() => callLabel(headers, body)).toThrow(expect.objectContaining({ reason: 'malformed', field }));
  });
});
