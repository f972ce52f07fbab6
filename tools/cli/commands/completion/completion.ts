/** `groupage completion`: prints a script with which a shell completes the commands and their options. */
import { Argument, Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { levelsOf } from './tree.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

type Shell = keyof typeof SCRIPTS;

export const completionCommand = (): Command =>
  new Command('completion')
    .description('print a script with which a shell completes commands, options and their choices')
    .addArgument(new Argument('<shell>', 'shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
bash, in ~/.bashrc:                source <(groupage completion bash)
zsh, in ~/.zshrc after compinit:   source <(groupage completion zsh)
fish:                              groupage completion fish > ~/.config/fish/completions/groupage.fish`,
    )
    .action((shell: Shell, _options: object, command: Command) => {
      // The parent is the whole program.
      console.log(SCRIPTS[shell](levelsOf(command.parent ?? command)).trimEnd());
    });
