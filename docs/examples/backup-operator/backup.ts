/** The types of backup-crd.yaml. */
import type { ResourceOf } from 'kubeloom';
import type { Condition } from 'kubeloom/controller';

/** Backup copies a volume on a schedule. */
export interface Backup {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    /** When copies are made, in the format of cron. */
    readonly schedule: string;
    /** The PersistentVolumeClaim that is copied. */
    readonly claimName: string;
    /** Makes no further copies while it is true. */
    readonly suspend?: boolean;
    /** What happens to the copies when the Backup is deleted. */
    readonly deletionPolicy?: 'Delete' | 'Retain';
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const backups: ResourceOf<Backup> = {
  group: 'example.com',
  version: 'v1',
  resource: 'backups',
  kind: 'Backup',
  isNamespaced: true,
};
