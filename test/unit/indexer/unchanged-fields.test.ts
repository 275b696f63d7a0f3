/** States whose fields a shard does not extract again, because the head is unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../../src/base/clock.ts';
import { Extractor } from '../../../src/kube/json/extraction.ts';
import { DeltaFlag, DeltaKind } from '../../../src/shared/record/delta.ts';
import type { ShardSpec } from '../../../src/shared/protocol.ts';
import { pick, seededRandom, wholeNumber } from '../shared/ring/random.ts';
import { ShardTwin } from './shard-twin.ts';

/** All changeable parts as small numbers. */
interface PodState {
  readonly uid: number;
  readonly label: number;
  readonly annotation: number;
  readonly phase: number;
  /** Number of writes of managedFields; 0: there are none. */
  readonly written: number;
}

const FIRST: PodState = { uid: 1, label: 1, annotation: 1, phase: 1, written: 1 };

function podJson(name: string, version: string, state: PodState): string {
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-${state.uid}`,
    resourceVersion: version,
    creationTimestamp: '2026-01-15T10:00:00Z',
    labels: { app: `app-${state.label}` },
    annotations: { note: 'n'.repeat(state.annotation) },
    ...(state.written > 0 ? { managedFields: [{ manager: 'kubelet', time: `${state.written}` }] } : {}),
  };
  const spec = { nodeName: `node-${state.phase}` };
  return JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec, status: { phase: state.phase } });
}

class Scene {
  readonly twin: ShardTwin = new ShardTwin({ hashMask: 1 });
  readonly #extractor: Extractor;
  #version = 0;

  constructor(fields: readonly string[] = []) {
    this.#extractor = new Extractor(fields);
  }

  static async attached(spec: Partial<ShardSpec> = {}): Promise<Scene> {
    const scene = new Scene(spec.fields);
    await scene.twin.attach(spec);
    return scene;
  }

  /**
   * Sends a state; returns true when its record has no fields of its own. Checks the main thread's fields in any case.
   */
  sends(kind: DeltaKind, state: PodState, name = 'web'): boolean {
    const { main } = this.twin;
    const resourceVersion = String(++this.#version);
    const json = podJson(name, resourceVersion, state);
    const before = main.sameExtractions;
    this.twin.deliver({
      kind,
      namespace: 'default',
      name,
      resourceVersion,
      json,
      flags: DeltaFlag.StandardOrder,
    });
    assert.deepEqual(main.last.extracted, this.#extracted(json));
    return main.sameExtractions > before;
  }

  #extracted(json: string): unknown {
    const out = Buffer.alloc(1024);
    const end = this.#extractor.project(Buffer.from(json), 0, Buffer.byteLength(json), out, 0);
    return JSON.parse(out.toString('utf8', 0, end));
  }
}

test('a change of status, version and managedFields needs no new extraction', async () => {
  const scene = await Scene.attached();
  assert.equal(scene.sends(DeltaKind.Added, FIRST), false);
  assert.equal(scene.sends(DeltaKind.Modified, FIRST), false, 'the first change is extracted');
  for (let phase = 2; phase < 12; phase++) {
    assert.equal(scene.sends(DeltaKind.Modified, { ...FIRST, phase, written: phase }), true);
  }
});

test('without managedFields all of metadata is compared', async () => {
  const scene = await Scene.attached();
  const bare = { ...FIRST, written: 0 };
  scene.sends(DeltaKind.Added, bare);
  scene.sends(DeltaKind.Modified, bare);
  assert.equal(scene.sends(DeltaKind.Modified, { ...bare, phase: 2 }), true);
  assert.equal(scene.sends(DeltaKind.Modified, { ...bare, annotation: 2 }), false);
  assert.equal(
    scene.sends(DeltaKind.Modified, { ...FIRST, annotation: 2 }),
    false,
    'managedFields are added',
  );
  assert.equal(scene.sends(DeltaKind.Modified, { ...bare, annotation: 2 }), false, 'they are removed');
  assert.equal(scene.sends(DeltaKind.Modified, { ...bare, annotation: 2, phase: 2 }), true);
});

test('C261 what appears behind managedFields is extracted, although all before them is unchanged', async () => {
  const twin = await ShardTwin.attached({});
  const send = (version: string, behind: string): void => {
    const json = podJson('web', version, FIRST).replace('"kubelet","time":"1"}]', `$&${behind}`);
    const flags = DeltaFlag.StandardOrder;
    twin.deliver({
      kind: DeltaKind.Modified,
      namespace: 'default',
      name: 'web',
      resourceVersion: version,
      json,
      flags,
    });
  };
  send('1', '');
  send('2', '');
  assert.equal(twin.main.sameExtractions, 1);
  send('3', ',"deletionTimestamp":"t"');
  assert.equal(twin.main.sameExtractions, 1);
  assert.equal((twin.main.last.extracted as unknown[])[2], 't');
  // All fields are found behind managedFields, and gone in the next state.
  const all = ',"generation":1,"deletionTimestamp":"t","ownerReferences":[{"controller":true,"uid":"o"}]';
  for (const [version, behind] of [
    ['4', all],
    ['5', all],
    ['6', ''],
  ] as const)
    send(version, behind);
  assert.deepEqual((twin.main.last.extracted as unknown[])[2], null);
});

for (const [changed, fields] of [
  ['uid', []],
  ['label', []],
  ['annotation', []],
  ['annotation', ['metadata.annotations.note']],
] as const) {
  test(`a change of the ${changed} is extracted, and the next state is compared with it: fields [${fields.join()}]`, async () => {
    const scene = await Scene.attached({ fields });
    scene.sends(DeltaKind.Added, FIRST);
    scene.sends(DeltaKind.Modified, FIRST);
    assert.equal(scene.sends(DeltaKind.Modified, { ...FIRST, [changed]: 2 }), false);
    assert.equal(scene.sends(DeltaKind.Modified, { ...FIRST, [changed]: 2 }), true);
    assert.equal(scene.sends(DeltaKind.Modified, FIRST), false);
  });
}

test("with fields outside metadata or a user's transform, every state is extracted", async () => {
  const specs: Partial<ShardSpec>[] = [
    { fields: ['spec.nodeName'] },
    { fields: ['metadata.resourceVersion'] },
    { fields: ['metadata.managedFields'] },
    { drop: ['metadata.labels'] },
    { codec: 'msgpack' },
  ];
  for (const spec of specs) {
    const twin = await ShardTwin.attached(spec);
    for (let version = 1; version < 5; version++) {
      const json = podJson('web', `${version}`, FIRST);
      twin.object({ namespace: 'default', name: 'web', json, flags: DeltaFlag.StandardOrder });
    }
    twin.settle();
    assert.equal(twin.main.sameExtractions, 0, JSON.stringify(spec));
  }
});

test('an object over the size limit is not compared with the state before it', async () => {
  const scene = await Scene.attached();
  scene.sends(DeltaKind.Added, FIRST);
  scene.sends(DeltaKind.Modified, FIRST);
  const flags = DeltaFlag.StandardOrder | DeltaFlag.TooLarge;
  const json = '{"metadata":{"name":"web","namespace":"default","uid":"uid-1","resourceVersion":"9"}}';
  scene.twin.deliver({ namespace: 'default', name: 'web', resourceVersion: '9', json, flags });
  assert.deepEqual(scene.twin.main.last.extracted, ['uid-1', null, null, null, null]);
});

/** Performs one step of a history: a change, a deletion, or a relist that ends, is aborted or is superseded. */
function step(
  scene: Scene,
  random: Random,
  states: Map<string, PodState>,
  epoch: { now: number; isOpen: boolean },
): void {
  const name = `pod-${wholeNumber(random, 0, 2)}`;
  const what = random();
  if (what < 0.04) {
    scene.twin.control(DeltaKind.ReplaceBegin, ++epoch.now);
    epoch.isOpen = true;
  } else if (what < 0.08 && epoch.isOpen) {
    epoch.isOpen = random() < 0.5;
    scene.twin.control(epoch.isOpen ? DeltaKind.ReplaceAbort : DeltaKind.ReplaceEnd, epoch.now, '1');
    // No object comes between an aborted list and the next.
    if (epoch.isOpen) scene.twin.control(DeltaKind.ReplaceBegin, ++epoch.now);
  } else if (what < 0.16) {
    scene.sends(DeltaKind.Deleted, states.get(name) ?? FIRST, name);
  } else {
    const changed = pick(random, ['uid', 'label', 'annotation', 'phase', 'phase', 'written']);
    const least = changed === 'written' ? 0 : 1;
    const state = { ...(states.get(name) ?? FIRST), [changed]: least + wholeNumber(random, 0, 1) };
    states.set(name, state);
    const whole = epoch.isOpen ? DeltaKind.Replaced : DeltaKind.Added;
    scene.sends(random() < 0.2 ? whole : DeltaKind.Modified, state, name);
  }
}

test('random histories leave the right fields of every object in the main thread', async () => {
  let same = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const scene = await Scene.attached();
    const states = new Map<string, PodState>();
    const epoch = { now: 0, isOpen: false };
    try {
      for (let count = 0; count < 600; count++) step(scene, random, states, epoch);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
    same += scene.twin.main.sameExtractions;
  }
  assert.ok(same > 1000, `${same} extractions were unnecessary`);
});
