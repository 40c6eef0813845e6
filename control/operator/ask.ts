/** Runs the operator's requests, in the process that has the instance open. */
import type { Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { errorBody } from "../door/answer.ts";
import { execute } from "../door/execute.ts";
import { operatorOperations } from "../operations/index.ts";
import type { Services } from "../services/services.ts";
import { operatorCaller } from "./caller.ts";
import type { AskOperation, OperatorInput } from "./operator.ts";

/** Asks in this process, through the door. Never throws what went wrong: that is an answer too. */
export function askInstance(services: Services): AskOperation {
  return async (id, input) => {
    const operation = operatorOperations.find((one) => one.id === id);
    const requestId = "operator";
    try {
      if (!operation) throw new ControlError("not_found", { resource: "operation" });
      const { params = {}, query = {}, body } = JSON.parse(JSON.stringify(input)) as OperatorInput;
      const caller = operatorCaller(await workspaceOf(services, operation, params));
      const request = {
        path: operation.path,
        params,
        query: query as Readonly<Record<string, unknown>>,
        body: { value: body },
        headers: {},
        signal: new AbortController().signal,
      };
      return (await execute(services, operation, request, caller)).body;
    } catch (error) {
      const refusal = error instanceof ControlError ? error : new ControlError("internal");
      return errorBody(refusal, requestId).body;
    }
  };
}

/**
 * Where an operation of the API takes place, as the job that it names has it: the operator names no
 * workspace. @throws not_found
 */
async function workspaceOf(
  { database }: Services,
  { workspace }: Operation,
  { job_id: id = "" }: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (workspace === "none") return undefined;
  const job = await database.db
    .selectFrom("jobs")
    .select("workspace_id")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!job) throw new ControlError("not_found", { resource: "job" });
  return job.workspace_id;
}
