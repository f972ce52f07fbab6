/**
 * JSON as other senders may write it: valid, nearly valid, and broken. As text, since parsing loses details that
 * matter.
 */
import fc from 'fast-check';

/**
 * Names with a meaning for Groupage or JavaScript, or without one. None has a backslash: V8 13.6 confuses an escaped
 * name with one that began with it at the same place before (docs/explanation/security.md), and these tests would fail
 * by that.
 */
const NAMES = [
  ...'id operation payload correlationId callback priority weight coalesceKey expiresIn fanOutItem'.split(' '),
  ...'fanOutItem tasks target depot b f token hint'.split(' '),
  ...'results status result error code message retriable pending errors path reason'.split(' '),
  ...'__proto__ constructor prototype toString hasOwnProperty toJSON length then 0 -1 a.b # ~ / ü'.split(' '),
  ...['', ' ', '"', '\u0000', '\ud800', '\udfff', '\ufeff', '\u2028', '\r\n', '\u{1f600}'],
];

const NUMBERS = [
  ...['0', '-0', '1', '-1', '1.5', '1e3', '1E+3', '1e-400', '1e400', '-1e400', '0.1', '100000000000000000000'],
  ...['9007199254740991', '9007199254740993', '12345678901234567890.123', '7'.repeat(400)],
];

/** Writes a string, short or with every code unit escaped. */
const written = (text: string, isEscaped: boolean): string =>
  isEscaped
    ? `"${text
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')}"`
    : JSON.stringify(text);

const seldom = fc.nat(9).map((n) => n === 0);

export const stringText = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
      { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
    ),
    seldom,
  )
  .map(([text, isEscaped]) => written(text, isEscaped));

export const nameText = fc
  .tuple(fc.constantFrom(...NAMES), seldom)
  .map(([name, isEscaped]) => written(name, isEscaped));

const numberText = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
);

export const space = fc.constantFrom('', '', '', '', ' ', '\n', '\t', '\r\n  ');

const deep = fc
  .tuple(fc.integer({ min: 1, max: 400 }), fc.boolean())
  .map(([depth, isList]) =>
    isList ? `${'['.repeat(depth)}${']'.repeat(depth)}` : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );

/** An object of these members, in this order; names may come twice. */
export const objectText = (members: readonly (readonly [name: string, value: string])[], gap = ''): string =>
  `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`;

/** Any JSON value. */
export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: stringText },
    { weight: 2, arbitrary: numberText },
    { weight: 1, arbitrary: fc.constantFrom('true', 'false', 'null', '{}', '[]', '""') },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
        .map(([values, gap]) => `[${gap}${values.join(`${gap},`)}${gap}]`),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.array(fc.tuple(nameText, tie('value')), { maxLength: 3 }), space)
        .map(([members, gap]) => objectText(members, gap)),
    },
  ),
})).value;

/** Any JSON object, rarely a deep one. */
export const anObject = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.array(fc.tuple(nameText, valueText), { maxLength: 4 }), space)
      .map(([members, gap]) => objectText(members, gap)),
  },
  { weight: 1, arbitrary: deep.filter((text) => text.startsWith('{')) },
);

const odd = fc.oneof({ weight: 9, arbitrary: valueText }, { weight: 1, arbitrary: deep });

/**
 * An object with these members: mostly as given, in any order. Rarely one is missing, has another value, comes twice
 * (the last one counts), or an unknown one is added.
 *
 * @param care how rarely a member is wrong.
 */
export const nearly = (members: Readonly<Record<string, fc.Arbitrary<string>>>, care = 20): fc.Arbitrary<string> => {
  const each = Object.entries(members).map(([name, right]) =>
    fc.tuple(right, fc.nat(care), odd, seldom).map(([value, chance, other, isEscaped]): [string, string][] => {
      const key = written(name, isEscaped);
      if (chance === 0) return [];
      if (chance === 1) return [[key, other]];
      if (chance === 2)
        return [
          [JSON.stringify(name), other],
          [key, value],
        ];
      return [[key, value]];
    }),
  );
  const more = fc
    .tuple(fc.nat(care), nameText, odd)
    .map(([chance, name, value]) => (chance === 0 ? [[name, value] as const] : []));
  return fc.tuple(fc.tuple(...each), more, fc.nat(7), space).map(([parts, extra, turn, gap]) => {
    const all = [...parts.flat(), ...extra];
    const from = all.length === 0 ? 0 : turn % all.length;
    return objectText([...all.slice(from), ...all.slice(0, from)], gap);
  });
};

const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\u0000',
  '\ufeff',
  '\ud800',
  '\udc00',
  '\u2028',
  '\ufffd',
  '1e999',
  '"__proto__":',
  '//',
  "'",
  '-',
  'null',
  '\u00a0',
  '[['.repeat(60),
  '\\u12',
];

interface Accident {
  readonly kind: 'cut' | 'drop' | 'twice' | 'insert' | 'flip';
  /** The start and the length, as shares of the text. */
  readonly at: number;
  readonly far: number;
  readonly piece: string;
  readonly bit: number;
}

const accident: fc.Arbitrary<Accident> = fc.record({
  kind: fc.constantFrom('cut', 'drop', 'twice', 'insert', 'flip'),
  at: fc.nat(1_000).map((n) => n / 1_001),
  far: fc.nat(1_000).map((n) => n / 5_000),
  piece: fc.constantFrom(...PIECES),
  bit: fc.nat(7),
});

const happened = (text: string, { kind, at, far, piece, bit }: Accident): string => {
  const from = Math.floor(at * text.length);
  const to = Math.min(text.length, from + 1 + Math.floor(far * text.length));
  switch (kind) {
    case 'cut':
      return text.slice(0, from);
    case 'drop':
      return text.slice(0, from) + text.slice(to);
    case 'twice':
      return text.slice(0, to) + text.slice(from);
    case 'insert':
      return text.slice(0, from) + piece + text.slice(from);
    case 'flip':
      return text.slice(0, from) + String.fromCharCode(text.charCodeAt(from) ^ (1 << bit)) + text.slice(from + 1);
  }
};

/** Text with random damage. */
const broken = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.array(accident, { minLength: 1, maxLength: 2 }))
    .map(([whole, accidents]) => accidents.reduce(happened, whole));

/** Mostly as given, rarely broken or random. */
export const asSent = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: text },
    { weight: 5, arbitrary: broken(text) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  );
