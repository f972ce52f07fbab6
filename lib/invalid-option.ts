/** The error for an invalid stage or API of the CDK app. The command line shows its message without a stack trace. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption';
}
