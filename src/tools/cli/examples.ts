/** The examples at the end of each command's help, as lines of a shell. A test parses them. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  demo: ['kubeloom demo --pods 50000 --rate 50000', 'kubeloom demo --json --threads 0'],
  watch: [
    'kubeloom watch pods,services -A',
    "kubeloom watch pods -l 'app in (web,api)' --watch-only -o name",
  ],
  top: ['kubeloom top pods nodes -A', 'kubeloom top pods -n web -l app=shop', 'kubeloom top --port 9464'],
  partitions: ['kubeloom partitions pod-labels -n default', 'kubeloom partitions pod-labels --json'],
  types: [
    'kubeloom types config/crd',
    'kubeloom types backup-crd.yaml --check src/backup.ts',
    'kubeloom types --context kind-kind backups.example.com',
  ],
  apiserver: [
    'kubeloom apiserver --kubeconfig-out kubeconfig',
    'kubeloom apiserver --kubeconfig-out kubeconfig --pods 1000 --rate 100',
  ],
  loadtest: [
    'kubeloom loadtest --context kind-kind',
    'kubeloom loadtest fanout --context kind-kind --html report.html',
    'kubeloom loadtest --print churn',
  ],
  completion: ['kubeloom completion bash > ~/.local/share/bash-completion/completions/kubeloom'],
};
