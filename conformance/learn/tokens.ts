/**
 * Tokens of the cursor style: the recorded ones, and those made up for pages that were never
 * recorded. A made-up token belongs to one listing, as a provider's own do: another one refuses it.
 */
import { createHash } from "node:crypto";
import type { ProviderRow } from "../contract/learned.ts";
import { isWindow } from "./filter.ts";
import { type ListingContext, type PagePosition, relocate } from "./positions.ts";

export interface RecordedToken {
  readonly text: string;
  /** Value of the filter with which it came; "" without one. */
  readonly filter: string;
  /** Number of rows before the page that it asks for. */
  readonly start: number;
}

/** The tokens of one listing in one run. */
export interface Tokens {
  write(position: PagePosition, context: ListingContext): string;
  /** Undefined for what was never handed out. */
  read(text: string, context: ListingContext): PagePosition | undefined;
  /**
   * Keeps what was given behind a token, so that it goes on behind the same row when rows change
   * meanwhile.
   */
  remember(text: string, rows: readonly ProviderRow[], position: PagePosition): void;
  recall(text: string, rows: readonly ProviderRow[]): PagePosition | undefined;
}

/** Positions after skipped pages are numbered apart. */
const skippedStep = 1_000_000;
/** So are those of which an earlier token speaks that means another row by now. */
const renewedStep = 10_000_000;

/** How many numbers each listing has for its tokens. */
const perListing = 100_000_000n;

export function createTokens(
  recorded: readonly RecordedToken[],
  options: {
    /** Tells this listing's tokens from those of its siblings. */
    readonly listing: string;
    readonly rowCount: number;
    readonly like: readonly string[];
    readonly change?: ((token: string) => string) | undefined;
  },
): Tokens {
  const { rowCount, like, change = (token) => token } = options;
  const make = tokenMaker(like, options.listing);
  const byPosition = new Map(
    recorded.map(({ filter, start, text }) => [`${start} ${filter}`, text] as const).reverse(),
  );
  // In another window of time, those of the same place in a recorded one: they look the same.
  const byStart = new Map(recorded.map(({ start, text }) => [start, text] as const).reverse());
  const recordedAt = (start: number, filter: string) =>
    byPosition.get(`${start} ${filter}`) ?? (isWindow(filter) ? byStart.get(start) : undefined);
  const given = new Map<
    string,
    { readonly rows: readonly ProviderRow[]; readonly position: PagePosition }
  >();
  const tables = new Map<string, ReadonlyMap<string, PagePosition>>();

  const textAt = ({ start, skipped }: PagePosition, filter: string, renewals = 0) =>
    change(
      (skipped + renewals === 0 ? recordedAt(start, filter) : undefined) ??
        make(start + skipped * skippedStep + renewals * renewedStep),
    );

  /** Every token that can be handed out, by its text: a changed token cannot be changed back. */
  const tableOf = ({
    rows,
    filter,
    emptyPages,
  }: ListingContext): ReadonlyMap<string, PagePosition> => {
    const most = Math.max(rows.length, rowCount);
    const key = `${most} ${emptyPages.length} ${filter}`;
    const table = new Map(tables.get(key));
    if (!tables.has(key)) {
      for (const { text, start } of recorded) table.set(change(text), { start, skipped: 0 });
      for (let skipped = 0; skipped <= emptyPages.length; skipped++)
        for (let start = 0; start <= most; start++)
          table.set(textAt({ start, skipped }, filter), { start, skipped });
      tables.set(key, table);
    }
    return table;
  };

  const recall = (text: string, rows: readonly ProviderRow[]): PagePosition | undefined => {
    const before = given.get(text);
    return (
      before && { ...before.position, start: relocate(before.rows, before.position.start, rows) }
    );
  };
  /** A token that was given for a row goes on behind that row, and is given for no other. */
  const write: Tokens["write"] = (position, { filter, rows }) => {
    for (let renewals = 0; ; renewals++) {
      const text = textAt(position, filter, renewals);
      const before = recall(text, rows);
      if (before === undefined || before.start === position.start) return text;
    }
  };
  return {
    write,
    recall,
    read: (text, context) => recall(text, context.rows) ?? tableOf(context).get(text),
    remember: (text, rows, position) => void given.set(text, { rows, position }),
  };
}

/** Makes tokens that look like the recorded ones and are none of them. */
function tokenMaker(recorded: readonly string[], listing: string): (code: number) => string {
  const all = (pattern: RegExp) =>
    recorded.length > 0 && recorded.every((text) => pattern.test(text));
  const mark = createHash("sha256").update(listing).digest("hex").slice(0, 5);
  if (all(/^\d+$/)) {
    const largest = recorded.reduce(
      (most, text) => (BigInt(text) > most ? BigInt(text) : most),
      0n,
    );
    const first = largest + 1_000n + BigInt(`0x${mark}`) * perListing;
    return (code) => String(first + BigInt(code));
  }
  if (all(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i))
    return (code) => `000${mark}-0000-4000-8000-${String(code).padStart(12, "0")}`;
  const plain = (code: number) => `kit-page-${mark}-${code}`;
  if (all(/^([0-9a-f]{2})+$/i)) return (code) => Buffer.from(plain(code)).toString("hex");
  if (all(/^[A-Za-z0-9+/]+={0,2}$/) && recorded.every((text) => text.length % 4 === 0))
    return (code) => Buffer.from(plain(code)).toString("base64");
  return plain;
}
