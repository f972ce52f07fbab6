/** The folder that keeps what the local stack needs between starts, and while it runs. */
import { mkdirSync } from 'node:fs';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../http/start-failure.ts';

/** Nothing can be kept in a folder. */
export class NotWritable extends StartFailure {
  constructor(path: string, cause: unknown) {
    super(
      `${path} cannot be written (${reasonOf(cause)}): use --ephemeral to keep nothing, or run it where you may write`,
    );
  }
}

/** Does what needs to write at `path`. @throws NotWritable */
export const writing = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    throw new NotWritable(path, cause);
  }
};

/** @throws NotWritable */
export const makeFolder = (path: string): void => {
  writing(path, () => mkdirSync(path, { recursive: true }));
};
