/** Something that the operator has to put right. Its message is one line for a person. */
export class AdminError extends Error {
  override readonly name = "AdminError";
}
