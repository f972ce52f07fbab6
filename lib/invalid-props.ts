/** Props that are invalid, alone or together. They are refused at synth. */
import type { IConstruct } from 'constructs';

/** The message names the construct, says what is wrong, and how to correct it. */
export class InvalidProps extends Error {
  override readonly name = 'InvalidProps';
  /** Path of the construct. */
  readonly path: string;
  constructor({ node: { path } }: IConstruct, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}
