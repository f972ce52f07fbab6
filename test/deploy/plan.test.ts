import { describe, expect, it } from 'vitest';
import { bootstrapLeaves, planBootstrap } from '../../tools/deploy/bootstrap.ts';
import { afterFailure, planDeploy, planDestroy, type Seen } from '../../tools/deploy/plan.ts';
import { stateOf } from '../../tools/deploy/stacks.ts';

const NAMES = ['Groupage-dev-Data', 'Groupage-dev-Flow', 'Groupage-dev-Ops'];
const PROD = ['Groupage-prod-Data', 'Groupage-prod-Flow', 'Groupage-prod-Ops'];

const DEV = { stage: 'dev', names: NAMES, choosesApi: false };

const aStack = (name: string, status = 'CREATE_COMPLETE', stage = name.split('-')[1] ?? ''): Seen => ({
  name,
  status,
  description: '',
  tags: stage === '' ? {} : { 'groupage:stage': stage },
  changeSets: [],
  outputs: {},
});

describe('a plan to deploy', () => {
  it('creates missing and failed stacks, and changes complete ones', () => {
    expect(planDeploy(DEV, [])).toEqual({ do: 'go', creates: NAMES, changes: [] });
    const seen = [
      aStack('Groupage-dev-Data', 'UPDATE_ROLLBACK_COMPLETE'),
      aStack('Groupage-dev-Flow', 'ROLLBACK_COMPLETE'),
    ];
    expect(planDeploy(DEV, seen)).toEqual({
      do: 'go',
      creates: ['Groupage-dev-Flow', 'Groupage-dev-Ops'],
      changes: ['Groupage-dev-Data'],
    });
  });

  it('stops at a stack of the same name that is not of this stage', () => {
    expect(planDeploy(DEV, [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', '')])).toEqual({
      do: 'stop',
      problems: [expect.stringMatching(/Groupage-dev-Flow already .*has no tag groupage:stage.*Choose another stage/)],
    });
    expect(planDeploy(DEV, [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', 'old')])).toMatchObject({
      problems: [expect.stringContaining('groupage:stage=old')],
    });
  });

  it('offers to take over a stack only if an older Groupage may have made it', () => {
    const stack = aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', '');
    const older = { ...stack, description: 'Groupage: queues and functions' };
    expect(planDeploy(DEV, [older])).toMatchObject({ problems: [expect.stringContaining('npx cdk deploy')] });
    expect(planDeploy(DEV, [{ ...stack, description: 'A shop' }])).toMatchObject({
      problems: [expect.not.stringContaining('npx cdk deploy')],
    });
  });

  it('names ways out that work for prod', () => {
    const problems = (status: string) =>
      planDeploy({ stage: 'prod', names: PROD, choosesApi: false }, [aStack('Groupage-prod-Data', status)]);
    expect(problems('CREATE_FAILED')).toMatchObject({ problems: [expect.stringContaining('--stage prod --yes`')] });
    expect(problems('DELETE_FAILED')).toMatchObject({
      problems: [expect.stringMatching(/^(?!.*npm run destroy).*docs\/how-to\/deploy\.md/)],
    });
  });

  it('stops before it would replace the address of an API behind API Gateway', () => {
    const flow = (host: string): Seen => ({ ...aStack('Groupage-dev-Flow'), outputs: { ApiUrl: `https://${host}/` } });
    const behindGateway = [
      flow('abc123.execute-api.eu-west-1.amazonaws.com'),
      flow('abc123-vpce-0123456789abcdef0.execute-api.eu-west-1.amazonaws.com'),
    ];
    for (const stack of behindGateway) {
      expect(planDeploy(DEV, [stack])).toEqual({
        do: 'stop',
        problems: [expect.stringMatching(/Groupage-dev-Flow.*execute-api.*add --api/)],
      });
      expect(planDeploy({ ...DEV, choosesApi: true }, [stack])).toMatchObject({ do: 'go' });
    }
    expect(planDeploy(DEV, [flow('abc123.lambda-url.eu-west-1.on.aws')])).toMatchObject({ do: 'go' });
  });

  it('stops at a busy or stuck stack, and names the way out of each state', () => {
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
      expect(planDeploy(DEV, [aStack('Groupage-dev-Data', status)]), status).toEqual({
        do: 'stop',
        problems: [expect.stringMatching(words)],
      });
  });
});

describe('a plan to destroy', () => {
  it('takes all stacks of a stage if none is being changed', () => {
    expect(
      planDestroy(
        'dev',
        [aStack('Groupage-dev-Data'), aStack('Groupage-dev-Flow', 'DELETE_FAILED'), aStack('Groupage-dev-Ops')],
        false,
      ),
    ).toEqual({
      do: 'go',
      remove: NAMES,
      orphans: false,
    });
    expect(planDestroy('dev', [aStack('Groupage-dev-Flow', 'UPDATE_IN_PROGRESS')], false).do).toBe('stop');
    expect(planDestroy('dev', [aStack('Groupage-dev-Flow', 'CREATE_COMPLETE', '')], true).do).toBe('stop');
  });

  it('keeps the data stack of prod, unless its creation failed', () => {
    expect(
      planDestroy(
        'prod',
        PROD.map((name) => aStack(name)),
        true,
      ),
    ).toEqual({
      do: 'go',
      remove: ['Groupage-prod-Flow', 'Groupage-prod-Ops'],
      keep: { name: 'Groupage-prod-Data', status: 'CREATE_COMPLETE' },
      orphans: false,
    });
    expect(planDestroy('prod', [aStack('Groupage-prod-Data', 'UPDATE_ROLLBACK_FAILED')], true)).toMatchObject({
      remove: [],
      keep: { name: 'Groupage-prod-Data' },
    });
    for (const status of ['ROLLBACK_COMPLETE', 'CREATE_FAILED'])
      expect(planDestroy('prod', [aStack('Groupage-prod-Data', status)], true)).toEqual({
        do: 'go',
        remove: ['Groupage-prod-Data'],
        orphans: true,
      });
  });

  it('takes an empty stack of this stage, or of an unknown one with --yes', () => {
    const waiting = (stage: string, changeSets: string[] = []): Seen[] => [
      { ...aStack('Groupage-dev-Data', 'REVIEW_IN_PROGRESS', stage), changeSets },
    ];
    const foreign: Seen[] = waiting('').map((stack) => ({ ...stack, tags: { team: 'other' } }));
    expect(planDestroy('dev', foreign, true)).toMatchObject({
      problems: [expect.stringContaining('does not belong to this stage')],
    });
    expect(planDestroy('dev', waiting('old'), true).do).toBe('stop');
    expect(planDestroy('dev', waiting(''), false)).toMatchObject({ problems: [expect.stringContaining('Add --yes')] });
    expect(planDestroy('dev', waiting('', ['groupage-1', 'theirs']), false)).toMatchObject({
      problems: [expect.stringContaining('the change set groupage-1, theirs')],
    });
    for (const [seen, yes] of [
      [waiting(''), true],
      [waiting('', ['groupage-1']), false],
      [waiting('dev'), false],
    ] as const)
      expect(planDestroy('dev', seen, yes)).toMatchObject({ do: 'go', remove: ['Groupage-dev-Data'] });
    expect(planDeploy(DEV, foreign)).toMatchObject({
      problems: [expect.stringContaining('does not belong to this stage')],
    });
  });
});

describe('after a failed deployment', () => {
  const OURS = 'groupage-1';
  const outcome = (
    stage: string,
    creates: readonly string[],
    now: Record<string, string>,
    changeSets: Record<string, string[]> = {},
  ) =>
    afterFailure(
      { stage, creates, changeSet: OURS },
      Object.entries(now).map(([name, status]) => ({ name, status, changeSets: changeSets[name] ?? [OURS] })),
    );

  it('the clean-up removes all new stacks, dependents first', () => {
    const now = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'ROLLBACK_COMPLETE' };
    expect(outcome('dev', NAMES, now)).toEqual({
      do: 'remove',
      remove: ['Groupage-dev-Flow', 'Groupage-dev-Data'],
      orphans: false,
      says: [],
    });
    expect(outcome('dev', NAMES, {})).toEqual({ do: 'remove', remove: [], orphans: false, says: [] });
    expect(outcome('dev', NAMES, { 'Groupage-dev-Data': 'REVIEW_IN_PROGRESS' })).toMatchObject({
      remove: ['Groupage-dev-Data'],
    });
  });

  it('the clean-up removes a failed ops stack alone', () => {
    const now = {
      'Groupage-dev-Data': 'CREATE_COMPLETE',
      'Groupage-dev-Flow': 'CREATE_COMPLETE',
      'Groupage-dev-Ops': 'ROLLBACK_COMPLETE',
    };
    expect(outcome('dev', NAMES, now)).toMatchObject({
      remove: ['Groupage-dev-Ops'],
      says: ['Groupage-dev-Data is complete and stays', 'Groupage-dev-Flow is complete and stays'],
    });
    const none = { ...now, 'Groupage-dev-Flow': 'ROLLBACK_COMPLETE' };
    expect(outcome('dev', NAMES, none)).toMatchObject({ remove: NAMES.toReversed() });
  });

  it('the clean-up keeps stacks that existed before', () => {
    const now = { 'Groupage-dev-Data': 'UPDATE_COMPLETE', 'Groupage-dev-Flow': 'ROLLBACK_FAILED' };
    expect(outcome('dev', ['Groupage-dev-Flow'], now)).toMatchObject({ remove: ['Groupage-dev-Flow'] });
    const taken = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'UPDATE_ROLLBACK_COMPLETE' };
    expect(outcome('dev', [], taken)).toMatchObject({
      remove: [],
      says: [
        'Groupage-dev-Data is complete and stays',
        expect.stringContaining('rolled back the update of Groupage-dev-Flow'),
      ],
    });
    expect(outcome('dev', [], { 'Groupage-dev-Flow': 'UPDATE_IN_PROGRESS' })).toMatchObject({
      remove: [],
      says: [expect.stringContaining('is still updating Groupage-dev-Flow')],
    });
  });

  it("the clean-up keeps another deployment's stacks and what they use", () => {
    const theirs = expect.stringMatching(/was created by another deployment/);
    for (const status of ['CREATE_IN_PROGRESS', 'CREATE_COMPLETE', 'ROLLBACK_COMPLETE', 'REVIEW_IN_PROGRESS'])
      for (const changeSets of [['groupage-2'], [OURS, 'groupage-2'], []])
        expect(
          outcome(
            'dev',
            NAMES,
            { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': status },
            { 'Groupage-dev-Flow': changeSets },
          ),
        ).toMatchObject({ remove: [], says: [theirs, 'Groupage-dev-Data is complete and stays'] });
    // Created by the other deployment and changed by this one, or the reverse.
    for (const changeSets of [[OURS], ['groupage-2']])
      expect(
        outcome('dev', NAMES, { 'Groupage-dev-Data': 'UPDATE_COMPLETE' }, { 'Groupage-dev-Data': changeSets }),
      ).toMatchObject({ remove: [], says: [theirs] });
  });

  it('the clean-up waits until no stack of this run changes', () => {
    const now = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'CREATE_IN_PROGRESS' };
    expect(outcome('dev', NAMES, now)).toEqual({ do: 'wait', until: ['Groupage-dev-Flow (CREATE_IN_PROGRESS)'] });
    const whole = { 'Groupage-dev-Data': 'CREATE_COMPLETE', 'Groupage-dev-Flow': 'CREATE_COMPLETE' };
    expect(outcome('dev', NAMES, whole)).toMatchObject({
      remove: [],
      says: ['Groupage-dev-Data is complete and stays', 'Groupage-dev-Flow is complete and stays'],
    });
  });

  it('the clean-up keeps a complete data stack of prod, and says so', () => {
    const now = { 'Groupage-prod-Data': 'CREATE_COMPLETE', 'Groupage-prod-Flow': 'ROLLBACK_COMPLETE' };
    expect(outcome('prod', PROD, now)).toMatchObject({
      remove: ['Groupage-prod-Flow'],
      orphans: false,
      says: [expect.stringContaining('Groupage-prod-Data is complete and stays. Its tables are empty')],
    });
    expect(outcome('prod', PROD, { 'Groupage-prod-Data': 'ROLLBACK_COMPLETE' })).toMatchObject({
      remove: ['Groupage-prod-Data'],
      orphans: true,
    });
  });
});

