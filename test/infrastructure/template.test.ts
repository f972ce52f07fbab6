import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { groupageApp, stackNames } from '../../lib/app.ts';
import { Groupage } from '../../lib/groupage.ts';
import { LEADER_TIMEOUT, LEADER_VISIBILITY, LEASE } from '../../src/batching/timings.ts';
import { handlerTimeout } from '../../src/config/resolved.ts';
import { aConfig } from '../factories/factories.ts';

type Resource = {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
};

const config = aConfig();
const context = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as { context: Record<string, unknown> }
).context;
const synthesised = (stage: string, outdir?: string): App =>
  groupageApp({ config, stage, context, builtinCloudFormationValidation: false, ...(outdir ? { outdir } : {}) });
const resources = (stage: string): Map<string, Resource> => {
  const app = synthesised(stage);
  const { data, flow } = stackNames(stage);
  return new Map(
    [data, flow].flatMap((name) =>
      Object.entries(
        Template.fromStack(app.node.findChild(name) as Stack).toJSON().Resources as Record<string, Resource>,
      ),
    ),
  );
};
const dev = resources('dev');
const ofType = (type: string, from = dev): [string, Resource][] => [...from].filter(([, { Type }]) => Type === type);
const refOf = (value: unknown): string => {
  const { Ref, 'Fn::GetAtt': attribute } = value as { Ref?: string; 'Fn::GetAtt'?: [string, string] };
  return Ref ?? attribute?.[0] ?? '';
};

describe('every queue', () => {
  const queues = ofType('AWS::SQS::Queue');
  const deadLetters = new Set(
    queues.flatMap(([, { Properties }]) =>
      Properties.RedrivePolicy
        ? [refOf((Properties.RedrivePolicy as { deadLetterTargetArn: unknown }).deadLetterTargetArn)]
        : [],
    ),
  );
  const sources = new Set(
    ofType('AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => refOf(Properties.EventSourceArn)),
  );

  it('that a function works off has a dead-letter queue of its own; no other queue has one', () => {
    expect(sources.size).toBe(4);
    expect(deadLetters.size).toBe(4);
    for (const [id, { Properties }] of queues)
      expect([id, Properties.RedrivePolicy !== undefined]).toEqual([id, sources.has(id)]);
    expect(queues).toHaveLength(9);
  });

  it('is encrypted, takes TLS only, and keeps messages for fourteen days', () => {
    const secured = new Set(
      ofType('AWS::SQS::QueuePolicy').flatMap(([, { Properties }]) => (Properties.Queues as unknown[]).map(refOf)),
    );
    for (const [id, { Properties }] of queues) {
      expect(Properties, id).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 });
      expect(secured, id).toContain(id);
    }
    const statements = ofType('AWS::SQS::QueuePolicy').flatMap(
      ([, { Properties }]) => (Properties.PolicyDocument as { Statement: object[] }).Statement,
    );
    for (const statement of statements)
      expect(statement).toMatchObject({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } });
  });

  it('hides a message for longer than its function runs: timeout < lease < visibility', () => {
    expect(LEADER_TIMEOUT).toBeLessThan(LEASE);
    expect(LEASE).toBeLessThan(LEADER_VISIBILITY);
    for (const [, { Properties }] of ofType('AWS::Lambda::EventSourceMapping')) {
      const queue = refOf(Properties.EventSourceArn);
      const timeout = Number(dev.get(refOf(Properties.FunctionName))?.Properties.Timeout);
      const visibility = Number(dev.get(queue)?.Properties.VisibilityTimeout);
      // A leader's messages must be back soon after its lease; the others follow the rule of six timeouts.
      expect(visibility, queue).toBe(/Elect|Group/.test(queue) ? LEADER_VISIBILITY / 1_000 : 6 * timeout);
    }
    expect(dev.get([...dev.keys()].find((id) => /^FlowBatchHandlerFunction/.test(id)) ?? '')?.Properties.Timeout).toBe(
      handlerTimeout(config) / 1_000,
    );
  });
});

