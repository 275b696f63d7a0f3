/** The fake clock of the public test kit. */
export { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
