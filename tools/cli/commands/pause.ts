/** `groupage pause` and `groupage resume`, of an operation or of one Target. */
import { Command } from 'commander';
import { operationOf, type Target } from '../../../src/domain/ids.ts';
import { WrongUsage } from '../../failure.ts';
import { printable, printJson } from '../../terminal.ts';
import { PAUSED, RESUMED } from '../shared/answers.ts';
import { connect, connectBecause, reasonOption, toSameApi, type WithReason } from '../shared/connect.ts';

interface PauseOptions extends WithReason {
  readonly target?: string;
}

export const pauseCommand = (): Command =>
  ofOperationOrTarget('pause', 'pause an operation or a Target: its tasks wait, and calls under way finish')
    .option('--reason <text>', 'reason for the pause, shown with the pause and in `groupage audit`')
    .action(async (operation: string | undefined, options: PauseOptions) => {
      const { what, path, body } = meant(operation, options);
      const api = await connect(options);
      const { text, value } = await api.post(
        `${path}/pause`,
        JSON.stringify({ ...body, reason: options.reason }),
        PAUSED,
      );
      const said = `${what} ${value.alreadyPaused ? 'was already paused' : 'is paused'}. Tasks wait; nothing is lost. Resume: groupage resume ${options.target === undefined ? what : `--target ${JSON.stringify(what)}`}${toSameApi(options)}`;
      console.log(options.json ? printJson(text) : printable(said));
    });

export const resumeCommand = (): Command =>
  ofOperationOrTarget('resume', 'end the pause of an operation or a Target, whether a user or the circuit paused it')
    .addOption(reasonOption())
    .action(async (operation: string | undefined, options: PauseOptions) => {
      const { what, path, body } = meant(operation, options);
      const api = await connectBecause(options);
      const { text, value } = await api.post(`${path}/resume`, JSON.stringify(body), RESUMED);
      const said = `${what} ${value.resuming ? 'resumes in a moment' : notPaused(options)}`;
      console.log(options.json ? printJson(text) : printable(said));
    });

/** A Target without a pause of its own may still wait because its operation is paused. */
const notPaused = ({ target }: PauseOptions): string =>
  target === undefined
    ? 'is not paused. Its Targets may be: groupage targets --sort paused'
    : 'is not paused itself, but its operation may be paused. Check this with: groupage operations';

const ofOperationOrTarget = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('[operation]', 'name of the operation')
    .option('--target <target>', 'one Target instead of a whole operation, e.g. report-flights/origin=MUC');

/** @throws WrongUsage */
const meant = (operation: string | undefined, { target }: PauseOptions) => {
  if ((operation === undefined) === (target === undefined))
    throw new WrongUsage('give either the name of an operation or --target');
  const name = operation ?? operationOf(target as Target);
  if (name === '') throw new WrongUsage('give the name of an operation, or a Target such as report-flights/origin=MUC');
  const body = target === undefined ? {} : { target };
  return { what: target ?? name, path: `/operations/${encodeURIComponent(name)}`, body };
};
