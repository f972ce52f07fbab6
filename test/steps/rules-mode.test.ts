/** Whether a stage enforces the rules of producers: decided once, before its first message is registered. */
import { expect, it } from 'vitest';
import type { RulesMode } from '../../src/domain/producers/rules.ts';
import type { Stage } from '../../src/ports/stage.ts';
import { decidedMode, storedMode } from '../../src/steps/producers/mode.ts';

interface FakeStage extends Stage {
  stored: RulesMode | undefined;
  calls: number;
  /** How many of the next reads fail. */
  failures: number;
}

const aStage = (hasTargets: boolean, stored?: RulesMode) => {
  const stage: FakeStage = {
    stored,
    calls: 0,
    failures: 0,
    readMode: async () => {
      stage.calls += 1;
      if (stage.failures > 0) {
        stage.failures -= 1;
        throw new Error('throttled');
      }
      return stage.stored;
    },
    decideMode: async (mode: RulesMode) => {
      stage.calls += 1;
      stage.stored ??= mode;
      return stage.stored;
    },
    hasTargets: async () => {
      stage.calls += 1;
      return hasTargets;
    },
  };
  return stage;
};
const modeOf = (stage: Stage, producerRules?: RulesMode) => decidedMode({ producerRules }, stage, () => {});

it('a stage that has registered nothing enforces the rules; an upgraded one warns', async () => {
  const [fresh, upgraded] = [aStage(false), aStage(true)];
  expect([await modeOf(fresh)(), fresh.stored]).toEqual(['enforce', 'enforce']);
  expect([await modeOf(upgraded)(), upgraded.stored]).toEqual(['warn', 'warn']);
});

it('the decision stays, although the stage has Targets later', async () => {
  expect(await modeOf(aStage(true, 'enforce'))()).toBe('enforce');
});

it('the configuration decides if it says so, without a read', async () => {
  const stage = aStage(true);
  expect([await modeOf(stage, 'enforce')(), stage.calls, stage.stored]).toEqual(['enforce', 0, undefined]);
});

it('is read once by each function', async () => {
  const stage = aStage(false);
  const mode = modeOf(stage);
  await mode();
  const { calls } = stage;
  expect([await mode(), stage.calls - calls]).toEqual(['enforce', 0]);
});

it('of two functions that decide at once, the first one counts for both', async () => {
  const stage = aStage(false);
  const late = { ...stage, hasTargets: async () => true, decideMode: stage.decideMode };
  // The late function read no decision, and then sees the Target of the message that the first one registered.
  const decided = await Promise.all([modeOf(stage)(), modeOf({ ...late, readMode: async () => undefined })()]);
  expect(decided).toEqual(['enforce', 'enforce']);
});

it('a throttled table decides nothing: the next message decides', async () => {
  const stage = aStage(false);
  stage.failures = 1;
  const mode = modeOf(stage);
  await expect(mode()).rejects.toThrow('throttled');
  expect(await mode()).toBe('enforce');
});

it('the API decides nothing, and asks again until the register function has decided', async () => {
  const stage = aStage(false);
  const mode = storedMode({}, stage);
  expect([await mode(), stage.stored]).toEqual([undefined, undefined]);
  stage.stored = 'enforce';
  expect(await mode()).toBe('enforce');
  const { calls } = stage;
  expect([await mode(), stage.calls]).toEqual(['enforce', calls]);
});
