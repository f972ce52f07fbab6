/** The error for props that are invalid, each by itself or in combination. It is thrown at synth. */
import type { IConstruct } from 'constructs';

/** The error's message names the construct and says what is wrong and how to correct it. */
export class InvalidProps extends Error {
  override readonly name = 'InvalidProps';
  /** Path of the construct. */
  readonly path: string;
  constructor({ node: { path } }: IConstruct, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}
