/** The subresources `binding` and `eviction` of a Pod. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function podActionSemantics(target: () => Promise<Target>): void {
  describe('a Binding', () => {
    const fixture = Fixture.use(target, 'together');
    const bind = (name: string, rest: object): Promise<Answer> =>
      fixture.client.post(`${fixture.pod(name)}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        ...rest,
      });

    it('assigns a Pod to a node, once', async () => {
      await fixture.createPod('bound');
      const to = { target: { kind: 'Node', name: 'node-1' } };
      const answer = await bind('bound', to);
      assert.equal(answer.status, 201);
      assert.equal(answer.body.kind, 'Status');
      const { metadata, spec, status } = await fixture.get(fixture.pod('bound'));
      assert.equal(metadata.generation, 1);
      assert.equal(spec?.['nodeName'], 'node-1');
      const { conditions } = status as { readonly conditions: readonly { type: string; status: string }[] };
      assert.ok(conditions.some((each) => each.type === 'PodScheduled' && each.status === 'True'));
      const again = await bind('bound', to);
      const message =
        'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "node-1"';
      refused(again, 409, message);
    });

    it('of an absent Pod is 404, and of another name 400', async () => {
      assert.equal((await bind('absent', { target: { name: 'n' } })).status, 404);
      await fixture.createPod('named');
      const other = await bind('named', { metadata: { name: 'other' }, target: { name: 'n' } });
      assert.equal(other.body.message, 'name in URL does not match name in Binding object');
    });
  });

  describe('an Eviction', () => {
    const fixture = Fixture.use(target, 'together');
    const evict = (name: string, query = ''): Promise<Answer> =>
      fixture.client.post(`${fixture.pod(name)}/eviction${query}`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
      });
    const budget = (): string =>
      `/apis/policy/v1/namespaces/${fixture.namespace}/poddisruptionbudgets/budget`;
    const setBudget = (status: object): Promise<Answer> =>
      fixture.client.mergePatch(`${budget()}/status`, { status });
    before(async () => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } };
      await fixture.post(budget().replace(/\/budget$/, ''), { metadata: { name: 'budget' }, spec });
      await fixture.createPod('guarded', { app: 'guarded' });
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await fixture.patch(`${fixture.pod('guarded')}/status`, { status });
    });

    it('deletes a Pod that no budget protects', async () => {
      await fixture.createPod('free');
      assert.equal((await evict('free', '?dryRun=All')).status, 201);
      assert.equal((await fixture.client.get(fixture.pod('free'))).status, 200);
      const answer = await evict('free');
      assert.equal(answer.status, 201);
      assert.equal((await evict('absent')).body.message, 'pods "absent" not found');
    });

    it('of a protected Pod is 429 until the budget allows a disruption, which it uses up', async () => {
      const early = await evict('guarded');
      refused(early, 429, "Cannot evict pod as it would violate the pod's disruption budget.");
      assert.equal(early.headers['retry-after'], '10');
      const healthy = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
      const condition = {
        type: 'DisruptionAllowed',
        status: 'False',
        lastTransitionTime: '2024-01-01T00:00:00Z',
      };
      const why = (reason: string): object => ({ conditions: [{ ...condition, reason, message: 'why' }] });
      const none = 'does not allow evicting pods currently';
      for (const [status, words] of [
        [healthy, 'needs 1 healthy pods and has 1 currently'],
        [{ currentHealthy: 2 }, none],
        [why('InsufficientPods'), `${none} (InsufficientPods): why`],
        [why('SyncFailed'), `${none} because it failed sync: why`],
      ] as const) {
        ok(await setBudget({ disruptionsAllowed: 0, ...status }));
        const again = await evict('guarded');
        assert.equal(again.status, 429);
        const message = `The disruption budget budget ${words}`;
        assert.deepEqual(again.body.details?.['causes'], [{ reason: 'DisruptionBudget', message }]);
      }
      ok(await setBudget({ disruptionsAllowed: 1 }));
      assert.equal((await evict('guarded')).status, 201);
      const { status } = await fixture.get(budget());
      const { disruptionsAllowed, disruptedPods, conditions } = status as Record<string, object | number>;
      assert.equal(disruptionsAllowed, 0);
      assert.deepEqual(Object.keys(Object(disruptedPods) as object), ['guarded']);
      const [{ lastTransitionTime: _, ...last } = condition] = conditions as readonly (typeof condition)[];
      const spent = { type: condition.type, status: 'False', reason: 'InsufficientPods', message: '' };
      assert.deepEqual(last, { ...spent, observedGeneration: 1 });
    });

    it('adds a condition to the Pod before it deletes the Pod', async () => {
      const finalizers = ['example.com/hold'];
      const spec = { containers: [{ name: 'c', image: 'i' }] };
      await fixture.post(fixture.pods(), { metadata: { name: 'held', finalizers }, spec });
      assert.equal((await evict('held')).status, 201);
      const { status, metadata } = await fixture.get(fixture.pod('held'));
      assert.notEqual(metadata.deletionTimestamp, undefined);
      const { conditions } = status as { readonly conditions: readonly Record<string, unknown>[] };
      const [{ lastTransitionTime: _, ...condition } = {}] = conditions;
      assert.deepEqual(condition, {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
        lastProbeTime: null,
      });
      await fixture.patch(fixture.pod('held'), { metadata: { finalizers: null } });
    });

    it('obeys its deleteOptions', async () => {
      await fixture.createPod('kept');
      const send = (deleteOptions: object): Promise<Answer> =>
        fixture.client.post(`${fixture.pod('kept')}/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'kept' },
          deleteOptions,
        });
      const uid = await send({ preconditions: { uid: 'x' } });
      refused(uid, 409, /^Operation cannot be fulfilled on Pod "kept": the UID in the precondition \(x\) /);
      refused(await send({ propagationPolicy: 'x' }), 422, /^DeleteOptions\.meta\.k8s\.io "" is invalid: /);
      const text =
        'Eviction in version "v1" cannot be handled as a Eviction: json: cannot unmarshal string into Go struct field DeleteOptions.deleteOptions.dryRun of type []string';
      refused(await send({ dryRun: 'All' }), 400, text);
      assert.equal((await send({ dryRun: ['All'] })).status, 201);
      await fixture.get(fixture.pod('kept'));
    });

    it('is only created', async () => {
      await fixture.createPod('read');
      assert.equal((await fixture.client.get(`${fixture.pod('read')}/eviction`)).status, 405);
    });
  });
}
