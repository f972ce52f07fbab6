/** `groupage pause` and `groupage resume`: an operation, or one Target of it. */
import { Command } from 'commander';
import { operationOf, type Target } from '../../../src/domain/ids.ts';
import { WrongUsage } from '../../failure.ts';
import { printable, printJson } from '../../terminal.ts';
import { PAUSED, RESUMED } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

interface PauseOptions extends CommonOptions {
  readonly target?: string;
  readonly reason?: string;
}

export const pauseCommand = (): Command =>
  ofOperationOrTarget('pause', 'seal nothing any more of an operation or a Target; calls under way go on')
    .option('--reason <text>', 'shown to whoever looks why nothing goes on')
    .action(async (operation: string | undefined, options: PauseOptions) => {
      const { what, path, body } = meant(operation, options);
      const api = await connect(options);
      const { text, value } = await api.post(
        `${path}/pause`,
        JSON.stringify({ ...body, reason: options.reason }),
        PAUSED,
      );
      const said = `${what} ${value.alreadyPaused ? 'was paused already, and stays so' : 'is paused'}`;
      console.log(options.json ? printJson(text) : printable(said));
    });

export const resumeCommand = (): Command =>
  ofOperationOrTarget(
    'resume',
    'go on with an operation or a Target, whoever paused it: a person or its circuit',
  ).action(async (operation: string | undefined, options: PauseOptions) => {
    const { what, path, body } = meant(operation, options);
    const api = await connect(options);
    const { text, value } = await api.post(`${path}/resume`, JSON.stringify(body), RESUMED);
    const said = `${what} ${value.resuming ? 'goes on in a moment' : notPaused(options)}`;
    console.log(options.json ? printJson(text) : printable(said));
  });

/** A Target may well stand still while it is not paused itself. */
const notPaused = ({ target }: PauseOptions): string =>
  target === undefined ? 'is not paused' : 'is not paused itself; groupage operations shows whether its operation is';

const ofOperationOrTarget = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('[operation]', 'the operation')
    .option('--target <target>', 'one Target alone, e.g. report-flights/origin=MUC');

/** @throws WrongUsage */
const meant = (operation: string | undefined, { target }: PauseOptions) => {
  if ((operation === undefined) === (target === undefined))
    throw new WrongUsage('give either an operation or --target');
  const name = operation ?? operationOf(target as Target);
  if (name === '') throw new WrongUsage('give the name of an operation, or a Target such as report-flights/origin=MUC');
  const body = target === undefined ? {} : { target };
  return { what: target ?? name, path: `/operations/${encodeURIComponent(name)}`, body };
};
