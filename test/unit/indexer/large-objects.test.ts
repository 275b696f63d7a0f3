/** Objects larger than a record, and than the whole ring, that are not in the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotificationFlag } from '../../../src/shared/record/notification.ts';
import { seededRandom, wholeNumber } from '../shared/ring/random.ts';
import { ShardTwin } from './shard-twin.ts';

const { Inline, Msgpack } = NotificationFlag;

test('a transformed object of 32 MiB goes through a ring of 64 KiB, with its neighbours in order', async () => {
  const twin = await ShardTwin.attached(
    { drop: ['spec.gone'] },
    { outBytes: 64 * 1024, logBytes: 40 * 2 ** 20 },
  );
  const json = (name: string, data: string): string =>
    `{"metadata":{"name":"${name}","uid":"u"},"spec":{"gone":1,"data":"${data}"}}`;
  const data = 'abcdefgh'.repeat(2 ** 22);
  twin.object({ name: 'before', json: json('before', 'x') });
  twin.object({ name: 'large', json: json('large', data) });
  twin.deliver({ name: 'after', json: json('after', 'y') });
  assert.deepEqual(
    twin.main.history.map(({ key }) => key),
    ['before', 'large', 'after'],
  );
  const [, large] = twin.main.history;
  assert.ok(large && large.flags & Inline);
  assert.ok(large.bytes.equals(Buffer.from(json('large', data).replace('"gone":1,', ''))));
  assert.ok(twin.main.partsTotal > 32 * 16, `${twin.main.partsTotal} parts`);
});

test('objects of all sizes around the limits of a record arrive complete, under random interleavings', async () => {
  for (const codec of ['json', 'msgpack'] as const) {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed);
      const ringPosition = 2 ** 32 - 8 * wholeNumber(random, 1, 4000);
      const twin = await ShardTwin.attached(
        { codec, drop: ['metadata.managedFields'], fields: ['metadata.name'] },
        {
          outBytes: 4096,
          logBytes: 256 * 1024,
          sequence: 2 ** 32 - 40,
          ringPosition,
        },
      );
      const sent: string[] = [];
      let resourceVersion = 0;
      while (sent.length < 80) {
        // Mostly around the payload of 504 bytes, some over many records, and offered when there is room.
        const size = random() < 0.8 ? wholeNumber(random, 380, 560) : wholeNumber(random, 0, 20_000);
        const metadata = { managedFields: [], name: `n${sent.length}`, uid: 'u' };
        const json = JSON.stringify({ metadata, data: 'd'.repeat(size) });
        const { name } = metadata;
        const record = { name, resourceVersion: String(++resourceVersion), json };
        if (random() < 0.5 && twin.offerObject(record)) sent.push(json);
        else if (random() < 0.3) twin.commit();
        else if (random() < 0.6) twin.work(wholeNumber(random, 1, 5));
        else twin.merge(wholeNumber(random, 1, 5));
      }
      twin.settle();
      const received = twin.main.history.map(({ bytes, flags }) =>
        flags & Msgpack ? JSON.stringify(twin.main.decoder.decode(bytes, 0, bytes.length)) : bytes.toString(),
      );
      assert.deepEqual(
        received,
        sent.map((json) => json.replace('"managedFields":[],', '')),
        `${codec} seed ${seed}`,
      );
      assert.ok(twin.main.history.every(({ flags }) => flags & Inline));
    }
  }
});
