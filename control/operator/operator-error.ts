/** Something that the operator has to put right. Its message is one line for a person. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** Lines about things that are not there, by their kind. */
const missing: Readonly<Record<string, string>> = {
  added_connector: "no connector of that id was added; svc connectors list shows them",
  administrator: "there is no administrator: start the server once with svc serve",
  job: "there is no such job; svc jobs list shows them",
  key_file: "the keys of this server live in memory",
  member: "this person is no member there",
  operation: "the server that runs is of another version: stop it first",
  session: "there is no session of that id; svc token list shows them",
  user: "there is nobody of that e-mail address",
  workspace: "there is no workspace of that id or slug",
};

/** A refusal of the door as a line for the operator. */
export function toOperatorError({
  reason,
  resource,
  suggestion,
  problem,
}: {
  readonly reason: string;
  readonly [name: string]: unknown;
}): OperatorError {
  if (reason === "not_found" && resource === "connector") {
    const remedy = typeof suggestion === "string" ? suggestion : "; svc connectors lists them";
    return new OperatorError(`there is no such connector${remedy}`);
  }
  if (reason === "connector_refused")
    return new OperatorError(`the connector cannot be added: ${problem}`);
  const line = reason === "not_found" ? missing[String(resource)] : undefined;
  return new OperatorError(line ?? "the server could not do it; its log may say why");
}
