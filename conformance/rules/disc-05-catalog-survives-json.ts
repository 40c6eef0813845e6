import { isJsonObject } from "svc-connectors/host";
import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";

export default defineRule({
  id: "DISC-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "The catalog is plain JSON with every part of the protocol, and read accepts it as discover gave it.",
  why: "Catalogs are stored and sent back months later. What JSON cannot hold is gone by then, and the sync fails or reads something else.",
  fix: "Build schemas from plain values; leave out what is undefined; take streams by name in read, not by object.",
  good: '{ name: "notes", json_schema: { type: "object", properties: { at: { type: "string" } } } }',
  bad: "{ name: 'notes', json_schema: { type: 'object', properties: { at: { type: String, default: new Date() } } } }",
  async run(lab, report) {
    for (const { label, stream } of lab.streams) {
      report.checked(label);
      for (const problem of problemsOf(stream))
        report.fail(
          `The catalog entry of ${label} ${problem}.`,
          textEvidence("Entry", JSON.stringify(stream, null, 2)),
        );
    }
    if (lab.streams.length === 0) return;
    const command = lab.readCommand([]);
    const roundTrip = JSON.parse(JSON.stringify(command)) as typeof command;
    const observation = await lab.run({
      ...roundTrip,
      catalog: shuffledKeys(roundTrip.catalog) as typeof command.catalog,
    });
    report.checked("a read of every stream with the catalog stored and read back");
    const refused = observation.outcome.failures.find(
      ({ classes }) => classes.includes("config") || classes.includes("internal"),
    );
    const started = observation.messages.some(
      ({ message }) => message.type === "RECORD" || message.type === "STATE",
    );
    if (observation.outcome.status !== "succeeded" && (!started || refused))
      report.fail(
        `Read does not accept its own catalog: ${observation.outcome.failures[0]?.message ?? observation.outcome.status}.`,
        messageEvidence("The run", observation, [observation.messages.length - 1]),
      );
  },
});

function problemsOf(stream: object): string[] {
  const { name, json_schema, supported_sync_modes } = stream as { [name: string]: unknown };
  const problems: string[] = [];
  if (typeof name !== "string") problems.push("has no name");
  if (typeof json_schema !== "object" || json_schema === null) problems.push("has no json_schema");
  if (!Array.isArray(supported_sync_modes) || supported_sync_modes.length === 0)
    problems.push("names no supported_sync_modes");
  const lost = lostValues(json_schema);
  if (lost.length > 0)
    problems.push(
      `lost something on the way into JSON at ${lost.join(", ")}: null or {} stands where a schema should be`,
    );
  return problems;
}

/**
 * Places below `properties` where there is no schema: what undefined, functions and dates leave
 * behind.
 */
function lostValues(schema: unknown, path = ""): string[] {
  const properties = (schema as { properties?: unknown } | null)?.properties;
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties).flatMap(([name, part]) => {
    const here = `${path}/${name}`;
    if (typeof part === "boolean") return [];
    if (!isJsonObject(part)) return [here];
    const nulls = Object.entries(part).filter(
      ([keyword, value]) => value === null && keyword !== "default" && keyword !== "const",
    );
    return [...nulls.map(([keyword]) => `${here}/${keyword}`), ...lostValues(part, here)];
  });
}

/** Stores give keys back in another order. */
function shuffledKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffledKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, part]) => [name, shuffledKeys(part)]),
  );
}
