/** Tests of mapping kinds and names to collections: by the table of built-in kinds, and by the server's discovery. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RestMapper, findResource } from '../../../src/kube/rest-mapper.ts';
import type { KindLike } from '../../../src/kube/rest-mapper.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';

const VERBS = ['get', 'list', 'watch'];

function entry(name: string, kind: string, ...shortNames: readonly string[]): object {
  return { name, kind, singularName: kind.toLowerCase(), namespaced: true, verbs: VERBS, shortNames };
}

function group(name: string, ...versions: readonly string[]): object {
  return {
    name,
    versions: versions.map((version) => ({ version })),
    preferredVersion: { version: versions[0] },
  };
}

class Discovery {
  readonly asked: string[] = [];
  readonly documents: Record<string, unknown> = {
    '/api/v1': { resources: [entry('pods', 'Pod', 'po'), entry('events', 'Event', 'ev')] },
    '/apis': {
      groups: [
        group('zoo.example.com', 'v2', 'v1'),
        group('farm.example.com', 'v1'),
        group('events.k8s.io', 'v1'),
        group('autoscaling', 'v2', 'v1'),
        group('metrics.example.com', 'v1'),
      ],
    },
    '/apis/zoo.example.com/v2': { resources: [entry('cats', 'Cat', 'c', 'pod'), entry('dogs', 'Dog', 'd')] },
    '/apis/zoo.example.com/v1': { resources: [entry('cats', 'Cat', 'c'), entry('emus', 'Emu')] },
    '/apis/farm.example.com/v1': { resources: [entry('dogs', 'Dog'), entry('cows', 'Cow', 'c')] },
    '/apis/events.k8s.io/v1': { resources: [entry('events', 'Event', 'ev')] },
    '/apis/autoscaling/v1': {
      resources: [entry('horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'hpa')],
    },
    '/apis/autoscaling/v2': {
      resources: [entry('horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'hpa')],
    },
    '/apis/metrics.example.com/v1': {
      resources: [entry('pods', 'PodMetrics'), { ...entry('samples', 'Sample'), verbs: ['get'] }],
    },
  };
  readonly clock: FakeClock = new FakeClock();
  readonly getJson = (path: string): Promise<unknown> => {
    this.asked.push(path);
    const document = this.documents[path];
    return document ? Promise.resolve(document) : Promise.reject(new Error(`404 ${path}`));
  };
  readonly mapper: RestMapper = new RestMapper({
    getJson: this.getJson,
    clock: this.clock,
    refreshIntervalMs: 10_000,
  });

  async found(kind: KindLike): Promise<string> {
    const { resource, version, group: name } = await this.mapper.resourceFor(kind);
    return `${resource}.${version}.${name}`;
  }
}

describe('built-in kinds', () => {
  const cases: [KindLike, string][] = [
    [{ group: '', version: 'v1', kind: 'Pod' }, 'pods.v1.'],
    [{ kind: 'Pod' }, 'pods.v1.'],
    [{ kind: 'Event' }, 'events.v1.'],
    [{ kind: 'Event', group: 'events.k8s.io' }, 'events.v1.events.k8s.io'],
    [{ resource: 'deployments' }, 'deployments.v1.apps'],
    [{ resource: 'horizontalpodautoscalers', version: 'v1' }, 'horizontalpodautoscalers.v1.autoscaling'],
    ['pods', 'pods.v1.'],
    ['Pod', 'pods.v1.'],
    ['pods.v1', 'pods.v1.'],
    ['deployments.apps', 'deployments.v1.apps'],
    ['deployments.v1.apps', 'deployments.v1.apps'],
    ['deployment', 'deployments.v1.apps'],
  ];
  for (const [kind, resource] of cases) {
    test(`need no request: ${JSON.stringify(kind)}`, async () => {
      const discovery = new Discovery();
      assert.equal(await discovery.found(kind), resource);
      assert.deepEqual(discovery.asked, []);
    });
  }

  test('with several versions need a request, for the one that the server prefers', async () => {
    const discovery = new Discovery();
    assert.equal(
      await discovery.found({ kind: 'HorizontalPodAutoscaler' }),
      'horizontalpodautoscalers.v2.autoscaling',
    );
    assert.ok(discovery.asked.includes('/apis'));
  });

  test('with a full description need no request', async () => {
    const discovery = new Discovery();
    const ref = { group: 'g', version: 'v1', resource: 'things', kind: 'Thing', isNamespaced: false };
    assert.equal(await discovery.mapper.resourceFor(ref), ref);
    assert.deepEqual(discovery.asked, []);
  });
});

describe('discovered kinds', () => {
  const cases: [KindLike, string][] = [
    [{ kind: 'Cat', group: 'zoo.example.com' }, 'cats.v2.zoo.example.com'],
    [{ kind: 'Cat', group: 'zoo.example.com', version: 'v1' }, 'cats.v1.zoo.example.com'],
    [{ kind: 'Cat' }, 'cats.v2.zoo.example.com'],
    [{ resource: 'emus' }, 'emus.v1.zoo.example.com'],
    ['cat', 'cats.v2.zoo.example.com'],
    ['dogs.farm.example.com', 'dogs.v1.farm.example.com'],
    ['dogs.v1.farm.example.com', 'dogs.v1.farm.example.com'],
    ['po', 'pods.v1.'],
    ['ev', 'events.v1.'],
    ['ev.events.k8s.io', 'events.v1.events.k8s.io'],
    ['d', 'dogs.v2.zoo.example.com'],
    ['podmetrics', 'pods.v1.metrics.example.com'],
  ];
  for (const [kind, resource] of cases) {
    test(`are found by ${JSON.stringify(kind)}`, async () => {
      assert.equal(await new Discovery().found(kind), resource);
    });
  }

  test('rank below built-in ones: a plural or kind of the core group keeps its meaning', async () => {
    const discovery = new Discovery();
    await discovery.mapper.refresh();
    assert.equal(await discovery.found('pods'), 'pods.v1.');
    assert.equal(
      await discovery.found('pod'),
      'pods.v1.',
      'a custom resource with the same short name changes nothing',
    );
  });

  test('in several groups are an error that names them', async () => {
    const discovery = new Discovery();
    for (const [kind, names] of [
      ['c', 'cats.zoo.example.com, cows.farm.example.com'],
      ['dogs', 'dogs.zoo.example.com, dogs.farm.example.com'],
      [{ kind: 'Dog' }, 'dogs.zoo.example.com, dogs.farm.example.com'],
    ] as const) {
      const ambiguous = {
        code: 'ERR_KUBELOOM_AMBIGUOUS_RESOURCE',
        message: new RegExp(`${names}: add the group`),
      };
      await assert.rejects(discovery.mapper.resourceFor(kind), ambiguous);
    }
  });

  test('that cannot be watched are rejected', async () => {
    const { mapper } = new Discovery();
    await assert.rejects(mapper.resourceFor('samples'), { code: 'ERR_KUBELOOM_NOT_WATCHABLE' });
  });

  test('of one group are found when another cannot be read, which the error for unknown ones names', async () => {
    const discovery = new Discovery();
    delete discovery.documents['/apis/farm.example.com/v1'];
    assert.equal(await discovery.found('emus'), 'emus.v1.zoo.example.com');
    await assert.rejects(discovery.mapper.resourceFor('cows'), {
      code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE',
      message: /farm\.example\.com\/v1: 404/,
    });
  });

  test('that were found stay known while their group cannot be read', async () => {
    const discovery = new Discovery();
    assert.equal(await discovery.found('cows'), 'cows.v1.farm.example.com');
    delete discovery.documents['/apis/farm.example.com/v1'];
    await discovery.mapper.refresh();
    assert.equal(await discovery.found('cows'), 'cows.v1.farm.example.com');
  });
});

describe('refreshing', () => {
  test('happens after a miss, at most once an interval, and once for concurrent callers', async () => {
    const discovery = new Discovery();
    const { mapper, asked, clock, documents } = discovery;
    assert.equal(mapper.find('emus'), undefined, 'no request was made yet');
    await Promise.all([mapper.resourceFor('emus'), mapper.resourceFor('cows'), mapper.resourceFor('cats')]);
    const round = asked.length;
    assert.equal(new Set(asked).size, round);
    assert.equal(mapper.find('emus')?.kind, 'Emu');
    const unknown = { code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE' };
    await assert.rejects(mapper.resourceFor('yaks'), unknown);
    assert.equal(asked.length, round, 'a refresh was just done');
    documents['/apis/farm.example.com/v1'] = { resources: [entry('yaks', 'Yak')] };
    clock.advance(9999);
    await assert.rejects(mapper.resourceFor('yaks'), unknown);
    clock.advance(1);
    assert.equal((await mapper.resourceFor('yaks')).kind, 'Yak');
    assert.equal(asked.length, 2 * round);
    assert.equal(mapper.find('cows'), undefined, 'removes deleted resources');
  });

  test('that fails rejects with its error, and is retried at once', async () => {
    const discovery = new Discovery();
    const groups = discovery.documents['/apis'];
    delete discovery.documents['/apis'];
    await assert.rejects(discovery.mapper.resourceFor('emus'), /404 \/apis/);
    discovery.documents['/apis'] = groups;
    assert.equal(await discovery.found('emus'), 'emus.v1.zoo.example.com');
  });
});

test('a value that cannot be a kind is rejected', async () => {
  const { mapper, asked } = new Discovery();
  for (const kind of ['', '.', 'pods.', {}, { kind: '' }, { kind: 'Pod', group: 7 }, undefined, 7]) {
    await assert.rejects(mapper.resourceFor(kind as KindLike), { code: 'ERR_KUBELOOM_OPTION' });
  }
  assert.deepEqual(asked, []);
  const refused = { code: 'ERR_KUBELOOM_OPTION' };
  const getJson = (): Promise<unknown> => Promise.resolve({});
  assert.throws(() => new RestMapper({ getJson, refreshIntervalMs: Number.NaN }), refused);
});

describe("the server's resource of a name", () => {
  /** Documents in which a node has no singular name, and a group cannot be read. */
  function server(): Discovery {
    const discovery = new Discovery();
    const node = { name: 'nodes', kind: 'Node', namespaced: false, verbs: VERBS };
    const binding = { ...entry('bindings', 'Binding'), verbs: ['create'] };
    const core = [
      entry('pods', 'Pod', 'po'),
      entry('pods/status', 'Pod'),
      entry('events', 'Event'),
      node,
      binding,
    ];
    discovery.documents['/api/v1'] = { resources: core };
    delete discovery.documents['/apis/metrics.example.com/v1'];
    return discovery;
  }

  for (const [name, resource] of [
    ...['pods', 'pod', 'po', 'Pod', 'PODS', 'pods.v1'].map((each) => [each, 'pods.v1.']),
    ['node', 'nodes.v1.'],
    ...['cat', 'Cat', 'cats.zoo.example.com'].map((each) => [each, 'cats.v2.zoo.example.com']),
    ['c.zoo.example.com', 'cats.v2.zoo.example.com'],
    ['cats.v1.zoo.example.com', 'cats.v1.zoo.example.com'],
    ['emus', 'emus.v1.zoo.example.com'],
    ['events', 'events.v1.'],
    ['events.events.k8s.io', 'events.v1.events.k8s.io'],
    ['dogs', 'dogs.v2.zoo.example.com'],
  ]) {
    test(`is ${resource} for ${name}`, async () => {
      const found = await findResource(String(name), server().getJson);
      assert.equal(`${found.resource}.${found.version}.${found.group}`, resource);
      assert.deepEqual(Object.keys(found), ['group', 'version', 'resource', 'kind', 'isNamespaced']);
    });
  }

  test('is unknown when the server lacks it, though it is built in, and the error has name and unread groups', async () => {
    for (const name of ['secrets', 'pods.apps', 'cats.v3.zoo.example.com', 'pods/status', '']) {
      await assert.rejects(findResource(name, server().getJson), {
        code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE',
        message: new RegExp(`no resource "${name}".* metrics\\.example\\.com/v1: 404`),
      });
    }
  });

  test('is rejected when it can be neither listed nor watched', async () => {
    await assert.rejects(findResource('bindings', server().getJson), { code: 'ERR_KUBELOOM_NOT_WATCHABLE' });
  });

  test("is the server's error when the server cannot be reached, and unknown for malformed documents", async () => {
    await assert.rejects(
      findResource('pods', () => Promise.reject(new Error('no'))),
      /^Error: no$/,
    );
    for (const document of [null, [], 'text', { resources: [null, 7, {}] }, { groups: 'none' }]) {
      const found = findResource('pods', () => Promise.resolve(document));
      await assert.rejects(found, { code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE' });
    }
  });
});
