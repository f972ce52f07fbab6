import { describe, expect, it } from 'vitest';
import { afterFailure } from '../../src/deploy/after-failure.ts';
import { planBootstrap } from '../../src/deploy/bootstrap.ts';
import { planDeploy, planDestroy, type Seen } from '../../src/deploy/plan.ts';
import { stateOf } from '../../src/deploy/stack-state.ts';

const NAMES = ['Groupage-dev-Data', 'Groupage-dev-Flow'];
const PROD = ['Groupage-prod-Data', 'Groupage-prod-Flow'];

const aStack = (name: string, status = 'CREATE_COMPLETE', stage = name.split('-')[1] ?? ''): Seen => ({
  name,
  status,
  tags: stage === '' ? {} : { 'groupage:stage': stage },
});

describe('a plan to deploy', () => {
  it('creates what is not there, and what failed to be created; it changes what is whole', () => {
    expect(planDeploy('dev', NAMES, [])).toEqual({ do: 'go', creates: NAMES, changes: [] });
    const seen = [
      aStack('Groupage-dev-Data', 'UPDATE_ROLLBACK_COMPLETE'),
      aStack('Groupage-dev-Flow', 'ROLLBACK_COMPLETE'),
    ];
    expect(planDeploy('dev', NAMES, seen)).toEqual({
      do: 'go',
      creates: ['Groupage-dev-Flow'],
      changes: ['Groupage-dev-Data'],
    });
  });

  it('stops at a stack of the same name that is not of this stage', () => {
    expect(planDeploy('dev', NAMES, [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', '')])).toEqual({
      do: 'stop',
      problems: [expect.stringMatching(/Groupage-dev-Flow already .*has no tag groupage:stage.*choose another stage/)],
    });
    expect(planDeploy('dev', NAMES, [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', 'old')])).toMatchObject({
      problems: [expect.stringContaining('groupage:stage=old')],
    });
  });

  it('stops at a stack that is busy or stuck, and says the way out of each state', () => {
    for (const [status, words] of [
      ['CREATE_IN_PROGRESS', /being created/],
      ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', /being updated/],
      ['DELETE_IN_PROGRESS', /being removed/],
      ['UPDATE_ROLLBACK_IN_PROGRESS', /rolled back/],
      ['REVIEW_IN_PROGRESS', /change set/],
      ['CREATE_FAILED', /npm run destroy -- --stage dev/],
      ['DELETE_FAILED', /npm run destroy -- --stage dev/],
      ['UPDATE_FAILED', /cdk rollback Groupage-dev-Data/],
      ['UPDATE_ROLLBACK_FAILED', /continue-update-rollback --stack-name Groupage-dev-Data/],
    ] as const)
      expect(planDeploy('dev', NAMES, [aStack('Groupage-dev-Data', status)]), status).toEqual({
        do: 'stop',
        problems: [expect.stringMatching(words)],
      });
  });
});

describe('a plan to remove', () => {
  it('takes all of a stage, in any state that rests', () => {
    expect(planDestroy('dev', [aStack('Groupage-dev-Data'), aStack('Groupage-dev-Flow', 'DELETE_FAILED')])).toEqual({
      do: 'go',
      remove: NAMES,
      orphans: false,
    });
    expect(planDestroy('dev', [aStack('Groupage-dev-Flow', 'UPDATE_IN_PROGRESS')]).do).toBe('stop');
    expect(planDestroy('dev', [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', '')]).do).toBe('stop');
  });

  it('keeps the data stack of prod, unless it never was whole', () => {
    expect(
      planDestroy(
        'prod',
        PROD.map((name) => aStack(name)),
      ),
    ).toEqual({
      do: 'go',
      remove: ['Groupage-prod-Flow'],
      keep: 'Groupage-prod-Data',
      orphans: false,
    });
    expect(planDestroy('prod', [aStack('Groupage-prod-Data', 'UPDATE_ROLLBACK_FAILED')])).toMatchObject({
      remove: [],
      keep: 'Groupage-prod-Data',
    });
    expect(planDestroy('prod', [aStack('Groupage-prod-Data', 'ROLLBACK_COMPLETE')])).toEqual({
      do: 'go',
      remove: ['Groupage-prod-Data'],
      orphans: true,
    });
  });
});

describe('after a deployment failed', () => {
  const outcome = (stage: string, creates: readonly string[], now: Record<string, string>) =>
    afterFailure(stage, creates, new Map(Object.entries(now)));

  it('everything that this run made goes, what uses something before what is used', () => {
    const now = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'ROLLBACK_COMPLETE' };
    expect(outcome('dev', NAMES, now)).toEqual({ remove: NAMES.toReversed(), orphans: false, says: [] });
    expect(outcome('dev', NAMES, {})).toEqual({ remove: [], orphans: false, says: [] });
    expect(outcome('dev', NAMES, { 'Groupage-dev-Data': 'REVIEW_IN_PROGRESS' }).remove).toEqual(['Groupage-dev-Data']);
  });

  it('what was there before stays', () => {
    const now = { 'Groupage-dev-Data': 'UPDATE_COMPLETE', 'Groupage-dev-Flow': 'ROLLBACK_FAILED' };
    expect(outcome('dev', ['Groupage-dev-Flow'], now)).toMatchObject({ remove: ['Groupage-dev-Flow'] });
    const taken = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'UPDATE_ROLLBACK_COMPLETE' };
    expect(outcome('dev', [], taken)).toEqual({
      remove: [],
      orphans: false,
      says: ['Groupage-dev-Data is whole, and stays', expect.stringContaining('taken the update of Groupage-dev-Flow')],
    });
  });

  it('a stack that somebody still works on is left alone, and so is what it uses', () => {
    const now = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'CREATE_IN_PROGRESS' };
    expect(outcome('dev', NAMES, now)).toMatchObject({
      remove: [],
      says: [expect.stringContaining('Nothing was removed'), 'Groupage-dev-Data is whole, and stays'],
    });
  });

  it('a whole data stack of prod stays, with a sentence; one that never was whole goes with its tables', () => {
    const now = { 'Groupage-prod-Data': 'CREATE_COMPLETE', 'Groupage-prod-Flow': 'ROLLBACK_COMPLETE' };
    expect(outcome('prod', PROD, now)).toEqual({
      remove: ['Groupage-prod-Flow'],
      orphans: false,
      says: [expect.stringContaining('Groupage-prod-Data is whole and stays: its tables are empty')],
    });
    expect(outcome('prod', PROD, { 'Groupage-prod-Data': 'ROLLBACK_COMPLETE' })).toMatchObject({
      remove: ['Groupage-prod-Data'],
      orphans: true,
    });
  });
});

describe('bootstrapping', () => {
  const found = { environment: 'aws://1/eu-west-1', qualifier: 'hnb659fds' };

  it('happens where nothing is, and where an earlier one failed', () => {
    expect(planBootstrap(found)).toEqual({ do: 'bootstrap' });
    expect(planBootstrap({ ...found, toolkit: 'ROLLBACK_COMPLETE' })).toEqual({ do: 'bootstrap' });
  });

  it('never touches one that is there, whoever made it', () => {
    for (const version of ['6', '33', '900']) expect(planBootstrap({ ...found, version })).toEqual({ do: 'nothing' });
    for (const [there, words] of [
      [{ version: '5' }, /version 5, needed is 6.*npx cdk bootstrap aws:\/\/1\/eu-west-1/],
      [{ toolkit: 'CREATE_COMPLETE' }, /qualifier of its own/],
      [{ toolkit: 'UPDATE_IN_PROGRESS' }, /is being bootstrapped/],
      [{ toolkit: 'DELETE_FAILED' }, /not bootstrapped entirely/],
    ] as const)
      expect(planBootstrap({ ...found, ...there })).toEqual({ do: 'stop', problem: expect.stringMatching(words) });
  });
});

it('every state of a stack is one of five', () => {
  expect(stateOf('UPDATE_ROLLBACK_COMPLETE')).toBe('whole');
  expect(stateOf('ROLLBACK_COMPLETE')).toBe('broken');
  expect(stateOf('ROLLBACK_IN_PROGRESS')).toBe('busy');
  expect(stateOf('UPDATE_FAILED')).toBe('stuck');
});
