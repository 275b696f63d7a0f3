/** The event scanner: the shortcut for canonical events and the general way agree with JSON.parse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  WatchEventSpans,
  WatchEventType,
  scanWatchEvent,
} from '../../../../src/reflector/transport/watch-event.ts';
import { embed, podObject } from '../../kube/json/objects.ts';
import { ODD, type Json, randomJson, writeJson } from '../../kube/json/random-json.ts';
import { Seeded } from '../../kube/json/seeded.ts';

function scan(text: string): { type: WatchEventType; name: string; object: string } | undefined {
  const { bytes, start, end } = embed(text);
  const spans = new WatchEventSpans();
  if (!scanWatchEvent(bytes, start, end, spans)) return undefined;
  const slice = (from: number, to: number): string => Buffer.from(bytes.slice(from, to)).toString('utf8');
  return {
    type: spans.type,
    name: slice(spans.typeStart, spans.typeEnd),
    object: slice(spans.objectStart, spans.objectEnd),
  };
}

test('every type is found with the exact span of its object', () => {
  const object = JSON.stringify(podObject(1));
  const types: [string, WatchEventType][] = [
    ['ADDED', WatchEventType.Added],
    ['MODIFIED', WatchEventType.Modified],
    ['DELETED', WatchEventType.Deleted],
    ['BOOKMARK', WatchEventType.Bookmark],
    ['ERROR', WatchEventType.Error],
    ['RENAMED', WatchEventType.Unknown],
  ];
  for (const [name, type] of types) {
    assert.deepEqual(scan(`{"type":"${name}","object":${object}}`), { type, name, object });
    assert.deepEqual(scan(`{"type":"${name}","object":${object} } \r`), { type, name, object });
    assert.deepEqual(scan(`{"object":${object},"type":"${name}"}`), { type, name, object });
    assert.deepEqual(scan(` { "type" : "${name}" , "object" : ${object} }`), { type, name, object });
  }
});

test('a canonical event is not scanned: its object may be anything between the braces', () => {
  assert.deepEqual(scan('{"type":"ADDED","object":{"broken":]}}')?.object, '{"broken":]}');
});

test('bytes that are no watch event are refused', () => {
  const refused = [
    '',
    '{}',
    'null',
    'garbage',
    '{"type":"ADDED"}',
    '{"object":{}}',
    '{"type":"ADDED","object":null}',
    '{"type":"ADDED","object":[]}',
    '{"type":5,"object":{}}',
    '{"type":"ADDED","object":{}',
    '{"type":"ADDED","object":{"a":1',
    '{"type":"ADDED","object":',
    '{"type":"ADDED","object":{}]',
    '[{"type":"ADDED","object":{}}]',
    '{"kind":"Status","code":500}',
  ];
  for (const text of refused) assert.equal(scan(text), undefined, text);
});

test('spans of an earlier event are reset', () => {
  const spans = new WatchEventSpans();
  const first = Buffer.from('{"type":"DELETED","object":{"a":1}}');
  assert.equal(scanWatchEvent(first, 0, first.length, spans), true);
  const second = Buffer.from('{"object":{}}');
  assert.equal(scanWatchEvent(second, 0, second.length, spans), false);
});

test('random events in any order agree with JSON.parse', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = new Seeded(seed);
    const object: Json = { a: randomJson(random), metadata: randomJson(random) };
    const members: [string, Json][] = [
      ['type', random.pick(['ADDED', 'MODIFIED', 'DELETED'])],
      ['object', object],
    ];
    const event = Object.fromEntries([['extra', randomJson(random)], ...random.shuffle(members)]);
    const text = writeJson(event, random, ODD);
    const found = scan(text);
    assert.deepEqual(found && JSON.parse(found.object), object, `seed ${seed}: ${text}`);
  }
});
