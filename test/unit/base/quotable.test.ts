/** The parts of a server's answer that a message may quote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityText, quotableText } from '../../../src/base/quotable.ts';

const LIST = JSON.stringify({
  kind: 'SecretList',
  metadata: { resourceVersion: '9' },
  items: [
    { metadata: { name: 'a', labels: { x: 'y' } }, data: { password: 'aHVudGVyMg==', list: ['b', 'c'] } },
    { metadata: { name: 'b' }, data: { certificate: 'QUJD'.repeat(200) } },
  ],
});

test('C188 no part of a list of Secrets is quoted, wherever it was cut', () => {
  for (let start = 0; start < LIST.length - 100; start++)
    for (const end of [start + 100, LIST.length])
      assert.equal(quotableText(LIST.slice(start, end)), undefined, LIST.slice(start, end));
});

test('C188 a JSON text, an array of texts, and encoded data are not quoted', () => {
  for (const answer of ['"hunter2"', ' ["hunter2"]', '\n{', 'QUJD'.repeat(30), 'hunter2", "hunter3"]'])
    assert.equal(quotableText(answer), undefined, answer);
});

test('the text or page of a proxy is quoted, shortened and without credentials', () => {
  const text = 'upstream connect error: reset before headers';
  assert.equal(quotableText(` ${text}\n`), text);
  assert.equal(quotableText(''), '');
  const page = '<!DOCTYPE html><style>a { color: red }</style>Bad gateway';
  assert.equal(quotableText(page), page);
  assert.equal(quotableText(`<html>${'x '.repeat(500)}`)?.length, 301);
  assert.equal(quotableText('you sent Bearer abcdefgh12345'), 'you sent Bearer [hidden]');
});

test('C188 an object is described by texts that identify it, and by no other member', () => {
  assert.equal(
    identityText({ kind: { data: 'x' }, name: 'a'.repeat(90), type: 7 }),
    `{"name":"${'a'.repeat(80)}"}`,
  );
  assert.equal(identityText({ kind: undefined, name: null }), '');
});
