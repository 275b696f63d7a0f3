/* eslint-disable */
// Written by `kubeloom types` from CustomResourceDefinitions: run it again, and leave this file as it is.
import type { KubeObject, ResourceOf } from 'kubeloom';

/** Backup copies a volume on a schedule. */
export interface Backup {
  readonly apiVersion?: 'example.com/v1';
  readonly kind?: 'Backup';
  readonly metadata?: NonNullable<KubeObject['metadata']>;
  readonly spec: BackupSpec;
  readonly status?: BackupStatus;
}

export interface BackupSpec {
  /** When copies are made, in the format of cron. */
  readonly schedule: string;
  /** The PersistentVolumeClaim that is copied. */
  readonly claimName: string;
  /**
   * Makes no further copies while it is true.
   * @default false
   */
  readonly suspend?: boolean;
  /**
   * Whether the operator deletes the copies of a deleted Backup or retains them.
   * @default "Delete"
   */
  readonly deletionPolicy?: 'Delete' | 'Retain';
}

export interface BackupStatus {
  readonly conditions?: readonly BackupStatusConditionsItem[];
}

export interface BackupStatusConditionsItem {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export const backups: ResourceOf<Backup> = {
  group: 'example.com',
  version: 'v1',
  resource: 'backups',
  kind: 'Backup',
  isNamespaced: true,
};
