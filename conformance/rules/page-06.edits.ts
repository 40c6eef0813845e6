/** Changes of a listing between its pages, and what tells a connector of each. */
import type { ProviderRow } from "../contract/learned.ts";
import { type CursorColumn, cursorOf, withCursor } from "../derive/rows/cursors.ts";
import { latest } from "../derive/rows/moments.ts";
import { resized } from "../derive/rows/page-rows.ts";
import { type Border, onePageEach, type Room } from "./page-06.borders.ts";

interface Moment extends Pick<Border, "front" | "readCount"> {
  readonly field: string;
  readonly pageSize: number;
  readonly column: CursorColumn | undefined;
}

type Change = (rows: readonly ProviderRow[], moment: Moment) => readonly ProviderRow[];

/** Paging information in the answers of a listing. */
export interface Signs {
  readonly tokens: boolean;
  readonly total: boolean;
  /** That more pages follow, by any word: a page that repeats another one is not the end then. */
  readonly more: boolean;
  /** The oldest rows come first, so that one that changes goes to the end. */
  readonly moves: boolean;
}

export interface ListingEdit {
  readonly name: string;
  readonly edit: Change;
  /** A second change, behind the page that follows: the total is then as it was. */
  readonly second?: Change;
  /** Pages that it needs around its border. */
  readonly room: Room;
  /**
   * Whether a connector can see what it did. Where pages are counted, a row that is deleted from a
   * page that was read pulls another one onto it: only a total that falls tells of that.
   */
  isSeen(by: Signs): boolean;
  /** Whether it can happen there at all. Default: always. */
  happens?(by: Signs): boolean;
  /** Why it is not tried where it is not seen. */
  readonly unseen?: string;
}

/** Far from the numbers of other made-up keys. */
const copyNumber = 77_777;
const copiesOf = (rows: readonly ProviderRow[], field: string): readonly ProviderRow[] =>
  rows.flatMap((row, at) => resized([row], 2, field, copyNumber + at).slice(1));

const addInFront =
  (count: (moment: Moment) => number): Change =>
  (rows, moment) => {
    const { field, front } = moment;
    const models = rows.slice(front, front + count(moment));
    return rows.toSpliced(front, 0, ...copiesOf(models, field));
  };
const addOne = addInFront(() => 1);
const deleteFromFront =
  (count: (moment: Moment) => number): Change =>
  (rows, moment) =>
    rows.toSpliced(moment.front, count(moment));
const deleteFirst = deleteFromFront(() => 1);
const onlyTotal = ({ tokens, total }: Signs) => !tokens && total;

export const edits: readonly ListingEdit[] = [
  {
    name: "a row is added in front",
    edit: addOne,
    room: onePageEach,
    isSeen: () => true,
  },
  {
    name: "as many rows as a page holds are added in front",
    edit: addInFront(({ pageSize }) => pageSize),
    room: onePageEach,
    isSeen: ({ tokens, more }) => !tokens && more,
  },
  {
    name: "a row is added at the end",
    edit: (rows, { field }) => [...rows, ...copiesOf(rows.slice(-1), field)],
    room: onePageEach,
    isSeen: () => true,
  },
  {
    name: "a row that was not read yet is deleted",
    edit: (rows, { readCount }) => rows.filter((_, at) => at !== readCount),
    room: onePageEach,
    isSeen: () => true,
  },
  {
    name: "a row of the first page is deleted",
    edit: deleteFirst,
    room: onePageEach,
    isSeen: ({ tokens, total }) => tokens || total,
  },
  {
    name: "as many rows as a page holds are deleted from the front",
    edit: deleteFromFront(({ pageSize }) => pageSize),
    room: onePageEach,
    isSeen: onlyTotal,
  },
  {
    name: "more rows than a page holds are deleted from the front",
    edit: deleteFromFront(({ pageSize }) => pageSize + 1),
    room: { before: 2, behind: 1 },
    isSeen: onlyTotal,
  },
  {
    name: "a row is added in front, and after the next page another one is deleted there",
    edit: addOne,
    // Not the one that was added: another one of the first page.
    second: (rows, { front }) => rows.toSpliced(front + 1, 1),
    room: { before: 1, behind: 2 },
    isSeen: onlyTotal,
  },
  {
    name: "a row of the first page is deleted, and after the next page another one is added there",
    edit: deleteFirst,
    second: addOne,
    room: { before: 1, behind: 2 },
    isSeen: onlyTotal,
  },
  {
    name: "a row of the first page changes and goes to the end",
    edit: ([first, ...rows], { column }) =>
      first === undefined || column === undefined
        ? rows
        : [...rows, withCursor(first, column, latest(rows.map((row) => cursorOf(row, column))))],
    room: onePageEach,
    happens: ({ moves }) => moves,
    // Where pages are counted, the total stays, and another row slides onto the page that was read.
    isSeen: ({ tokens, moves }) => tokens && moves,
    unseen:
      "no word of the answers tells of it; declare capabilities.loses_on_mutation if the row that slides onto a page that was read is lost",
  },
];
