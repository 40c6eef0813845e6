/** Evidence from observations, in the one form that reports show. */

import type { Exchange } from "./network.ts";
import type { Observation } from "./observation.ts";
import type { Evidence } from "./rule.ts";

const maxBody = 600;
const maxLine = 500;
/** Lines kept before the first marked one, and in all: reports show fewer. */
const around = 50;
const maxLines = 200;

/** The exchanges of a run, those that show the problem marked. */
export function exchangeEvidence(
  title: string,
  exchanges: readonly Exchange[],
  marked: (exchange: Exchange) => boolean = () => false,
): Evidence {
  return {
    kind: "exchanges",
    title,
    exchanges: exchanges.map((exchange) => ({
      request: requestText(exchange),
      response: responseText(exchange),
      isMarked: marked(exchange),
      place: exchange.place,
    })),
  };
}

export function requestText({ request }: Exchange): string {
  return `${request.method} ${request.url.href}${request.body === "" ? "" : `\n\n${cut(request.body, maxBody)}`}`;
}

export function responseText({ answer, unmatched, isAbandoned }: Exchange): string {
  if (unmatched !== undefined) return `not recorded: ${unmatched}`;
  if (!answer) return "(no answer)";
  if (answer.fault) return `(${answer.fault.type}${isAbandoned ? ", the client gave up" : ""})`;
  const headers = Object.entries(answer.headers).map(([name, value]) => `\n${name}: ${value}`);
  return `${answer.status}${headers.join("")}\n\n${cut(answer.body.toString("utf8"), maxBody)}`;
}

/**
 * The log of a run; `marked` are the indexes of the messages that show the problem. Reports show
 * those and what stands around them. Of a run that crashed before its first message, its standard
 * error.
 */
export function messageEvidence(
  title: string,
  {
    messages,
    outcome,
    traces,
  }: Pick<Observation, "messages"> & Partial<Pick<Observation, "outcome" | "traces">>,
  marked: readonly number[],
): Evidence {
  if (messages.length === 0 && outcome?.status === "crashed" && traces?.errorOutput)
    return textEvidence("No message; standard error", traces.errorOutput);
  const from = Math.max(0, Math.min(...marked, messages.length) - around);
  const shown = messages.slice(marked.length === 0 ? 0 : from).slice(0, maxLines);
  const offset = marked.length === 0 ? 0 : from;
  return {
    kind: "messages",
    title,
    lines: shown.map(({ line }) => cut(line, maxLine)),
    marked: marked
      .map((index) => index - offset)
      .filter((index) => index >= 0 && index < shown.length),
    first: offset + 1,
  };
}

export const textEvidence = (title: string, text: string): Evidence => ({
  kind: "text",
  title,
  text: cut(text, 4_000),
});

const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text;
