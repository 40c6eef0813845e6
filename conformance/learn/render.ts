/** The answer for a page: a recorded one with its rows and the values around them changed. */
import { canonicalize } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import type { Answer } from "../contract/network.ts";
import type { ExplainedValue } from "./envelope.ts";
import type { PageView } from "./formulas.ts";
import { scalarText, toText, withValue } from "./json.ts";
import { linksOf, writeLinks } from "./links.ts";
import type { RecordedPage } from "./pages.ts";

/** A recorded page and its view. */
export interface Template {
  readonly page: RecordedPage;
  readonly view: PageView;
}

/** The recorded page that is most like this one in its end, its emptiness, then its position. */
export function nearestTemplate<T extends Template>(
  templates: readonly T[],
  view: PageView,
): T | undefined {
  const distance = (one: PageView) =>
    (one.hasMore === view.hasMore ? 0 : 4) +
    ((one.count === 0) === (view.count === 0) ? 0 : 2) +
    ((one.start === 0) === (view.start === 0) ? 0 : 1);
  return templates.toSorted(
    (a, b) =>
      distance(a.view) - distance(b.view) ||
      Math.abs(a.view.start - view.start) - Math.abs(b.view.start - view.start),
  )[0];
}

const headerPrefix = "header:";
const linkPrefix = "header:link ";

export interface Rendering {
  readonly rowsPointer: string;
  readonly explained: readonly ExplainedValue[];
  /** Items of the companion values on this page, by pointer. */
  readonly companions: ReadonlyMap<string, readonly unknown[]>;
}

export function renderPage(
  template: RecordedPage,
  view: PageView,
  rows: readonly ProviderRow[],
  rendering: Rendering,
): Answer {
  const { rowsPointer, explained, companions } = rendering;
  const { answer } = template.exchange;
  const headers: Record<string, string> = { ...answer.headers };
  const links = new Map(linksOf(answer.headers.link ?? "").map(({ rel, url }) => [rel, url]));
  let tree = withValue(template.exchange.tree, rowsPointer, rows);
  for (const [pointer, items] of companions) tree = withValue(tree, pointer, items);
  for (const { pointer, value } of explained) {
    const wanted = value(view);
    const text = scalarText(wanted);
    if (pointer.startsWith(linkPrefix)) {
      const rel = pointer.slice(linkPrefix.length);
      if (text === undefined) links.delete(rel);
      else links.set(rel, text);
    } else if (pointer.startsWith(headerPrefix)) {
      const name = pointer.slice(headerPrefix.length);
      if (text === undefined) delete headers[name];
      else headers[name] = text;
    } else tree = withValue(tree, pointer, wanted);
  }
  const link = writeLinks([...links].map(([rel, url]) => ({ rel, url })));
  delete headers.link;
  return {
    status: answer.status,
    headers: link === undefined ? headers : { ...headers, link },
    body: Buffer.from(toText(tree)),
  };
}

/** The same status, headers and JSON. */
export function isSameAnswer(
  one: Answer,
  other: Answer,
  parse: (text: string) => unknown,
): boolean {
  const links = (answer: Answer) =>
    canonicalize(
      linksOf(answer.headers.link ?? "")
        .map(({ rel, url }) => `${rel} ${url}`)
        .sort(),
    );
  const rest = ({ headers: { link: _, ...headers } }: Answer) => canonicalize(headers);
  return (
    one.status === other.status &&
    rest(one) === rest(other) &&
    links(one) === links(other) &&
    isSameBody(one.body, other.body, parse)
  );
}

/** JSON of a recorded body: as this file would write it, and in its canonical form. */
interface KnownBody {
  readonly written: Buffer;
  readonly canonical: string;
}

/** Each is compared with what is made for every request of every run. */
const knownBodies = new WeakMap<Buffer, KnownBody>();

function isSameBody(made: Buffer, recorded: Buffer, parse: (text: string) => unknown): boolean {
  if (made.equals(recorded)) return true;
  let known = knownBodies.get(recorded);
  if (known === undefined) {
    const tree = parse(String(recorded));
    known = { written: Buffer.from(toText(tree)), canonical: canonicalize(tree) };
    knownBodies.set(recorded, known);
  }
  return made.equals(known.written) || canonicalize(parse(String(made))) === known.canonical;
}
