/**
 * The kit cannot do its work: wrong settings, missing fixtures, a connector that cannot be started.
 * Exit code 2. The message says what to do.
 */
export class UnusableError extends Error {
  override readonly name: string = "UnusableError";
}
