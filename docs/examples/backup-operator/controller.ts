/** The controller of Backups: each becomes a CronJob, and a deleted one takes its copies along. */
import { resources } from 'kubeloom';
import type { Borrowed, ServerSource, WireOf } from 'kubeloom';
import {
  Manager,
  addFinalizer,
  applied,
  controllerReference,
  patchCondition,
  removeFinalizer,
} from 'kubeloom/controller';
import type { ApplyConfiguration, EventRecorder, ManagerOptions } from 'kubeloom/controller';
import { backups } from './backup.ts';
import type { Backup } from './backup.ts';

const { cronJobs } = resources.batch.v1;
const FINALIZER = 'example.com/backup-copies';
/** The owner of every field that this program applies. */
const fieldManager = 'backup-operator';

export interface BackupParts {
  /** Deletes all copies of a Backup from the storage outside the cluster. */
  readonly deleteCopies: (backup: string) => Promise<void>;
  readonly recorder: Pick<EventRecorder, 'event'>;
}

export function backupOperator(
  source: ServerSource,
  { deleteCopies, recorder }: BackupParts,
  options: ManagerOptions = {},
): Manager {
  const manager = new Manager(source, options);

  manager
    .controllerFor(backups)
    .owns(cronJobs) // a CronJob that another program changes is applied again
    .reconcile(async (key, { cache, client, signal, log }) => {
      const backup = cache.get(backups, key);
      if (!backup) return;
      if (backup.metadata.deletionTimestamp) {
        if (backup.spec.deletionPolicy !== 'Retain') await deleteCopies(key);
        await removeFinalizer(client, backups, backup, FINALIZER, { signal });
        return;
      }
      const changed = await addFinalizer(client, backups, backup, FINALIZER, { signal });

      const current = cache.get(cronJobs, key);
      const desired = cronJobOf(backup);
      if (!applied(desired, current?.object, { fieldManager })) {
        await client.apply(cronJobs, desired, { fieldManager, force: true, signal });
        const reason = current ? 'Updated' : 'Created';
        const message = `${reason} CronJob ${desired.metadata.name}`;
        recorder.event(backups, backup, { type: 'Normal', reason, message });
        log.info({ schedule: backup.spec.schedule }, message);
      }

      const isSuspended = backup.spec.suspend === true;
      const ready = {
        type: 'Ready',
        status: isSuspended ? 'False' : 'True',
        reason: isSuspended ? 'Suspended' : 'Scheduled',
        message: isSuspended ? 'no further copies are made' : backup.spec.schedule,
        observedGeneration: backup.metadata.generation ?? 0,
      } as const;
      await patchCondition(client, backups, changed ?? backup, ready, { signal });
    });
  return manager;
}

/** Returns the fields of the CronJob that this operator decides; all others belong to the server and to other programs. */
function cronJobOf(backup: Borrowed<Backup>) {
  const { namespace, name, spec } = backup;
  const claim = { claimName: spec.claimName, readOnly: true };
  const container = {
    name: 'copy',
    image: 'registry.example.com/copy:1.4.0',
    args: ['--to', `s3://backups/${namespace}/${name}`],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  return {
    metadata: {
      namespace,
      name,
      ownerReferences: [controllerReference(backups, backup)],
    },
    spec: {
      schedule: spec.schedule,
      suspend: spec.suspend ?? false,
      concurrencyPolicy: 'Forbid',
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: 'Never',
              containers: [container],
              volumes: [{ name: 'data', persistentVolumeClaim: claim }],
            },
          },
        },
      },
    },
  } satisfies ApplyConfiguration<WireOf<'batch', 'v1', 'CronJob'>>;
}
