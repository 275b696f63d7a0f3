/**
 * Operator for a custom resource, as it runs in a Deployment: server-side apply, finalizer, conditions, Events, leader
 * election, health, metrics and logs. docs/operator.md builds it step by step. First:
 * kubectl apply -f docs/examples/backup-crd.yaml; then create, change and delete a Backup. Ends with Ctrl-C.
 *
 * In Go: an operator of Kubebuilder.
 */
import { loadKubeConfig } from 'kubeloom';
import { EventRecorder, LeaderElector, ObjectClient } from 'kubeloom/controller';
import { backupOperator } from './backup-operator/controller.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const kubeConfig = loadKubeConfig();
const client = new ObjectClient(kubeConfig);
const recorder = new EventRecorder(client, { component: 'backup-operator' });
const deleteCopies = async (backup: string): Promise<void> => console.log(`${backup}: deleted its copies`);

const manager = backupOperator(
  kubeConfig,
  { deleteCopies, recorder },
  {
    leaderElector: new LeaderElector({ client, namespace: 'default', name: 'backup-operator' }),
    // The kubelet asks /healthz and /readyz, Prometheus asks /metrics.
    health: { port: Number(process.env['HEALTH_PORT'] ?? 0) },
    log: new console.Console(process.stderr), // or pino()
    onReady: () => console.log('Waiting for Backups'),
  },
);
await manager.run({ signal: stop.signal });
await recorder.close();
