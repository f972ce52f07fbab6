import { describe, expect, it } from 'vitest';
import {
  acknowledgeProblem,
  coalescesAmong,
  DEFAULT_RULES,
  everyProducer,
  type ProducerRules,
  type RulesOf,
  redriveProblem,
  sendProblem,
  withIds,
} from '../../src/domain/producers/rules.ts';
import { operationName } from '../factories/factories.ts';

const SHOP = { id: 'AROASHOP', via: 'queue' } as const;
const OTHER = { id: 'AROAOTHER', via: 'queue' } as const;
const producers = { shop: [SHOP.id, 'AROASHOP2'], crm: ['AROACRM'] };
const rules = (changed: Partial<ProducerRules> = {}): RulesOf => ({
  operation: operationName('ship'),
  rules: { ...DEFAULT_RULES, ...changed },
  producers,
});

describe('by default', () => {
  it('any sender may send; only callers of the API redrive; items need tokens', () => {
    expect(sendProblem(rules(), OTHER)).toBeUndefined();
    expect(acknowledgeProblem(rules(), OTHER)?.reason).toContain("needs the item's token");
    expect(redriveProblem(rules(), OTHER)?.reason).toContain('sender AROAOTHER may not redrive tasks of ship');
    expect(redriveProblem(rules(), { id: 'AROACALLER', via: 'api' })).toBeUndefined();
  });

  it('tasks coalesce with those of their sender; a named producer is one sender', () => {
    expect(coalescesAmong(rules(), OTHER)).toBe('AROAOTHER');
    expect(coalescesAmong(rules(), SHOP)).toBe('shop');
    expect(coalescesAmong(rules(), { id: 'AROASHOP2', via: 'api' })).toBe('shop');
  });
});

describe('a rule with names', () => {
  const named = rules({ send: ['shop'], coalesce: ['shop'], acknowledge: ['shop'], redrive: ['shop'] });

  it('allows the named producers', () => {
    expect([sendProblem, acknowledgeProblem, redriveProblem].map((problem) => problem(named, SHOP))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(coalescesAmong(named, SHOP)).toBeUndefined();
  });

  it('refuses others with the way out; callers of the API may only redrive', () => {
    for (const sender of [OTHER, { ...OTHER, via: 'api' } as const]) {
      expect(sendProblem(named, sender)).toEqual({
        path: 'operation',
        reason:
          'ship accepts no tasks of sender AROAOTHER: producers.send of ship allows shop; a configured name stands for the ids under "producers" and the roles of grantRegister(role, { as: NAME })',
      });
      expect(acknowledgeProblem(named, sender)).toBeDefined();
      expect(coalescesAmong(named, sender)).toBe('AROAOTHER');
    }
    expect(redriveProblem(named, OTHER)).toBeDefined();
    expect(redriveProblem(named, { ...OTHER, via: 'api' })).toBeUndefined();
  });

  it('refuses all senders if its list is empty', () => {
    expect(sendProblem(rules({ send: [] }), SHOP)?.reason).toContain('allows nobody');
  });
});

it('"any" allows every sender', () => {
  const open = rules({ coalesce: 'any', acknowledge: 'any', redrive: 'any' });
  expect([acknowledgeProblem(open, OTHER), redriveProblem(open, OTHER), coalescesAmong(open, OTHER)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it('ids of constructs are added to configured names only', () => {
  expect(withIds({ shop: ['A'], constructor: [] }, { shop: ['A', 'B'], other: ['C'] })).toEqual({
    shop: ['A', 'B'],
    constructor: [],
  });
  expect(everyProducer({ shop: ['A'], crm: [] }, 'local')).toEqual({ shop: ['local'], crm: ['local'] });
});
