/** The cores that a control group allows, read from files as the kernel writes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coresOfControlGroup } from '../../../src/base/control-group.ts';
import { availableCores, defaultIndexerThreads } from '../../../src/informer/threads/threads-options.ts';

const reading = (files: Readonly<Record<string, string>>) => (path: string) => files[path];

const V2 = '/sys/fs/cgroup';
const V1 = '/sys/fs/cgroup/cpu,cpuacct';

const CASES: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
  ['no control groups', {}, Infinity],
  ['no quota', { '/proc/self/cgroup': '0::/a\n', [`${V2}/a/cpu.max`]: 'max 100000\n' }, Infinity],
  [
    'version 2, half a core at the root of a container',
    { '/proc/self/cgroup': '0::/\n', [`${V2}/cpu.max`]: '50000 100000\n' },
    0.5,
  ],
  [
    'version 2, the smallest of nested groups',
    {
      '/proc/self/cgroup': '0::/kubepods/pod/app\n',
      [`${V2}/kubepods/cpu.max`]: '800000 100000\n',
      [`${V2}/kubepods/pod/cpu.max`]: '150000 100000\n',
      [`${V2}/kubepods/pod/app/cpu.max`]: 'max 100000\n',
    },
    1.5,
  ],
  [
    'version 2, a path outside of the namespace',
    { '/proc/self/cgroup': '0::/../../b\n', [`${V2}/cpu.max`]: '200000 100000\n' },
    2,
  ],
  [
    'version 1, with other controllers beside it',
    {
      '/proc/self/cgroup': '5:memory:/m\n4:cpu,cpuacct:/docker/x\n1:cpuset:/docker/x\n',
      [`${V1}/cpu.cfs_quota_us`]: '-1\n',
      [`${V1}/cpu.cfs_period_us`]: '100000\n',
      [`${V1}/docker/x/cpu.cfs_quota_us`]: '250000\n',
      [`${V1}/docker/x/cpu.cfs_period_us`]: '100000\n',
    },
    2.5,
  ],
  [
    'version 1, mounted as cpu, whose path is that of the machine',
    {
      '/proc/self/cgroup': '4:cpu,cpuacct:/docker/x\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '400000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
    4,
  ],
  ['what is no number', { '/proc/self/cgroup': '0::/a\nx\n', [`${V2}/a/cpu.max`]: 'much\n' }, Infinity],
];

for (const [title, files, cores] of CASES) {
  test(`a control group allows ${cores} cores: ${title}`, () => {
    assert.equal(coresOfControlGroup(reading(files)), cores);
  });
}

test('the default number of threads counts the cores of the control group, not those of the machine', () => {
  assert.equal(defaultIndexerThreads(availableCores(64, 0.5)), 1);
  assert.equal(defaultIndexerThreads(availableCores(64, 4.5)), 2);
  assert.equal(defaultIndexerThreads(availableCores(64, Infinity)), 8);
  assert.equal(defaultIndexerThreads(availableCores(2, 16)), 1);
});
