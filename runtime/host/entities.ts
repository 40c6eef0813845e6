import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Run } from "./run.ts";

/**
 * Lists that a user may choose settings from, as the connector lists it.
 * @throws ENTITIES_UNSUPPORTED when it lists nothing
 */
export async function entities(run: Run, input: JsonObject): Promise<JsonObject> {
  if (!run.manifest.hasEntities) throw new ConnectorError("ENTITIES_UNSUPPORTED");
  let result: JsonObject | undefined;
  await run.execute(
    { verb: "entities", input },
    {
      onResult(given) {
        if (result) throw notOne();
        result = given;
      },
    },
  );
  if (!result) throw notOne();
  // Names come from the provider: nothing secret may hide in them.
  return JSON.parse(
    run.secrets.redactLines(Buffer.from(`${JSON.stringify(result)}\n`)).toString(),
  ) as JsonObject;
}

const notOne = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: "entities must give one object" });
