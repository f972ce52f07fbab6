/** The pictures of `groupage simulate --out`. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import type { Figures } from '../simulate/figures.ts';
import type { Outcome } from '../simulate/outcome.ts';
import { pageOf } from '../simulate/page.ts';
import { timelinePicture } from '../simulate/picture-timeline.ts';
import { tradeOffPicture } from '../simulate/picture-trade-off.ts';
import type { Varied } from '../simulate/vary.ts';

/** What is drawn: the trace, and if policies were compared the trade-off with the configured one. */
export interface Drawn {
  readonly outcome: Outcome;
  readonly compared: { readonly varied: Varied; readonly current: Figures } | undefined;
  /** As the terminal shows it. */
  readonly text: string;
}

/** Before minutes are simulated. @throws WrongUsage for a file of another kind; CommandFailure where its folder is none */
export const checkOut = (file: string | undefined): void => {
  if (file === undefined) return;
  if (!['.html', '.svg'].includes(extname(file)))
    throw new WrongUsage('--out takes a file whose name ends in .html (a page with everything) or .svg (a picture)');
  if (!existsSync(dirname(file)))
    throw new CommandFailure(`${file} cannot be written: there is no folder ${dirname(file)}`);
};

/** A page has everything; a picture the trade-off where there is one, otherwise the trace. @throws CommandFailure */
export const writeOut = (file: string, { outcome, compared, text }: Drawn): void => {
  const tradeOff = compared && tradeOffPicture(compared.varied, compared.current);
  const pictures = [...(tradeOff === undefined ? [] : [tradeOff]), timelinePicture(outcome)];
  const content =
    extname(file) === '.svg'
      ? (pictures[0] ?? '')
      : pageOf('What the simulation came to', pictures, stripVTControlCharacters(text));
  try {
    writeFileSync(file, content);
  } catch (cause) {
    throw new CommandFailure(`${file} cannot be written: ${reasonOf(cause)}`);
  }
};
