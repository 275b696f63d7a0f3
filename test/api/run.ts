/**
 * `npm run api`: compares the public types of each entry with the report that is checked in beside this file, so that
 * every change of the surface is visible in review. `npm run api -- --write` accepts the change.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import type { ExtractorMessage, IConfigFile } from '@microsoft/api-extractor';

const ROOT = join(import.meta.dirname, '../../..');
const REPORTS = join(ROOT, 'test/api');
const SCRATCH = join(ROOT, '.cache/api');
/** Entries of the package by the names of their reports. */
const ENTRIES: Readonly<Record<string, string>> = {
  kubeloom: 'dist/src/index.d.ts',
  'kubeloom-client-go': 'dist/src/client-go/index.d.ts',
  'kubeloom-controller': 'dist/src/controller/index.d.ts',
  'kubeloom-partitions': 'dist/src/partitions/index.d.ts',
  'kubeloom-client-node': 'dist/src/client-node/index.d.ts',
  'kubeloom-thread': 'dist/src/thread/index.d.ts',
  'kubeloom-workqueue': 'dist/src/workqueue/index.d.ts',
  'kubeloom-metrics': 'dist/src/metrics/index.d.ts',
  'kubeloom-testing': 'dist/src/tools/apiserver/testing/index.d.ts',
  'kubeloom-metrics-prometheus': 'dist/src/metrics/prometheus.d.ts',
  'kubeloom-metrics-opentelemetry': 'dist/src/metrics/opentelemetry.d.ts',
};

const NONE = { default: { logLevel: ExtractorLogLevel.None } };

function configOf(name: string, entry: string): IConfigFile {
  const mainEntryPointFilePath = join(ROOT, entry);
  return {
    projectFolder: ROOT,
    mainEntryPointFilePath,
    apiReport: {
      enabled: true,
      reportFileName: `${name}.api.md`,
      reportFolder: REPORTS,
      reportTempFolder: SCRATCH,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          module: 'nodenext',
          target: 'es2023',
          lib: ['es2023', 'esnext.disposable'],
          types: ['node'],
          strict: true,
          skipLibCheck: true,
          allowImportingTsExtensions: true,
          noEmit: true,
        },
        files: [mainEntryPointFilePath],
      },
    },
    messages: {
      compilerMessageReporting: NONE,
      extractorMessageReporting: NONE,
      tsdocMessageReporting: NONE,
    },
  };
}

/** Returns whether the report of the entry is the one checked in. */
function isUnchanged(name: string, entry: string, isWriting: boolean): boolean {
  const config = ExtractorConfig.prepare({
    configObject: configOf(name, entry),
    configObjectFullPath: undefined,
    packageJsonFullPath: join(ROOT, 'package.json'),
  });
  const errors: string[] = [];
  const messageCallback = (message: ExtractorMessage): void => {
    if (message.logLevel === ExtractorLogLevel.Error) errors.push(message.text);
    message.handled = true;
  };
  const result = Extractor.invoke(config, { localBuild: isWriting, messageCallback });
  for (const error of errors) console.error(error);
  return errors.length === 0 && (isWriting || !result.apiReportChanged);
}

mkdirSync(SCRATCH, { recursive: true });
const isWriting = process.argv.includes('--write');
const changed = Object.entries(ENTRIES).filter(([name, entry]) => !isUnchanged(name, entry, isWriting));
for (const [name] of changed) {
  console.error(
    `the public types differ from test/api/${name}.api.md: npm run api -- --write, and read the difference`,
  );
}
console.log(`${Object.keys(ENTRIES).length - changed.length} passed, ${changed.length} failed`);
process.exitCode = changed.length === 0 ? 0 : 1;
