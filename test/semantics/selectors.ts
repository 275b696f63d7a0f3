/** Label and field selectors: on lists, and on watches, where objects begin and cease to match. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Fixture, names, refused } from './fixture.ts';
import type { Target } from './target.ts';
import { brief } from './client.ts';

const MATCHES: ReadonlyArray<readonly [selector: string, expected: readonly string[]]> = [
  ['app=web', ['a', 'b']],
  ['app==web', ['a', 'b']],
  ['app!=web', ['c', 'd']],
  ['app in (web,db)', ['a', 'b', 'c']],
  ['app notin (web)', ['c', 'd']],
  ['app', ['a', 'b', 'c']],
  ['!app', ['d']],
  ['app=web,weight>5', ['b']],
  ['weight<5', ['a']],
  ['app=', []],
  [' app = web , !legacy ', ['b']],
  ['example.com/team=blue', ['c']],
];

export function selectorSemantics(target: () => Promise<Target>): void {
  describe('label selectors', () => {
    const fixture = Fixture.use(target, 'together');

    before(async () => {
      await fixture.create('a', { app: 'web', weight: '1', legacy: 'yes' });
      await fixture.create('b', { app: 'web', weight: '10' });
      await fixture.create('c', { app: 'db', 'example.com/team': 'blue' });
      await fixture.create('d');
    });

    for (const [selector, expected] of MATCHES) {
      it(`${selector} matches ${expected.join(', ') || 'nothing'}`, async () => {
        const query = `labelSelector=${encodeURIComponent(selector)}`;
        assert.deepEqual(names(await fixture.list(query)), expected);
      });
    }
  });
  invalidSelectorSemantics(target);
  movingSemantics(target);
  fieldSelectorSemantics(target);
}

const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const INVALID: ReadonlyArray<readonly [selector: string, message: string]> = [
  ['!!', "unable to parse requirement: found '!', expected: identifier"],
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['=a', "found '=', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a=-b-', `unable to parse requirement: values[0][a]: Invalid value: "-b-": ${VALUE_RULE}`],
];

function invalidSelectorSemantics(target: () => Promise<Target>): void {
  describe('a malformed selector is a 400 that explains the error', () => {
    const fixture = Fixture.use(target);

    for (const [selector, message] of INVALID) {
      it(`label selector ${selector}`, async () => {
        for (const watch of ['', '&watch=1']) {
          const query = `labelSelector=${encodeURIComponent(selector)}${watch}`;
          const answer = await fixture.client.get(fixture.configMaps(query));
          refused(answer, 400, message, 'BadRequest');
        }
      });
    }

    it('field selector without an operator', async () => {
      const answer = await fixture.client.get(fixture.configMaps('fieldSelector=foo'));
      refused(answer, 400, "invalid selector: 'foo'; can't understand 'foo'");
    });

    it('field selector on a field that cannot be selected', async () => {
      const slices = 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice';
      for (const [path, field, why] of [
        [
          fixture.configMaps(),
          'spec.foo',
          '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ],
        [fixture.pods(), 'spec.foo', 'field label not supported: spec.foo'],
        ['/apis/batch/v1/jobs', 'spec.foo', 'field label "spec.foo" not supported for Job'],
        ['/apis/resource.k8s.io/v1/resourceslices', 'spec.foo', `${slices}: spec.foo`],
        ['/api/v1/nodes', 'metadata.namespace', 'field label not supported: metadata.namespace'],
      ] as const) {
        for (const watch of ['', 'watch=1&'])
          refused(await fixture.client.get(`${path}?${watch}fieldSelector=${field}%3D1`), 400, why);
      }
    });
  });

  describe('a field selector', () => {
    const fixture = Fixture.use(target);
    const select = async (path: string, selector: string): Promise<readonly string[]> =>
      names(await fixture.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`));

    it('selects events by the component that they come from, and Pods by an older name of the node', async () => {
      const events = `/api/v1/namespaces/${fixture.namespace}/events`;
      const about = { involvedObject: { namespace: fixture.namespace } };
      const [source, reportingComponent] = [{ component: 'x' }, 'x'];
      await fixture.post(events, { metadata: { name: 'a' }, ...about, source });
      await fixture.post(events, { metadata: { name: 'b' }, ...about, reportingComponent });
      await fixture.post(events, { metadata: { name: 'c' }, ...about, source: { component: 'y' } });
      assert.deepEqual(await select(events, 'source=x'), ['a', 'b']);
      assert.deepEqual(await select(events, 'source!=x'), ['c']);
      const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
      await fixture.post(fixture.pods(), { metadata: { name: 'p' }, spec });
      assert.deepEqual(await select(fixture.pods(), 'spec.host=n,status.podIPs='), ['p']);
    });
  });
}

function movingSemantics(target: () => Promise<Target>): void {
  describe('a watch with a selector', () => {
    const fixture = Fixture.use(target);

    it('sends ADDED when an object begins to match, and DELETED with its old labels when it ceases to', async () => {
      const { metadata } = await fixture.create('moving', { app: 'y' });
      const query = `watch=1&resourceVersion=${metadata.resourceVersion}&labelSelector=app%3Dx`;
      const stream = await fixture.watch(fixture.configMaps(query));
      const label = async (app: string): Promise<string> => {
        const body = { metadata: { labels: { app } } };
        return (await fixture.patch(fixture.configMap('moving'), body)).metadata.resourceVersion;
      };
      await fixture.create('never', { app: 'y' });
      const entered = await label('x');
      await fixture.touch('moving', '1');
      const left = await label('z');
      await fixture.touch('moving', '2');
      const again = await label('x');
      await fixture.delete('moving');

      const events = await stream.take(5);
      assert.deepEqual(events.map(brief), [
        'ADDED moving',
        'MODIFIED moving',
        'DELETED moving',
        'ADDED moving',
        'DELETED moving',
      ]);
      assert.equal(events[0]?.object.metadata.resourceVersion, entered);
      assert.equal(
        events[2]?.object.metadata.resourceVersion,
        left,
        'the revision of the change by which it ceased to match',
      );
      assert.deepEqual(events[2]?.object.metadata.labels, { app: 'x' }, 'the last state that matched');
      assert.equal(events[3]?.object.metadata.resourceVersion, again);
    });
  });
}

function fieldSelectorSemantics(target: () => Promise<Target>): void {
  describe('field selectors', () => {
    const fixture = Fixture.use(target);

    it('select by name, negated and combined', async () => {
      for (const name of ['a', 'b', 'c']) await fixture.create(name);
      const select = async (selector: string): Promise<string[]> =>
        names(await fixture.list(`fieldSelector=${encodeURIComponent(selector)}`));
      assert.deepEqual(await select('metadata.name=b'), ['b']);
      assert.deepEqual(await select('metadata.name==b'), ['b']);
      assert.deepEqual(await select('metadata.name!=b'), ['a', 'c']);
      assert.deepEqual(await select('metadata.name!=b,metadata.name!=c'), ['a']);
      assert.deepEqual(await select(`metadata.namespace=${fixture.namespace},metadata.name=c`), ['c']);
    });

    it('follow the status of a pod', async () => {
      const { metadata } = await fixture.createPod('p');
      const query = `watch=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=status.phase%3DRunning`;
      const stream = await fixture.watch(fixture.pods(query));
      const path = `${fixture.pod('p')}/status`;
      await fixture.patch(path, { status: { phase: 'Running' } });
      assert.equal(brief(await stream.next()), 'ADDED p');
      const running = await fixture.get(fixture.pods('fieldSelector=status.phase%3DRunning'));
      assert.deepEqual(names(running), ['p']);
      const pending = await fixture.get(fixture.pods('fieldSelector=status.phase%3DPending'));
      assert.deepEqual(names(pending), []);
    });
  });
}
