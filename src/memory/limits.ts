/**
 * Limits of DynamoDB and SQS. The memory stores and queues refuse what AWS refuses. The clients of tests refuse it too,
 * because the local engines do not (test/backends/strict.ts).
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */

/** Limits of DynamoDB: sizes in bytes, and the maximum number of statements, writes, gets or actions per request. */
export const DYNAMODB = {
  item: 400 * 1_024,
  partitionKey: 2_048,
  sortKey: 1_024,
  statements: 25,
  writes: 25,
  gets: 100,
  transaction: 100,
  transactionBytes: 4 * 1_024 * 1_024,
  requestBytes: 16 * 1_024 * 1_024,
  statementBytes: 8_192,
  expressionBytes: 4_096,
} as const;

/** Limits of SQS: messages per request, bytes per message and per request, and the longest delay in seconds. */
export const SQS = { entries: 10, bytes: 1_048_576, delay: 900 } as const;

/** Error for a request that AWS refuses as a whole. Its name is the name of the SDK's error. */
export class Refusal extends Error {
  override readonly name: string;
  constructor(name: 'ValidationException' | 'InvalidParameterValue', message: string) {
    super(message);
    this.name = name;
  }
}

export const refuse = (why: string): never => {
  throw new Refusal('ValidationException', why);
};

/**
 * Limits of DynamoDB's numbers. A number is zero, or from 1E-130 to 9.99…E+125 with either sign, and has up to 38
 * digits.
 */
const [DIGITS, LEAST_EXPONENT, MOST_EXPONENT] = [38, -130, 125];

/**
 * @param text a number as JSON writes it, and as it is sent to DynamoDB
 * @returns why DynamoDB cannot store the number, or undefined
 */
export const numberProblem = (text: string): string | undefined => {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === '') return `The parameter cannot be converted to a numeric value: ${text}`;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return undefined;
  const magnitude = Number(exponent) + digits.length - 1 - fraction.length;
  if (magnitude < LEAST_EXPONENT)
    return 'Number underflow. Attempting to store a number with magnitude smaller than supported range';
  if (magnitude > MOST_EXPONENT)
    return 'Number overflow. Attempting to store a number with magnitude larger than supported range';
  return digits.replace(/0+$/, '').length > DIGITS
    ? 'Attempting to store more than 38 significant digits in a Number'
    : undefined;
};

/**
 * As {@link numberProblem}, for a JavaScript number. A JavaScript number has at most 17 digits, so only its magnitude
 * matters.
 */
const valueProblem = (value: number): string | undefined => {
  const magnitude = Math.abs(value);
  return magnitude === 0 || (magnitude >= 1e-130 && magnitude < 1e126) ? undefined : numberProblem(String(value));
};

/**
 * @returns why DynamoDB cannot store a row of these values, or undefined. The names of attributes and the key have some
 * hundred bytes and are not counted.
 */
export const rowProblem = (row: unknown): string | undefined => {
  const size = bytesOf(row, mostBytes);
  const isSmall = typeof size === 'number' && size <= DYNAMODB.item;
  const bytes = isSmall ? size : bytesOf(row, Buffer.byteLength);
  if (typeof bytes === 'string') return bytes;
  return bytes > DYNAMODB.item ? 'Item size has exceeded the maximum allowed size' : undefined;
};

/**
 * An upper bound for the bytes of a text: a UTF-16 code unit has at most 3 bytes in UTF-8. This bound is cheap to
 * compute, and shows that nearly all rows are small enough.
 */
const mostBytes = (text: string): number => 3 * text.length;

/** The bytes of all strings in a value, or the problem with one of its numbers. */
const bytesOf = (value: unknown, ofText: (text: string) => number): number | string => {
  if (typeof value === 'string') return ofText(value);
  if (typeof value === 'number') return valueProblem(value) ?? 0;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const name in value) {
    const bytes = bytesOf((value as Readonly<Record<string, unknown>>)[name], ofText);
    if (typeof bytes === 'string') return bytes;
    sum += bytes;
  }
  return sum;
};

/** @returns why a text cannot be a key or a part of a key, or undefined */
export const keyProblem = (text: string, most: number): string | undefined => {
  if (text === '') return 'One or more parameter values were invalid: a key attribute has an empty string value';
  return mostBytes(text) > most && Buffer.byteLength(text) > most
    ? `One or more parameter values were invalid: a key has more than ${most} bytes`
    : undefined;
};

/**
 * Makes a table refuse what DynamoDB does not store. A step that writes such a row fails with a {@link Refusal}, as on
 * AWS.
 *
 * @param most maximum number of bytes of a key
 */
export const limited = <K extends string, V>(table: Map<K, V>, most: number = DYNAMODB.partitionKey): Map<K, V> => {
  const { set } = table;
  table.set = (key, row) => {
    const problem = keyProblem(key, most) ?? rowProblem(row);
    return problem === undefined ? set.call(table, key, row) : refuse(problem);
  };
  return table;
};

/** @throws Refusal if SQS does not accept a message of this size, or with this `delay` in seconds */
export const checkMessage = (body: string, delay: number): void => {
  const bytes = Buffer.byteLength(body);
  if (bytes === 0 || bytes > SQS.bytes) throw new Refusal('InvalidParameterValue', `a message of ${bytes} bytes`);
  if (!Number.isInteger(delay) || delay < 0 || delay > SQS.delay)
    throw new Refusal('InvalidParameterValue', `a delay of ${delay} s; SQS takes whole seconds up to ${SQS.delay}`);
};
