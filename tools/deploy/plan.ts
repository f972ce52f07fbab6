/** What to do with a stage's stacks, given what was found of them. Pure. */
import { keepsData, STAGE_TAG, stackNames } from '../../lib/stage.ts';
import { waitsForUs } from './change-set.ts';
import { stateOf, wayOut } from './stack-state.ts';

/** What a plan has to know of a stack. */
export interface Seen {
  readonly name: string;
  readonly status: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly changeSets: readonly string[];
}

export type Plan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | { readonly do: 'go'; readonly creates: readonly string[]; readonly changes: readonly string[] };

/** @param names the stage's, whether there are such stacks or not. */
export const planDeploy = (stage: string, names: readonly string[], seen: readonly Seen[]): Plan => {
  const problems = seen.flatMap((stack) => {
    const state = stateOf(stack.status);
    if (isForeign(stack, stage)) return [takenBy(stack, stage)];
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
      readonly keep?: { readonly name: string; readonly status: string };
      /** Whether tables of a data stack that never was whole have to be removed too. */
      readonly orphans: boolean;
    };

/**
 * Removing takes stacks in any state that rests, but the data of the stage that keeps it.
 *
 * @param yes whether to remove also what may be somebody else's.
 */
export const planDestroy = (stage: string, seen: readonly Seen[], yes: boolean): DestroyPlan => {
  const problems = seen.flatMap((stack) => {
    if (isForeign(stack, stage)) return [takenBy(stack, stage)];
    if (isNobodys(stack) && !yes) return [maybeOf(stack)];
    return stateOf(stack.status) === 'busy' ? [wayOut(stack.name, stack.status, stage)] : [];
  });
  if (problems.length > 0) return { do: 'stop', problems };
  const { data } = stackNames(stage);
  const found = seen.find(({ name }) => name === data);
  const neverWhole =
    found !== undefined && (found.status === 'CREATE_FAILED' || ['broken', 'review'].includes(stateOf(found.status)));
  const keeps = keepsData(stage) && found !== undefined && !neverWhole;
  return {
    do: 'go',
    remove: seen.map(({ name }) => name).filter((name) => !(keeps && name === data)),
    ...(keeps ? { keep: { name: data, status: found.status } } : {}),
    orphans: keepsData(stage) && neverWhole,
  };
};

const isForeign = (stack: Seen, stage: string): boolean => stack.tags[STAGE_TAG] !== stage && !hasNoTagsYet(stack);

/** A stack that only waits for its first change set may not show its tags yet. */
const hasNoTagsYet = ({ status, tags }: Seen): boolean =>
  stateOf(status) === 'review' && Object.keys(tags).length === 0;

/** Nothing says whose it is. */
const isNobodys = (stack: Seen): boolean => hasNoTagsYet(stack) && !waitsForUs(stack);

const maybeOf = ({ name, changeSets }: Seen): string =>
  `${name} holds nothing yet, and nothing says whose it is (${changeSets.length > 0 ? `it waits for the change set ${changeSets.join(', ')}` : 'it has no tags and no change set'}): add --yes if it may go`;

/** What our stacks' descriptions begin with, also of those that were made before they had tags. */
const OURS = 'Groupage:';

const takenBy = ({ name, tags, description }: Seen, stage: string): string => {
  const found = tags[STAGE_TAG] === undefined ? `has no tag ${STAGE_TAG}` : `is tagged ${STAGE_TAG}=${tags[STAGE_TAG]}`;
  const older = description.startsWith(OURS)
    ? `. If an older Groupage made it, \`npx cdk deploy --all -c stage=${stage}\` makes it this stage's`
    : '';
  return `there is a stack ${name} already that is not this stage's (it ${found}): choose another stage, or remove that stack if nobody needs it${older}`;
};
