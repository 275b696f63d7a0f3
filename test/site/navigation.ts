/**
 * The navigation of the site: every document once, by the question that a reader comes with. The order is the order of the
 * sidebar and of llms.txt.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../unit/docs/documents.ts';

export interface Page {
  /** From the repository's root, such as `docs/informers.md`; pages that the build writes have no folder. */
  readonly path: string;
  readonly title: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
  /** Limit for the lines of each page that people write; undefined where a page is a table or explains the inside. */
  readonly linesMax?: number;
}

const GUIDE_LINES_MAX = 150;

/** Pages that the build writes from the code. */
export const FAULTS_PAGE = 'faults.md';
export const REPORT_PAGE = 'report.md';
export const API_PAGE = 'api.md';

const page = (path: string, title: string): Page => ({ path, title });
const guide = (name: string, title: string): Page => page(`docs/${name}.md`, title);

export const SECTIONS: readonly Section[] = [
  {
    title: 'Start',
    linesMax: GUIDE_LINES_MAX,
    pages: [
      page('README.md', 'Getting started'),
      guide('operator', 'From a definition to a Deployment'),
      guide('examples/README', 'Examples'),
      guide('migrating-from-client-node', 'Coming from client-node'),
    ],
  },
  {
    title: 'Guides',
    linesMax: GUIDE_LINES_MAX,
    pages: [
      guide('informers', 'Informers'),
      guide('controller', 'Controllers'),
      guide('testing', 'Testing a controller'),
      guide('leader-election', 'Leader election'),
      guide('threads', 'Threads of the program'),
      guide('sharding', 'Partitions'),
      guide('sharded-watches', 'Sharded watches'),
      guide('bundling', 'Bundling and compiling'),
      guide('loadtest', 'Load tests'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page(API_PAGE, 'API'),
      guide('contract', 'The contract'),
      guide('errors', 'Errors'),
      guide('metrics-table', 'Table of metrics'),
      guide('names', 'Names of client-go'),
      guide('loadtest-workload', 'Workloads of load tests'),
      guide('embedded-apiserver', 'The embedded apiserver'),
      page('CHANGELOG.md', 'Changes'),
    ],
  },
  {
    title: 'Operate',
    linesMax: GUIDE_LINES_MAX,
    pages: [
      guide('operations', 'Operations'),
      guide('metrics', 'Metrics and traces'),
      guide('top', 'kubeloom top'),
      guide('bounds', 'Bounds'),
      guide('security', 'Security'),
      page('SECURITY.md', 'Reporting a vulnerability'),
    ],
  },
  {
    title: 'How it works',
    pages: [
      guide('architecture', 'Architecture'),
      guide('glossary', 'Glossary'),
      guide('benchmarks', 'Benchmarks'),
      page(REPORT_PAGE, 'Report of a load test'),
      guide('reliability', 'Reliability'),
      page(FAULTS_PAGE, 'Cases of faults'),
      page('CONTRIBUTING.md', 'Contributing'),
    ],
  },
  { title: 'Decisions', pages: decisions() },
];

/** The pages that a first user reads: from the README to a tested controller in a cluster. */
export const FIRST_PAGES: readonly string[] = [
  'README.md',
  'docs/informers.md',
  'docs/controller.md',
  'docs/testing.md',
  'docs/operator.md',
];
export const FIRST_WORDS_MAX = 8000;

/** Returns the decisions in their order, each with its figures behind it. */
function decisions(): Page[] {
  const folder = 'docs/decisions';
  const numberOf = ({ path }: Page): string => /\d{4}/.exec(path)?.[0] ?? '';
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const path = `${folder}/${name}`;
      const [, title = name] = /^# (.*)$/m.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
      return page(path, title);
    })
    .toSorted((a, b) => numberOf(a).localeCompare(numberOf(b)) || a.path.length - b.path.length);
}

/** Returns the place of a page in the site: `docs/informers.md` becomes `informers.md`. */
export function placeOf(path: string): string {
  if (path === 'README.md') return 'index.md';
  if (path === 'SECURITY.md') return 'security-policy.md';
  return path
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .toLowerCase();
}
