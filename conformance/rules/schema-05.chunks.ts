/**
 * Answers that come over the wire in pieces of a few bytes, so that characters of several bytes are
 * split.
 */
import type { Lab } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { changeFields, readAll, type StreamFields } from "../derive/rows/row-fields.ts";
import { compareRows, type Difference, outputRows } from "../derive/rows/rows.ts";
import { multibyte, texts } from "../derive/rows/values.ts";
import { withValue } from "../learn/json.ts";
import { withAnswers } from "../replay/strict.ts";

export interface ChunkedRead {
  readonly bytes: number;
  readonly observation: Observation;
  /** Against a read of the same rows in one piece. */
  readonly difference: Difference;
}

/** Pieces of larger answers are larger, so that a read stays short. */
const mostPieces = 3_000;
/** Every piece costs time; ms of real time. */
const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000, totalMs: 20_000 };

/** True when the stream has free text, in which every character may stand. */
export const hasFreeText = (facts: StreamFields) => textFields(facts).length > 0;

const textFields = ({ fields }: StreamFields) => fields.filter((field) => texts.count(field) > 0);

/**
 * Reads with every character torn apart. Empty when the whole read of such rows does not succeed:
 * another rule says so.
 */
export async function chunkedReads(
  lab: Lab,
  facts: StreamFields,
  sizes: readonly number[],
): Promise<readonly ChunkedRead[]> {
  const fields = textFields(facts);
  const changes = changeFields(facts.pairs, ({ row, listing }) =>
    fields.reduce<ProviderRow>(
      (one, { pointer, listings }) =>
        listings.has(listing) ? (withValue(one, pointer, multibyte) as ProviderRow) : one,
      row,
    ),
  );
  const whole = await readAll(lab, facts.stream, {
    provider: lab.learned.provider(changes),
    transport: "server",
    timeouts,
  });
  if (whole.outcome.status !== "succeeded") return [];
  const expected = outputRows(whole.messages, facts.stream);
  const reads: ChunkedRead[] = [];
  for (const bytes of sizes) {
    const provider = inPieces(lab.learned.provider(changes), bytes);
    const observation = await readAll(lab, facts.stream, {
      provider,
      transport: "server",
      timeouts,
    });
    reads.push({
      bytes,
      observation,
      difference: compareRows(expected, outputRows(observation.messages, facts.stream)),
    });
  }
  return reads;
}

const inPieces = (provider: Provider, bytes: number): Provider =>
  withAnswers(provider, (answer) => {
    const least = Math.ceil(answer.body.length / mostPieces);
    // An odd number tears characters of two and of four bytes.
    return { ...answer, fault: { type: "chunks", bytes: least > bytes ? least | 1 : bytes } };
  });
