import type { JsonObject, JsonValue } from "svc-connectors";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Answer } from "../contract/network.ts";
import type { Command, Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { compareRows, isSame, outputRows } from "../derive/rows/rows.ts";

export default defineRule({
  id: "READ-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Only selected streams and fields come out, and streams that were not selected cause no requests of their own.",
  why: "People leave out fields because they must not have them. And a request for what nobody asked for uses up the rate limit of what they did.",
  fix: "Read the streams of the configured catalog and no other; drop fields that the configured catalog does not have (svc's runtime does).",
  good: "for (const stream of selection) yield* read(stream);",
  bad: "for (const stream of all) cache.set(stream, await fetchAll(stream)); // then filter",
  async run(lab, report) {
    for (const stream of lab.sample(
      lab.streams.filter(({ recording }) => recording),
      6,
    )) {
      const observation = await lab.undisturbed(lab.readCommand([stream]));
      if (observation.outcome.status !== "succeeded") {
        report.untried(`${stream.label}: its read fails`);
        continue;
      }
      report.checked(`${stream.label} alone`);
      const foreign = observation.messages.findIndex(
        ({ message }) => message.type === "RECORD" && labelOf(message.record) !== stream.label,
      );
      if (foreign >= 0)
        report.fail(
          `Only ${stream.label} was selected, and a record of another stream came.`,
          messageEvidence("The run", observation, [foreign]),
        );
      for (const listing of await needlessListings(lab, stream, observation)) {
        report.fail(
          `Only ${stream.label} was selected, and ${listing.id} was asked for, whose rows change nothing in its records: they belong to another stream.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges,
            ({ request }) => lab.learned.listingOf(request) === listing,
          ),
        );
      }
      // Without records nothing of its fields can be seen.
      if (outputRows(observation.messages, stream).length > 0)
        await checkFields(lab, stream, report);
    }
  },
});

const labelOf = ({
  stream,
  namespace,
}: {
  readonly stream: string;
  readonly namespace?: string;
}) => (namespace ? `${namespace}.${stream}` : stream);

/**
 * Listings that other streams read too, and whose answers may be empty objects without any change
 * of the output: nobody looks into them.
 */
async function needlessListings(
  lab: Lab,
  stream: StreamFacts,
  { messages, exchanges }: Observation,
): Promise<Listing[]> {
  const listingOf = ({ request }: Observation["exchanges"][number]) =>
    lab.learned.listingOf(request);
  const asked = new Set(exchanges.flatMap((exchange) => listingOf(exchange) ?? []));
  if (asked.size < 2) return [];
  const before = outputRows(messages, stream);
  const needless: Listing[] = [];
  for (const listing of asked) {
    if (
      !lab.streams.some(
        (other) => other !== stream && listing.recordings.includes(other.recording?.name ?? ""),
      )
    )
      continue;
    const answer = (truth: Answer, one: Listing) =>
      one === listing ? { ...truth, body: Buffer.from("{}") } : truth;
    const without = await lab.run(lab.readCommand([stream]), {
      provider: lab.learned.provider({ answer }),
    });
    if (
      without.outcome.status === "succeeded" &&
      isSame(compareRows(before, outputRows(without.messages, stream)))
    )
      needless.push(listing);
  }
  return needless;
}

/**
 * Every second field that is neither key nor cursor is left out, then the others: of the schema in
 * the configured catalog, as Airbyte does it, and of svc's `selected_fields`.
 */
async function checkFields(lab: Lab, stream: StreamFacts, report: Reporter): Promise<void> {
  if (!lab.settings.capabilities.selects_fields) return;
  const properties =
    (stream.stream.json_schema as { properties?: { [name: string]: unknown } }).properties ?? {};
  const needed = new Set([
    ...stream.primaryKey,
    ...(stream.cursorField === undefined ? [] : [stream.cursorField]),
  ]);
  const fields = Object.keys(properties)
    .filter((name) => !needed.has(name))
    .toReversed();
  for (const half of [0, 1]) {
    const left = fields.filter((_, at) => at % 2 === half);
    if (left.length > 0) await checkWithout(lab, stream, left, report);
  }
}

async function checkWithout(
  lab: Lab,
  stream: StreamFacts,
  left: readonly string[],
  report: Reporter,
): Promise<void> {
  const name = `${stream.label} without ${left.slice(0, 3).join(", ")}${left.length > 3 ? ", …" : ""}`;
  report.checked(name);
  const observation = await lab.run(narrowed(lab, stream, left));
  const rows = outputRows(observation.messages, stream);
  const found = rows.flatMap(({ data }) => left.filter((field) => Object.hasOwn(data, field)))[0];
  if (found !== undefined)
    report.fail(
      `${stream.label} was selected without the field ${found}, and record ${rows.findIndex(({ data }) => Object.hasOwn(data, found)) + 1} has it. Leave out fields that the configured catalog's schema does not have; where only whoever runs the source does that, say so: capabilities: { selects_fields: false } in conformance.yaml.`,
      messageEvidence("The run", observation, []),
    );
  else if (observation.outcome.status !== "succeeded" || rows.length === 0)
    report.fail(
      `${name}: the read ${observation.outcome.status} with ${rows.length} records${observation.outcome.failures[0] ? ` (${observation.outcome.failures[0].message})` : ""}; with all fields it gives them.`,
      messageEvidence("The run", observation, []),
    );
}

function narrowed(lab: Lab, stream: StreamFacts, left: readonly string[]): Command {
  const { properties = {}, required } = stream.stream.json_schema as {
    readonly properties?: JsonObject;
    readonly required?: JsonValue;
  };
  const isKept = (name: string) => !left.includes(name);
  const kept = Object.keys(properties).filter(isKept);
  const command = lab.readCommand([stream], { selectedFields: kept });
  // A connector that svc runs knows its own schema.
  if (lab.manifest !== undefined) return command;
  const json_schema: JsonObject = {
    ...stream.stream.json_schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isKept(name))),
    ...(Array.isArray(required)
      ? { required: required.filter((name) => typeof name === "string" && isKept(name)) }
      : {}),
  };
  return {
    ...command,
    catalog: {
      ...command.catalog,
      streams: command.catalog.streams.map((one) => ({
        ...one,
        stream: { ...one.stream, json_schema },
      })),
    },
  };
}
