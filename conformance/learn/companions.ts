/**
 * Arrays beside the rows of a page that change with it: details of the rows, or something else that
 * comes with the page.
 */
import { canonicalize, isPlainObject } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import type { PageView } from "./formulas.ts";
import { jsonLeaves } from "./json.ts";
import type { RecordedPage } from "./pages.ts";
import type { Template } from "./render.ts";

/** An array that changes from page to page. */
export interface CompanionValue {
  readonly pointer: string;
  /** Its items belong to the rows that hold the same value: securities to trades. */
  readonly join: { readonly item: string; readonly row: string } | undefined;
  /** All items in order. */
  readonly items: readonly unknown[];
}

export function learnCompanions(templates: readonly Template[]): CompanionValue[] {
  const pointers = new Set(
    templates.flatMap(({ page }) =>
      [...page.envelope].filter(([, value]) => Array.isArray(value)).map(([pointer]) => pointer),
    ),
  );
  return [...pointers].flatMap((pointer) => {
    const lists = templates.map(({ page }) => listAt(page, pointer));
    if (new Set(lists.map((one) => canonicalize(one))).size < 2) return [];
    const items = [...new Map(lists.flat().map((item) => [canonicalize(item), item])).values()];
    return [{ pointer, items, join: findJoin(templates, pointer, items) }];
  });
}

const listAt = (page: RecordedPage, pointer: string): readonly unknown[] => {
  const value = page.envelope.get(pointer);
  return Array.isArray(value) ? value : [];
};

/** Fields by which every page's items are exactly those that its rows name. */
function findJoin(
  templates: readonly Template[],
  pointer: string,
  items: readonly unknown[],
): CompanionValue["join"] {
  const itemFields = isPlainObject(items[0]) ? [...jsonLeaves(items[0]).keys()] : [];
  const rowFields = [
    ...new Set(
      templates.flatMap(({ page }) => (page.rows[0] ? [...jsonLeaves(page.rows[0]).keys()] : [])),
    ),
  ];
  for (const item of itemFields) {
    if (new Set(items.map((one) => valueText(one, item))).size < items.length) continue;
    for (const row of rowFields) {
      const isJoined = templates.every(({ page }) => {
        const named = new Set(
          page.rows.map((one) => valueText(one, row)).filter((text) => text !== undefined),
        );
        const given = new Set(listAt(page, pointer).map((one) => valueText(one, item)));
        return named.size === given.size && [...named].every((text) => given.has(text));
      });
      if (isJoined) return { item, row };
    }
  }
  return undefined;
}

function valueText(tree: unknown, pointer: string): string | undefined {
  const value = isPlainObject(tree) ? jsonLeaves(tree).get(pointer) : undefined;
  return value === undefined || value === null ? undefined : canonicalize(value);
}

/**
 * The arrays of a page. Without a join they stay with their recorded page, and are empty on pages
 * that were never recorded.
 */
export function companionsOf(
  companions: readonly CompanionValue[],
  template: RecordedPage,
  view: PageView,
  rows: readonly ProviderRow[],
): ReadonlyMap<string, readonly unknown[]> {
  if (companions.length === 0) return new Map();
  const isRecorded =
    canonicalize(rows) === canonicalize(template.rows) &&
    view.url.pathname === template.exchange.url.pathname;
  return new Map(
    companions.map(({ pointer, join, items }) => {
      if (join === undefined || isRecorded)
        return [pointer, isRecorded ? listAt(template, pointer) : []];
      const wanted = rows.map((row) => valueText(row, join.row));
      const found = [...new Set(wanted)].flatMap((text) =>
        text === undefined ? [] : (items.find((item) => valueText(item, join.item) === text) ?? []),
      );
      return [pointer, found];
    }),
  );
}
