import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Answer } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { compareRows, isSame, outputRows } from "../derive/rows/rows.ts";

export default defineRule({
  id: "READ-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Only selected streams and fields come out, and streams that were not selected cause no requests of their own.",
  why: "People leave out fields because they must not have them. And a request for what nobody asked for uses up the rate limit of what they did.",
  fix: "Read the streams of the configured catalog and no other; drop fields that were not selected (svc's runtime does).",
  good: "for (const stream of selection) yield* read(stream);",
  bad: "for (const stream of all) cache.set(stream, await fetchAll(stream)); // then filter",
  async run(lab, report) {
    for (const stream of lab.sample(
      lab.streams.filter(({ recording }) => recording),
      6,
    )) {
      report.checked(`${stream.label} alone`);
      const observation = await lab.run(lab.readCommand([stream]));
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

/** As Airbyte narrows the configured stream's schema, and as svc names `selected_fields`. */
async function checkFields(
  lab: Lab,
  stream: StreamFacts,
  report: Parameters<Parameters<typeof defineRule>[0]["run"]>[1],
): Promise<void> {
  const properties =
    (stream.stream.json_schema as { properties?: { [name: string]: unknown } }).properties ?? {};
  const needed = new Set([
    ...stream.primaryKey,
    ...(stream.cursorField === undefined ? [] : [stream.cursorField]),
  ]);
  const optional = Object.keys(properties).filter((name) => !needed.has(name));
  const left = optional.at(-1);
  if (left === undefined) return;
  const kept = Object.keys(properties).filter((name) => name !== left);
  const command = lab.readCommand([stream], { selectedFields: kept });
  const [configured] = command.catalog.streams;
  if (!configured) return;
  const isNative = lab.manifest !== undefined;
  // Programs of others know no selected_fields; the platform takes columns out of the schema, and
  // drops them itself afterwards.
  if (!isNative) return;
  report.checked(`${stream.label} without ${left}`);
  const observation = await lab.run(command);
  const wrong = outputRows(observation.messages, stream).findIndex(({ data }) =>
    Object.hasOwn(data, left),
  );
  if (wrong >= 0)
    report.fail(
      `${stream.label} was selected without the field ${left}, and record ${wrong + 1} has it.`,
      messageEvidence("The run", observation, []),
    );
}
