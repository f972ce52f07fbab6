/** What to do with a stage's stacks, given what was found of them. Pure. */
import { keepsData, STAGE_TAG, stackNames } from '../../lib/stage.ts';
import { stateOf, wayOut } from './stack-state.ts';

/** What a plan has to know of a stack. */
export interface Seen {
  readonly name: string;
  readonly status: string;
  readonly tags: Readonly<Record<string, string>>;
}

export type Plan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | { readonly do: 'go'; readonly creates: readonly string[]; readonly changes: readonly string[] };

/** @param names the stage's, whether there are such stacks or not. */
export const planDeploy = (stage: string, names: readonly string[], seen: readonly Seen[]): Plan => {
  const problems = seen.flatMap((stack) => {
    // A change set's stack may not show its tags yet, and needs a person anyway.
    const state = stateOf(stack.status);
    if (state !== 'review' && isForeign(stack, stage)) return [takenBy(stack, stage)];
    return state === 'whole' || state === 'broken' ? [] : [wayOut(stack.name, stack.status, stage)];
  });
  if (problems.length > 0) return { do: 'stop', problems };
  const changes = seen.filter(({ status }) => stateOf(status) === 'whole').map(({ name }) => name);
  return { do: 'go', creates: names.filter((name) => !changes.includes(name)), changes };
};

export type DestroyPlan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | {
      readonly do: 'go';
      readonly remove: readonly string[];
      /** A data stack that stays, since its tables would outlive it anyway. */
      readonly keep?: string;
      /** Whether tables of a data stack that never was whole have to be removed too. */
      readonly orphans: boolean;
    };

/** Removing takes stacks in any state that rests, but the data of the stage that keeps it. */
export const planDestroy = (stage: string, seen: readonly Seen[]): DestroyPlan => {
  const problems = seen.flatMap((stack) => {
    const state = stateOf(stack.status);
    if (state !== 'review' && isForeign(stack, stage)) return [takenBy(stack, stage)];
    return state === 'busy' ? [wayOut(stack.name, stack.status, stage)] : [];
  });
  if (problems.length > 0) return { do: 'stop', problems };
  const { data } = stackNames(stage);
  const found = seen.find(({ name }) => name === data);
  const neverWhole = found !== undefined && ['broken', 'review'].includes(stateOf(found.status));
  const keeps = keepsData(stage) && found !== undefined && !neverWhole;
  return {
    do: 'go',
    remove: seen.map(({ name }) => name).filter((name) => !(keeps && name === data)),
    ...(keeps ? { keep: data } : {}),
    orphans: keepsData(stage) && neverWhole,
  };
};

const isForeign = ({ tags }: Seen, stage: string): boolean => tags[STAGE_TAG] !== stage;

const takenBy = ({ name, tags }: Seen, stage: string): string => {
  const found = tags[STAGE_TAG] === undefined ? `has no tag ${STAGE_TAG}` : `is tagged ${STAGE_TAG}=${tags[STAGE_TAG]}`;
  return `there is a stack ${name} already that is not this stage's (it ${found}): choose another stage, or remove that stack if nobody needs it. If an older Groupage made it, \`npx cdk deploy --all -c stage=${stage}\` makes it this stage's`;
};
