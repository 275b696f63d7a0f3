/** Secrets of connections in messages of errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeloomError } from '../../../src/base/errors.ts';
import { parseJson } from '../../../src/base/parse-json.ts';
import { hideSecrets, keepSecrets } from '../../../src/base/secrets.ts';

test('C270 a secret is hidden wherever a message has it, in each of its forms, and nothing else is', () => {
  keepSecrets(['s3cr3t/"one"', 's3cr3t/"one" and more', 'x']);
  const forms = ['s3cr3t/"one"', 's3cr3t/\\"one\\"', encodeURIComponent('s3cr3t/"one"')];
  for (const form of [...forms, Buffer.from('s3cr3t/"one"').toString('base64')])
    assert.equal(hideSecrets(`x: ${form}, <${form}>`), 'x: [hidden], <[hidden]>');
  assert.equal(hideSecrets('s3cr3t/"one" and more'), '[hidden]');
  assert.equal(
    new KubeloomError('ERR_KUBELOOM_HTTP', 'the server says s3cr3t/"one"').message,
    'the server says [hidden]',
  );
});

test('C270 text that is not JSON is undefined, and no error quotes it', () => {
  assert.deepEqual(parseJson('{"a":[1]}'), { a: [1] });
  for (const text of ['', '{', '{"a":c4n4ry}', 'undefined']) assert.equal(parseJson(text), undefined);
});

test('the oldest secrets are forgotten when a thousand connections have others', () => {
  keepSecrets(['the first one']);
  for (let number = 0; number < 1000; number++) keepSecrets([`secret number ${number}`]);
  assert.equal(hideSecrets('the first one, secret number 7;'), 'the first one, [hidden];');
});