describe('bootstrapping', () => {
  const found = { environment: 'aws://1/eu-west-1', qualifier: 'hnb659fds' };

  it('happens if nothing exists, or if an earlier one failed', () => {
    expect(planBootstrap(found)).toEqual({ do: 'bootstrap' });
    expect(planBootstrap({ ...found, toolkit: 'ROLLBACK_COMPLETE' })).toEqual({ do: 'bootstrap' });
  });

  it('never changes an existing one', () => {
    for (const version of ['6', '33', '900']) expect(planBootstrap({ ...found, version })).toEqual({ do: 'nothing' });
    for (const [there, words] of [
      [{ version: '5' }, /version 5; version 6 is needed.*npx cdk bootstrap aws:\/\/1\/eu-west-1/],
      [{ toolkit: 'CREATE_COMPLETE' }, /bootstrap used another qualifier/],
      [{ toolkit: 'UPDATE_IN_PROGRESS' }, /is being bootstrapped/],
      [{ toolkit: 'DELETE_FAILED' }, /bootstrap of aws:\/\/1\/eu-west-1 is incomplete/],
    ] as const)
      expect(planBootstrap({ ...found, ...there })).toEqual({ do: 'stop', problem: expect.stringMatching(words) });
  });
});

it('a failed bootstrap says what it leaves', () => {
  expect(bootstrapLeaves(undefined)).toBe('Nothing was created.');
  expect(bootstrapLeaves('CREATE_IN_PROGRESS')).toContain(
    'is still working on the stack CDKToolkit (CREATE_IN_PROGRESS)',
  );
  expect(bootstrapLeaves('REVIEW_IN_PROGRESS')).toContain('aws cloudformation delete-stack');
  expect(bootstrapLeaves('CREATE_COMPLETE')).toContain('The next deployment uses this stack');
});

it('every status of a stack has a state', () => {
  expect(stateOf('UPDATE_ROLLBACK_COMPLETE')).toBe('whole');
  expect(stateOf('ROLLBACK_COMPLETE')).toBe('broken');
  expect(stateOf('ROLLBACK_IN_PROGRESS')).toBe('busy');
  expect(stateOf('UPDATE_FAILED')).toBe('stuck');
});
