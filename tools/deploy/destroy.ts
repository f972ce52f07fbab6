/** `npm run destroy`: removes a stage. The stage that keeps its data keeps its data stack. */
import { checkStage, keepsData, stackNames } from '../../lib/stage.ts';
import { openAccount } from '../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { untilInterrupted } from './interruption.ts';
import { stacksOf, whoAmI } from './look.ts';
import { planDestroy } from './plan.ts';
import { removeStacks } from './remove.ts';
import { staysOf } from './words.ts';

export interface DestroyOptions {
  readonly stage: string;
  /** Whether what is lost with a stage that keeps its data may be lost, and what may be somebody else's removed. */
  readonly yes: boolean;
}

/** @throws CommandFailure, InvalidStage */
export const destroy = async ({ stage, yes }: DestroyOptions): Promise<void> => {
  checkStage(stage);
  if (keepsData(stage) && !yes)
    throw new WrongUsage(
      `this takes the functions and the API of ${stage} away, and what waits in its inner queues (tables, and queues with tasks or refused messages, stay): add --yes if you mean it`,
    );
  const account = await openAccount(process.env);
  const number = await whoAmI(account);
  const where = `account ${number}, region ${account.region}`;
  const plan = planDestroy(stage, await stacksOf(account, stage), yes);
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const { keep, orphans } = plan;
  // Each uses those before it: the flow stack what the data stack exports, the ops stack both.
  const remove = plan.remove.toReversed();
  if (remove.length === 0 && keep === undefined)
    throw new CommandFailure(`there is nothing of the stage ${stage} in ${where}: is it another region or account?`);
  console.log(`Removing ${remove.join(', ') || 'nothing more'} from ${where}`);
  const tables = orphans ? { tablesOf: stackNames(stage).data } : {};
  const { says, problems } = await untilInterrupted((signal) =>
    removeStacks(account, { stage, remove, ...tables }, signal),
  );
  for (const line of says) console.log(line);
  if (keep !== undefined) console.log(staysOf(stage, keep));
  if (problems.length > 0) throw new CommandFailure(problems.join('\n'));
};
