/**
 * Leader election: two replicas of a controller, of which one works. The other one has filled caches, and takes over when
 * the first stops. Here both are in one process; usually they are two pods with the same program.
 *
 * In client-go: leaderelection.LeaderElector. In controller-runtime: the manager's option LeaderElection.
 */
import { loadKubeConfig, resources } from 'kubeloom';
import { LeaderElector, Manager, ObjectClient } from 'kubeloom/controller';

interface Replica {
  readonly identity: string;
  readonly signal: AbortSignal;
  readonly onReady: () => void;
  readonly onReconciled: () => void;
}

const kubeConfig = loadKubeConfig();
const client = new ObjectClient(kubeConfig);
const { namespaces } = resources.core.v1;

/** Resolves after the signal, when the replica has ended its work and has given back the lease. */
function run({ identity, signal, onReady, onReconciled }: Replica): Promise<void> {
  const leaderElector = new LeaderElector({
    client,
    namespace: 'default',
    name: 'leader-elected',
    // Without it: the name of the host, which in a pod is the pod's, and a random part.
    identity,
    // Pause between two looks at the lease. Without it: 2 s.
    retryPeriodMs: 200,
  });
  const manager = new Manager(kubeConfig, {
    leaderElector,
    cache: { fieldSelector: 'metadata.name=default' },
    onReady,
  });
  // Once the leadership is lost, the signal is aborted: pass it to every request, as always.
  manager.controllerFor(namespaces, { name: `namespaces of ${identity}` }).reconcile((name) => {
    console.log(`${identity} leads and reconciles ${name}`);
    onReconciled();
  });
  // Rejects when the lease could not be renewed in time. The process ends then, because another replica leads.
  return manager.run({ signal });
}

const first = new AbortController();
const second = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    first.abort();
    second.abort();
  });
}

let secondEnd: Promise<void> | undefined;
const runSecond = (): Promise<void> =>
  run({
    identity: 'second',
    signal: second.signal,
    onReady() {
      console.log('second waits; first is stopped, as in a rolling update');
      first.abort();
    },
    onReconciled: () => second.abort(),
  });

await run({
  identity: 'first',
  signal: first.signal,
  onReady: () => console.log('first has filled its caches'),
  onReconciled() {
    secondEnd ??= runSecond();
  },
});
await secondEnd;
console.log('Both have ended');
