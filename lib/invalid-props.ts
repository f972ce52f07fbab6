/** Props that cannot work, alone or together: refused at synth. */
import type { IConstruct } from 'constructs';

/** The message names the construct, what is wrong, and the way out. */
export class InvalidProps extends Error {
  override readonly name = 'InvalidProps';
  /** Of the construct. */
  readonly path: string;
  constructor({ node: { path } }: IConstruct, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}
