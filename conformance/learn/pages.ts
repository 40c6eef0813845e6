/** Recorded answers of one kind of listing as pages: the rows, and the envelope around them. */
import type { ProviderRow } from "../contract/learned.ts";
import type { RecordedExchange } from "./exchanges.ts";
import { jsonLeaves, scalarText } from "./json.ts";
import { linksOf } from "./links.ts";
import { rowsAt } from "./rows.ts";

export interface RecordedPage {
  readonly exchange: RecordedExchange;
  readonly rows: readonly ProviderRow[];
  /**
   * The envelope: every value of the answer beside its rows. JSON leaves of the body stand under
   * their pointers, headers under "header:<name>", URLs of the link header under "header:link
   * <rel>".
   */
  readonly envelope: ReadonlyMap<string, unknown>;
}

/** The answer as a page; undefined when it has no rows at the pointer. */
export function toPage(exchange: RecordedExchange, pointer: string): RecordedPage | undefined {
  const rows = rowsAt(exchange.tree, pointer);
  if (rows === undefined) return undefined;
  const envelope = new Map(jsonLeaves(exchange.tree, pointer));
  for (const [name, value] of Object.entries(exchange.answer.headers)) {
    if (name === "link")
      for (const { rel, url } of linksOf(value)) envelope.set(linkPointer(rel), url);
    else envelope.set(`header:${name}`, value);
  }
  return { exchange, rows, envelope };
}

export const linkPointer = (rel: string) => `header:link ${rel}`;

/** The URL that a value holds, completed by the URL of its request; undefined when it is none. */
export function urlIn(page: RecordedPage, value: unknown): URL | undefined {
  const text = scalarText(value);
  if (typeof value !== "string" || text === undefined || !/^(https?:\/\/|\/|\?)/.test(text))
    return undefined;
  return URL.parse(text, page.exchange.url) ?? undefined;
}

/**
 * Pages of one recording and path in the order of their requests: a connector asked for one after
 * the other.
 */
export type PageSequence = readonly RecordedPage[];

export function toSequences(pages: readonly RecordedPage[]): PageSequence[] {
  return [
    ...Map.groupBy(
      pages,
      ({ exchange }) => `${exchange.recording} ${exchange.url.pathname}`,
    ).values(),
  ];
}
