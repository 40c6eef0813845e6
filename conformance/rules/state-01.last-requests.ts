/** The requests that a reader of a crash wants to see. */
import { exchangeEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import type { Evidence } from "../contract/rule.ts";

/** A program that reads ahead has asked for pages whose rows come after the crash. */
export function requestsUntilCrash({
  messages,
  exchanges,
}: Pick<Observation, "messages" | "exchanges">): Evidence {
  const row = messages.findLast(({ message }) => message.type === "RECORD")?.message;
  const texts = row?.type === "RECORD" ? Object.values(row.record.data).filter(isPlainText) : [];
  const last = exchanges.findLastIndex(({ answer }) => {
    const body = answer?.body.toString("utf8") ?? "";
    return texts.length > 0 && texts.every((text) => body.includes(text));
  });
  const shown = last < 0 ? exchanges : exchanges.slice(0, last + 1);
  const isAhead = shown.length < exchanges.length;
  return exchangeEvidence(
    isAhead
      ? "Requests up to the last row before the crash; more had been sent ahead of it"
      : "Last requests until the crash",
    shown.slice(-2),
  );
}

/** A text that stands in the provider's answer as it stands in the row, and in few others. */
const isPlainText = (value: unknown): value is string =>
  typeof value === "string" && /^[\w-]{2,}$/.test(value);
