/** Shell completion: `kubeloom completion bash|zsh|fish|powershell` prints the script, by @bomb.sh/tab. */
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { builtInResources } from '../../kube/resources.ts';

/** Commands whose first argument names resources. */
const WITH_RESOURCES = ['watch', 'top'];

/** Adds the commands `completion` and `complete`. Add all other commands before. */
export function addCompletion(program: Command): void {
  const completion = tab(program, { completionCommandName: 'completion' });
  for (const name of WITH_RESOURCES) {
    completion.commands.get(name)?.argument('resources', (complete) => {
      for (const { resource, group, kind } of builtInResources()) {
        complete(group === '' ? resource : `${resource}.${group}`, kind);
      }
    });
  }
}
