/** Shell completion: `kubeloom completion bash|zsh|fish|powershell` prints the script, by @bomb.sh/tab. */
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { builtInResources } from '../../kube/resources.ts';

/** A call of the package bash-completion, which a shell may lack. */
const WORDS = '_get_comp_words_by_ref -n "=:" cur prev words cword';

/** Returns the script so that a shell may read it twice, and without bash-completion. */
function sourceable(script: string): string {
  const own = 'words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}';
  return script
    .replaceAll(/^readonly /gm, '')
    .replace(WORDS, `if declare -F _get_comp_words_by_ref > /dev/null; then ${WORDS}; else ${own}; fi`);
}

/** Commands whose first argument names resources. */
const WITH_RESOURCES = ['watch', 'top'];

/** Adds the commands `completion` and `complete`. Add all other commands before. */
export function addCompletion(program: Command): void {
  const completion = tab(program, { completionCommandName: 'completion' });
  const setup = completion.setup.bind(completion);
  completion.setup = (name, executable, shell) => {
    const { log } = console;
    // It prints the script by console.log only.
    console.log = (script: string) => log(sourceable(script));
    try {
      setup(name, executable, shell);
    } finally {
      console.log = log;
    }
  };
  for (const name of WITH_RESOURCES) {
    completion.commands.get(name)?.argument('resources', (complete) => {
      for (const { resource, group, kind } of builtInResources()) {
        complete(group === '' ? resource : `${resource}.${group}`, kind);
      }
    });
  }
}
