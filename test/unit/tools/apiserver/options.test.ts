/** Tests of the options of the embedded apiserver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveOptions } from '../../../../src/tools/apiserver/store/server-options.ts';

test('an unknown or wrong option of the embedded apiserver is refused by its name', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [
      { allowRemot: true },
      /^options of the embedded apiserver have no "allowRemot": did you mean allowRemote\?$/,
    ],
    [{ port: 65_536 }, /^port must be an integer from 0 to 65535, got 65536$/],
    [{ tls: 'no' }, /^tls must be true or false, got "no"$/],
    [{ expiredWatch: 'gone' }, /^expiredWatch must be 'event' or 'status', got "gone"$/],
    [{ token: 7 }, /^token must be text, got 7$/],
    [{ token: 'a\r\nb' }, /^token must be empty, or a text that a header can carry$/],
    [{ token: 'é' }, /^token must be empty/],
    [{ token: ' ' }, /^token must be empty/],
    [{ resources: 'pods' }, /^resources must be an array of resources/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => resolveOptions(options), { code: 'ERR_KUBELOOM_OPTION', message });
  }
});
