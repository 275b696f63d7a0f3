/** Scenes of the contract's tests: on the threads and with the codec of the configuration. */
import { test as register } from 'node:test';
import type { EmbeddedApiServerOptions } from '../../src/apiserver/testing/index.ts';
import type { ThreadsOptions } from '../../src/index.ts';
import { Scene } from '../kit/scene.ts';
import { CODEC, newThreads, sharedThreads } from './configuration.ts';

export * from '../kit/objects.ts';
export * from '../kit/recording-handler.ts';
export * from '../kit/scene.ts';

interface StartOptions {
  readonly server?: EmbeddedApiServerOptions;
  readonly threads?: ThreadsOptions;
}

/** Starts a scene on the file's threads, or on separate ones for tests that need other sizes or end them. */
export async function start({ server, threads }: StartOptions = {}): Promise<Scene> {
  const own = threads && newThreads(threads);
  const scene = await Scene.start({
    server: { tls: false, isolation: 'none', ...server },
    threads: own ?? sharedThreads(),
    codec: CODEC,
  });
  if (own) scene.ends(own);
  return scene;
}

/** Registers a test. A body with a parameter receives a started scene; another one starts its own. */
export function test(title: string, body: (scene: Scene) => Promise<void>): void {
  register(title, async () => {
    await using scene = body.length === 0 ? undefined : await start();
    await body(scene as Scene);
  });
}
