import fc from 'fast-check';
import { expect, it } from 'vitest';
import { targetOf } from '../../src/domain/target.ts';
import { isReadExactly } from '../../src/util/json-number.ts';
import { id, operationName } from '../factories/factories.ts';
import { fuzz } from './fuzz.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^\\d{1,${most}}$`));
/** JSON allows no zeros in front. */
const whole = digits(20).map((text) => String(BigInt(text)));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(whole, fc.constantFrom('0', '1', '9007199254740991')),
    fc.option(digits(25), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E+', 'e-'), fc.integer({ min: 0, max: 30 })), { nil: undefined }),
  )
  .map(([sign, before, after, exponent]) =>
    [sign, before, after === undefined ? '' : `.${after}`, ...(exponent ?? [])].join(''),
  );

/** The exact value of a number with at most 100 places before and after the point, as an integer. */
const exactly = (text: string): bigint => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [before = '', after = ''] = mantissa.split('.');
  const places = 100 + Number(exponent) - after.length;
  return BigInt(before + after) * 10n ** BigInt(places);
};

it('a number is read exactly if and only if its printed value equals it', () =>
  fuzz(number, ['exact', 'rounded'], (text) => {
    const isExact = exactly(text) === exactly(String(Number(text)));
    expect([text, isReadExactly(`{"a":[{"b":${text}}]}`, ['a', '0', 'b'])]).toEqual([text, isExact]);
    return isExact ? 'exact' : 'rounded';
  }));

it('two numbers have one Target only if they are equal', () =>
  fuzz(
    fc.tuple(number, fc.oneof(number, fc.nat(60))).map(([first, other]): [string, string] => {
      if (typeof other === 'string') return [first, other];
      // Another number that differs in a late digit, or is the same number with one more zero.
      const [mantissa = '', ...exponent] = first.split(/(?=[eE])/);
      const longer = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
      return [first, [`${longer}${'0'.repeat(other % 20)}${other % 3}`, ...exponent].join('')];
    }),
    ['one', 'two', 'refused'],
    (texts) => {
      const targets = texts.map((text) => {
        const payload = `{"zone":${text}}`;
        const grouping = { operation: operationName('ship'), keys: ['zone'], shards: 1 };
        return targetOf(grouping, JSON.parse(payload) as object, id('t'), payload);
      });
      if (targets.some((target) => typeof target !== 'string')) return 'refused';
      const [first, second] = texts.map(exactly);
      expect([texts, targets[0] === targets[1]]).toEqual([texts, first === second]);
      return first === second ? 'one' : 'two';
    },
  ));
