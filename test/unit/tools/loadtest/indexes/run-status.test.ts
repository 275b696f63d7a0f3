/** The status of a run in which the indexes of a run tell each other what they do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '../../../../../src/tools/apiserver/testing/index.ts';
import { SILENT_BEATS } from '../../../../../src/tools/loadtest/indexes/heartbeats.ts';
import { BEAT_MS, RunStatus } from '../../../../../src/tools/loadtest/indexes/run-status.ts';
import { statusNamespaceOf } from '../../../../../src/tools/loadtest/run/cluster.ts';
import { RUN, boardScene } from './scene.ts';
import type { RunStatusScene } from './scene.ts';

interface State {
  readonly step: number;
}

function join(
  { api, kubeConfig }: RunStatusScene,
  name: string,
  clock: FakeClock,
  signal = new AbortController().signal,
): Promise<RunStatus<State>> {
  const options = { api, kubeConfig, run: RUN, name, clock, signal, say: () => undefined };
  return RunStatus.join(options, { step: 0 }, { fact: `of ${name}` });
}

describe('the run status of a run', () => {
  it('is joined as soon as index 0 has created the run, and shows what others say', async () => {
    await using scene = await boardScene();
    const clock = new FakeClock();
    const joined = join(scene, 'index-1', clock);
    await clock.waitForTimers(1);
    await scene.createNamespace();
    clock.advance(1000);
    await using one = await joined;
    await using other = await join(scene, 'index-0', new FakeClock());
    assert.equal(await one.until(() => one.factOf('index-0', 'fact')), 'of index-0');
    await other.publish({ step: 7 });
    await one.until(() => (one.stateOf('index-0') as State).step === 7 || undefined);
    assert.equal(one.stateOf('index-2'), undefined);
  });

  it('is joined once by an index', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    await using _board = await join(scene, 'index-1', new FakeClock());
    await assert.rejects(join(scene, 'index-1', new FakeClock()), {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: /^index-1 of this run has already started: collect the run, or choose another --run/,
    });
  });

  it('shows that an index is silent, and that it came back', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    const clock = new FakeClock();
    await using watching = await join(scene, 'index-0', clock);
    await using watched = await join(scene, 'index-1', new FakeClock());
    await watching.until(() => watching.stateOf('index-1'));
    assert.equal(watching.isSilent('index-1'), false);
    for (let beat = 0; beat <= SILENT_BEATS; beat++) {
      await clock.waitForTimers(1);
      clock.advance(BEAT_MS);
    }
    await watching.until(() => watching.isSilent('index-1') || undefined);
    await watched.publish({ step: 1 });
    await watching.until(() => !watching.isSilent('index-1') || undefined);
  });

  it('writes its last state before it is closed', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    await using watching = await join(scene, 'index-0', new FakeClock());
    {
      await using closing = await join(scene, 'index-1', new FakeClock());
      closing.post({ step: 9 });
    }
    await watching.until(() => (watching.stateOf('index-1') as State | undefined)?.step === 9 || undefined);
  });

  it('ends waits after their limit, after an interruption, and when the run was removed', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    const clock = new FakeClock();
    const interruption = new AbortController();
    await using runStatus = await join(scene, 'index-0', clock, interruption.signal);
    const limited = runStatus.until(() => undefined, 1);
    clock.advance(1);
    await assert.rejects(limited, {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: 'there was no change for 0.001 s',
    });
    const interrupted = runStatus.until(() => undefined);
    interruption.abort();
    await assert.rejects(interrupted, { name: 'AbortError' });
    await using removed = await join(scene, 'index-1', new FakeClock());
    await scene.api.send('DELETE', `/api/v1/namespaces/${statusNamespaceOf(RUN)}/configmaps/index-1`);
    await assert.rejects(removed.publish({ step: 1 }), {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: /^the run was removed while it ran/,
    });
  });
});
