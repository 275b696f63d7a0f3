/** The workloads of the package: files that can be run, printed and changed. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const PRESETS = ['smoke', 'fanout', 'sync', 'churn', 'relist-storm', 'slow-consumer'] as const;

export type Preset = (typeof PRESETS)[number];

export function isPreset(name: string): name is Preset {
  return (PRESETS as readonly string[]).includes(name);
}

/** Returns the file of a preset. */
export function presetText(preset: Preset): string {
  const root = dirname(createRequire(import.meta.url).resolve('kubeloom/package.json'));
  return readFileSync(join(root, 'src/tools/loadtest/presets', `${preset}.yaml`), 'utf8');
}
