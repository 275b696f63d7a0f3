/**
 * The watcher of `kubernetes-fluent-client`: `node fluent-client.js MODULE TASK`. It follows its README:
 * `K8s(kind).Watch(callback)`. It keeps no cache, and finds the server through environment variables.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import type { Task } from '../task.ts';
import { kubeConfigText } from './connection.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { Receiver } from './receiver.ts';
import { sentUsOf, touchParsed } from './touch.ts';

/** The part of the module that is used; it is installed when it is first measured. */
interface FluentClient {
  readonly kind: { readonly Pod: unknown };
  readonly K8s: (kind: unknown) => {
    Watch(callback: (object: KubernetesObject, phase: string) => void): { start(): Promise<unknown> };
  };
}

const [, , moduleUrl = ''] = process.argv;

async function run(task: Task): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'kubeloom-bench-'));
  const file = path.join(folder, 'kubeconfig');
  writeFileSync(file, kubeConfigText(task));
  process.env['KUBECONFIG'] = file;
  const { K8s, kind } = (await import(moduleUrl)) as FluentClient;
  const receiver = new Receiver(task);
  const watcher = K8s(kind.Pod).Watch((object, phase) => {
    const keyLength = touchParsed(object, task.handler);
    if (phase === 'ADDED') receiver.added(keyLength);
    else receiver.modified(keyLength, task.case === 'latency' ? sentUsOf(object) : 0);
  });
  watcher.start().catch((error: unknown) => receiver.failed(error));
  try {
    return await receiver.result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await runProgram('kubernetes-fluent-client', packageVersion(moduleUrl), run);
