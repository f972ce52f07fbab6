/**
 * What a failed deployment leaves, and what becomes of it. Pure.
 *
 * What this run made goes, so that nothing stands half-made; what was there before was taken back by CloudFormation.
 * One thing that this run made may stay: a whole data stack of the stage that keeps its data. Its tables are protected
 * from deletion and outlive their stack, so removing it would leave three tables that no stack owns.
 */
import { keepsData, stackNames } from '../../lib/stage.ts';
import { stateOf, wayOut } from './stack-state.ts';

type Stacks = ReturnType<typeof stackNames>;

export interface AfterFailure {
  /** Stacks to remove, in this order. */
  readonly remove: readonly string[];
  /** Whether the tables of a data stack that never was whole would outlive it, and have to be removed too. */
  readonly orphans: boolean;
  readonly says: readonly string[];
}

/**
 * @param creates stacks that this run was to make: they did not exist before.
 * @param now states of the stacks that exist.
 */
export const afterFailure = (
  stage: string,
  creates: readonly string[],
  now: ReadonlyMap<string, string>,
): AfterFailure => {
  const names = stackNames(stage);
  const states = new Map([...now].map(([name, status]) => [name, stateOf(status)]));
  const isNew = (name: string): boolean => creates.includes(name);
  const remove: string[] = [];
  const says = [...now].filter(([name]) => !isNew(name)).map(([name, status]) => whatIs(name, status, stage));
  for (const name of [names.flow, names.data]) {
    const state = isNew(name) ? states.get(name) : undefined;
    if (state === undefined) continue;
    if (state === 'busy') says.push(`${wayOut(name, now.get(name) ?? '', stage)}. Nothing was removed`);
    else if (state !== 'whole') remove.push(name);
    else if (name === names.data && isAlone(names, states)) {
      if (keepsData(stage)) says.push(stands(names.data, stage));
      else remove.push(name);
    } else says.push(`${name} is whole, and stays`);
  }
  return { remove, orphans: keepsData(stage) && remove.includes(names.data), says };
};

/** Whether nothing uses the data stack, now or once the rest is removed. */
const isAlone = ({ flow }: Stacks, states: ReadonlyMap<string, string>): boolean =>
  states.get(flow) !== 'whole' && states.get(flow) !== 'busy';

const stands = (data: string, stage: string): string =>
  `${data} is whole and stays: its tables are empty and cost nothing so, and the next \`npm run deploy -- --stage ${stage}\` goes on with it. Tables of this stage are protected from deletion, so a deployment does not remove them: docs/deploying.md says how to`;

const whatIs = (name: string, status: string, stage: string): string => {
  if (stateOf(status) !== 'whole') return wayOut(name, status, stage);
  return status === 'UPDATE_ROLLBACK_COMPLETE'
    ? `CloudFormation has taken the update of ${name} back: it is as it was before`
    : `${name} is whole, and stays`;
};