describe('every function', () => {
  const functions = ofType('AWS::Lambda::Function');

  it('runs on arm64 and the Node.js that was tested, keeps its logs for a month, and may get its own messages back', () => {
    expect(functions.map(([id]) => id.replace(/Function.*$/, '')).toSorted()).toEqual(
      ['Api', 'Batch', 'Elect', 'Group', 'Register', 'Sweep'].map((name) => `Flow${name}Handler`),
    );
    for (const [id, { Properties }] of functions) {
      expect(Properties, id).toMatchObject({ Architectures: ['arm64'], Runtime: 'nodejs24.x', RecursiveLoop: 'Allow' });
      expect(Properties.ReservedConcurrentExecutions, id).toBeUndefined();
      expect(
        dev.get(refOf((Properties.LoggingConfig as { LogGroup: unknown }).LogGroup))?.Properties,
        id,
      ).toMatchObject({ RetentionInDays: 30 });
    }
  });

  it('has a role of its own, and no statement in it has a wildcard', () => {
    const roles = functions.map(([, { Properties }]) => refOf(Properties.Role));
    expect(new Set(roles).size).toBe(functions.length);
    for (const role of roles) expect(dev.get(role)?.Properties.ManagedPolicyArns).toBeUndefined();
    for (const [id, { Properties }] of ofType('AWS::IAM::Policy'))
      for (const statement of (
        Properties.PolicyDocument as { Statement: { Action: string | string[]; Resource: unknown }[] }
      ).Statement) {
        for (const action of [statement.Action].flat()) expect(action, id).not.toContain('*');
        expect(JSON.stringify(statement.Resource), id).not.toContain('*');
      }
  });

  it('that works off a queue reports each failed message, and is held by the event source, not by reserved concurrency', () => {
    const sources = ofType('AWS::Lambda::EventSourceMapping');
    expect(sources).toHaveLength(4);
    for (const [id, { Properties }] of sources) {
      expect(Properties, id).toMatchObject({ FunctionResponseTypes: ['ReportBatchItemFailures'] });
      expect(
        (Properties.ScalingConfig as { MaximumConcurrency: number }).MaximumConcurrency,
        id,
      ).toBeGreaterThanOrEqual(2);
    }
  });

  it('that serves the API asks for credentials; the sweep runs each minute', () => {
    expect(ofType('AWS::Lambda::Url').map(([, { Properties }]) => Properties.AuthType)).toEqual(['AWS_IAM']);
    expect(ofType('AWS::Events::Rule').map(([, { Properties }]) => Properties.ScheduleExpression)).toEqual([
      'rate(1 minute)',
    ]);
  });
});

describe('every table', () => {
  it('is on demand, can be restored to a point in time, and lets finished rows expire', () => {
    const tables = ofType('AWS::DynamoDB::Table');
    expect(tables).toHaveLength(3);
    for (const [id, { Properties }] of tables)
      expect(Properties, id).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'ExpiresAt', Enabled: true },
      });
  });

  it('outlives its stack in production, and goes with it elsewhere', () => {
    for (const [, { Properties, DeletionPolicy }] of ofType('AWS::DynamoDB::Table', resources('prod')))
      expect([DeletionPolicy, Properties.DeletionProtectionEnabled]).toEqual(['Retain', true]);
    for (const [, { Properties, DeletionPolicy }] of ofType('AWS::DynamoDB::Table'))
      expect([DeletionPolicy, Properties.DeletionProtectionEnabled]).toEqual(['Delete', false]);
  });

  it('keeps its logical id: another one would replace it, with everything in it', () => {
    expect(ofType('AWS::DynamoDB::Table').map(([id]) => id)).toEqual([
      'TablesTaskB19EC4F8',
      'TablesBatchLock9626B399',
      'TablesBatch5B4FD9E3',
    ]);
  });
});

describe('the app', () => {
  it("passes cdk-nag's AwsSolutions pack", () => {
    const app = synthesised('dev');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });

  it('gives the same assets for the same sources', () => {
    const assets = (): string[] => {
      const folder = mkdtempSync(join(tmpdir(), 'groupage-assets-'));
      const { directory } = synthesised('dev', folder).synth();
      return Object.keys(
        (
          JSON.parse(readFileSync(join(directory, `${stackNames('dev').flow}.assets.json`), 'utf8')) as {
            files: object;
          }
        ).files,
      );
    };
    expect(assets()).toEqual(assets());
  });

  it('stops at a broken configuration with the path and the fix', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'groupage-config-')), 'groupage.config.json');
    writeFileSync(
      file,
      '{"operations":{"ship":{"target":["depot"],"batch":{"maxSize":0},"downstream":{"kind":"http","url":"http://x"}}}}',
    );
    const node = join(import.meta.dirname, '../../node_modules/node/bin/node');
    const run = promisify(execFile)(node, ['bin/app.ts'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, GROUPAGE_CONFIG: file },
    });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('operations.ship.batch.maxSize must be a whole number from 1 to 1000, not 0'),
    });
  });
});

describe('the construct Groupage', () => {
  const input = {
    operations: { ship: { target: ['depot'], downstream: { kind: 'http' as const, url: 'http://127.0.0.1/' } } },
  };

  it("brings everything into somebody's own stack", () => {
    const stack = new Stack(new App(), 'TheirStack');
    new Groupage(stack, 'Groupage', { config: input, retain: false });
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::DynamoDB::Table', 3);
    template.resourceCountIs('AWS::Lambda::Function', 6);
    template.resourceCountIs('AWS::SQS::Queue', 9);
  });

  it('refuses a configuration that is wrong, in words', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const broken = { operations: { ship: { ...input.operations.ship, target: 'depot' } } };
    expect(() => new Groupage(stack, 'Groupage', { config: broken as never })).toThrow(
      /TheirStack\/Groupage is wrong:\noperations\.ship\.target must be a list/,
    );
  });
});
