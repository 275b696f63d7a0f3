/** Builds, installs and starts each client's program. Building and installing happen at the first use. */
import { fileURLToPath } from 'node:url';
import type { ClientName } from './names.ts';
import type { Command } from './program-run.ts';
import type { Program, Task, TaskKind } from './task.ts';
import { clientGo, fluentClient, kubeRs, ltsNode } from './toolchains.ts';
import type { Made } from './toolchains.ts';

/** A command, or the reason why there is none; rows then say `not measured`. */
export type Prepared = { readonly command: Command } | { readonly notMeasured: string };

const script = (name: string): string => fileURLToPath(new URL(`./peers/${name}.js`, import.meta.url));

function here(name: string, ...args: string[]): Promise<Prepared> {
  return Promise.resolve({ command: [process.execPath, script(name), ...args] });
}

async function binary(made: Promise<Made>, ...args: string[]): Promise<Prepared> {
  const result = await made;
  return 'made' in result ? { command: [result.made, ...args] } : { notMeasured: result.reason };
}

async function onLts(name: string, args: readonly string[] | Made): Promise<Prepared> {
  const node = await ltsNode();
  if ('reason' in node) return { notMeasured: node.reason };
  if ('reason' in args) return { notMeasured: args.reason };
  return { command: [node.made, script(name), ...('made' in args ? [args.made] : args)] };
}

const PREPARE: Readonly<Record<ClientName, () => Promise<Prepared>>> = {
  kubeloom: () => here('kubeloom'),
  'kubeloom-lts': () => onLts('kubeloom', []),
  limit: () => here('limit'),
  'client-node': () => here('client-node', 'client-node', '@kubernetes/client-node'),
  'client-node-2': () => onLts('client-node', ['client-node-2', 'client-node-2']),
  'kubernetes-fluent-client': async () => onLts('fluent-client', await fluentClient()),
  'client-go': () => binary(clientGo('peers/client-go')),
  'client-go-protobuf': () => binary(clientGo('peers/client-go'), 'protobuf'),
  'kube-rs': () => binary(kubeRs()),
};

const threads = (): Promise<Prepared> => here('kubeloom-threads');

/** Kinds of cases, and programs, for which a client runs a special script. */
const PREPARE_OTHERS: Readonly<
  Partial<Record<TaskKind | Program, Partial<Record<ClientName, () => Promise<Prepared>>>>>
> = {
  'drop-in': {
    kubeloom: () => here('client-node', 'kubeloom', 'kubeloom/client-node'),
    'kubeloom-lts': () => onLts('client-node', ['kubeloom', 'kubeloom/client-node']),
  },
  readers: {
    kubeloom: () => here('kubeloom-readers'),
    'client-node': () => here('client-node-readers'),
  },
  micro: { kubeloom: () => here('micro') },
  metrics: { kubeloom: () => here('kubeloom-metrics') },
  partitions: { kubeloom: () => here('kubeloom-partitions') },
  'thread-scan': { kubeloom: threads },
  'thread-handler': { kubeloom: threads },
  'thread-memory': { kubeloom: threads },
  'thread-idle': { kubeloom: threads },
  start: {
    kubeloom: () => here('start', 'kubeloom'),
    'kubeloom-lts': () => onLts('start', ['kubeloom']),
    'client-node': () => here('start', 'client-node', '@kubernetes/client-node'),
    'client-node-2': () => onLts('start', ['client-node-2', 'client-node-2']),
  },
};

const prepared = new Map<() => Promise<Prepared>, Promise<Prepared>>();

export function prepareClient(
  client: ClientName,
  { case: kind, program }: Pick<Task, 'case' | 'program'>,
): Promise<Prepared> {
  const prepare = PREPARE_OTHERS[program ?? kind]?.[client] ?? PREPARE[client];
  const known = prepared.get(prepare) ?? prepare();
  prepared.set(prepare, known);
  return known;
}
