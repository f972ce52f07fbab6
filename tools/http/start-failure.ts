/** Something that the local runtime needs could not start. The message says why and what to do. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
