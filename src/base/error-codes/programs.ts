/** Errors of the command line, of load tests and of the embedded apiserver. */
export const PROGRAM_ERRORS = {
  ERR_KUBELOOM_USAGE: [
    ['exit'],
    'The arguments of a command do not fit together, or a file that they name cannot be used.',
    'Read the help of the command: `kubeloom COMMAND --help`.',
  ],
  ERR_KUBELOOM_WORKLOAD: [
    ['exit'],
    'The workload of a load test cannot be read.',
    'Correct the line and the member that the message names.',
  ],
  ERR_KUBELOOM_LOADTEST: [
    ['exit'],
    'A load test cannot go on: the cluster lacks what the workload needs, or a process has ended.',
    'Prepare the cluster as the message says, and repeat the test.',
  ],
  ERR_KUBELOOM_LOADTEST_REFUSED: [
    ['exit'],
    'A load test would write to a cluster that is not known to be a throwaway one. Nothing was sent.',
    'Pass the flag that the message names, if the cluster may be written to.',
  ],
  ERR_KUBELOOM_APISERVER_GONE: [
    ['thrown'],
    'The process of the embedded apiserver has ended.',
    'Start a new server; the message has the reason.',
  ],
  ERR_KUBELOOM_REJECTED: [
    ['thrown'],
    'The embedded apiserver refuses a change that `apply` makes.',
    'Correct the change: the message is that of the server.',
  ],
  ERR_KUBELOOM_NOT_SETTLED: [
    ['thrown'],
    '`settled` was aborted, saw no progress for `timeoutMs`, or waits for an informer that has stopped.',
    'Read the message: it names what is not done.',
  ],
} as const;
