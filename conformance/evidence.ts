/** Evidence from observations, in the one form that reports show. */

import type { Exchange } from "./contract/network.ts";
import type { Observation } from "./contract/observation.ts";
import type { Evidence } from "./contract/rule.ts";

const maxBody = 600;
const maxLine = 500;
/** Lines before and after a telling one. */
const around = 3;

/** The exchanges of a run, the telling ones marked. */
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

/** The log of a run around the messages with these indexes. */
export function messageEvidence(
  title: string,
  { messages }: Pick<Observation, "messages">,
  marked: readonly number[],
): Evidence {
  const shown = [...messages.keys()].filter(
    (index) => marked.length === 0 || marked.some((one) => Math.abs(one - index) <= around),
  );
  const cutShown = shown.slice(0, 60);
  return {
    kind: "messages",
    title,
    lines: cutShown.map((index) => `${index + 1} ${cut(messages[index]?.line ?? "", maxLine)}`),
    marked: cutShown.flatMap((index, position) => (marked.includes(index) ? [position] : [])),
  };
}

export const textEvidence = (title: string, text: string): Evidence => ({
  kind: "text",
  title,
  text: cut(text, 4_000),
});

const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text;
