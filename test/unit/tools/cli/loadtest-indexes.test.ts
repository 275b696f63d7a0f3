/** Flags and environment of an index of a load test. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shareOf } from '../../../../src/tools/cli/loadtest/loadtest-indexes.ts';

describe('the index of a load test', () => {
  it('is the one that an Indexed Job sets, and none without its flags', () => {
    const job = { JOB_COMPLETION_INDEX: '2' };
    assert.deepEqual(shareOf({ run: 'a', indexes: 3 }, job), { name: 'a', index: 2, indexes: 3 });
    assert.equal(shareOf({}, job), undefined);
  });

  it('is refused when flags and environment do not fit', () => {
    const code = 'ERR_KUBELOOM_USAGE';
    for (const flags of [{ run: 'a' }, { indexes: 3 }, { run: '', indexes: 3 }]) {
      assert.throws(() => shareOf(flags, {}), {
        code,
        message: /an index needs both: --run NAME and --indexes/,
      });
    }
    const share = { run: 'a', indexes: 3 };
    assert.throws(() => shareOf(share, {}), { code, message: /JOB_COMPLETION_INDEX is not set: .* 0 to 2/ });
    for (const text of ['3', '-1', 'one', '1.5']) {
      assert.throws(() => shareOf(share, { JOB_COMPLETION_INDEX: text }), { code, message: /is / });
    }
    const reported = { ...share, json: true, html: 'a.html' };
    assert.throws(() => shareOf(reported, { JOB_COMPLETION_INDEX: '0' }), {
      code,
      message: /^--json, --html: /,
    });
  });
});
