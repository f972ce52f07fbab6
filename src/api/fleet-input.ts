/** Reads what people want of a fleet. */
import { unless } from './fields.ts';
import { badRequest, readObject, unknownFields } from './input.ts';

/** Whether a node is to be drained. @throws HttpProblem */
export const readDrain = (text: string): boolean => {
  const body = readObject(text);
  const { draining } = body;
  const problems = [
    ...unknownFields(body, ['draining']),
    ...unless(
      typeof draining === 'boolean',
      'draining',
      'must be true, or false for one that may have partitions again',
    ),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return draining as boolean;
};

/** Where a partition is to go: a node as it was written, or null for wherever the balance wants it. @throws HttpProblem */
export const readMove = (text: string): string | null => {
  const body = readObject(text);
  const { to } = body;
  const isFit = to === null || (typeof to === 'string' && to !== '');
  const problems = [
    ...unknownFields(body, ['to']),
    ...unless(
      isFit,
      'to',
      'must be the key or the id of a node, or null: the partition is balanced as all others again',
    ),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return to as string | null;
};
