/**
 * Whether a stage enforces the rules of producers. If the configuration does not say, the stage decides once, before it
 * registers its first message: it enforces them if it has never registered anything. A stage that was upgraded warns
 * first, because its producers may depend on what the rules forbid.
 */
import type { Config } from '../../domain/config/resolved.ts';
import type { RulesMode } from '../../domain/producers/rules.ts';
import type { Report } from '../../ports/machine.ts';
import type { Stage } from '../../ports/stage.ts';

/**
 * Decides at the first call, and remembers the answer. A failed call decides nothing: its messages come back.
 *
 * Two functions may decide at once. The row of the first one counts, so it does not matter that the other may already
 * see Targets of messages that the first one has registered.
 */
export const decidedMode = (
  { producerRules }: Pick<Config, 'producerRules'>,
  stage: Stage,
  report: Report,
): (() => Promise<RulesMode>) => {
  let known = producerRules;
  return async () => {
    known ??= (await stage.readMode()) ?? (await decide(stage, report));
    return known;
  };
};

const decide = async (stage: Stage, report: Report): Promise<RulesMode> => {
  const mode = await stage.decideMode((await stage.hasTargets()) ? 'warn' : 'enforce');
  report({ event: 'rules-decided', mode });
  return mode;
};

/** The mode for a function that does not decide: undefined while the stage has not registered anything. */
export const storedMode = (
  { producerRules }: Pick<Config, 'producerRules'>,
  stage: Pick<Stage, 'readMode'>,
): (() => Promise<RulesMode | undefined>) => {
  let known = producerRules;
  return async () => {
    known ??= await stage.readMode();
    return known;
  };
};
