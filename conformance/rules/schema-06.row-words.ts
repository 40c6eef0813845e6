/**
 * Words that nobody has seen yet in any row that a read asks for, those of parents too: a channel
 * whose status is new still has its posts.
 */
import { valueAt } from "svc-connectors/host";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import { namesNews } from "../derive/rows/news.ts";
import { everyStreamFields, readAll, type StreamFields } from "../derive/rows/row-fields.ts";
import { listingsOf, missingText } from "../derive/sweeps/pages.ts";
import { isBeyondRecordings } from "../derive/sweeps/reads.ts";
import { jsonLeaves, nameOf, toText, withValue } from "../learn/json.ts";
import { isWord, newWords } from "./schema-06.changed-rows.ts";
import {
  covering,
  groupWords,
  lostRows,
  namesWord,
  newestOf,
  newWordFor,
  subjectOf,
  type WordField,
} from "./schema-06.word-fields.ts";

/** Fields that are tried alone when all together do not give the rows. */
const maxAlone = 4;

/** Tries each field in the read of one stream: of its own rows, and of a parent's. */
export async function tryRowWords(lab: Lab, report: Reporter): Promise<void> {
  const trials = (await everyStreamFields(lab))
    .map((facts) => ({ facts, fields: rowWords(lab, facts) }))
    .toSorted((one, other) => other.fields.length - one.fields.length);
  const chosen = covering(trials, ({ facts, fields }) =>
    fields.map(({ name, listings }) => {
      const isOwn = facts.pairs.some(({ listing }) => listings.includes(listing));
      return isOwn ? name : `${name} of a parent`;
    }),
  );
  for (const { facts, fields } of lab.sample(chosen, 6))
    await tryFields(lab, report, facts, fields);
}

async function tryFields(
  lab: Lab,
  report: Reporter,
  facts: StreamFields,
  fields: readonly WordField[],
): Promise<void> {
  const { stream, whole } = facts;
  const read = await readRowWords(lab, facts, fields);
  const isRead = read.outcome.status === "succeeded" && !isBeyondRecordings(read);
  const lost = isRead ? lostRows(stream, whole, read) : [];
  if (fields.length > 1 && (!isRead || lost.length > 0)) {
    for (const field of lab.sample(fields, maxAlone)) await tryFields(lab, report, facts, [field]);
    return;
  }
  const [field] = fields;
  const subjects = fields.map((one) => subjectOf(stream, one));
  if (isBeyondRecordings(read))
    return report.untried(`${subjects[0]}: the read asks for what was not recorded`);
  if (field && lost.length > 0 && (await decides(lab, facts, field)))
    return report.untried(`${subjects[0]}: the words that are known say which rows are wanted`);
  for (const subject of subjects) report.checked(subject);
  if (!field || lost.length === 0 || reportsSkip(read, whole)) return;
  if ([field.field, newestOf(field)].some((word) => namesNews(read, whole, word))) return;
  report.fail(
    `${subjects[0]}, and the read succeeds, but ${missingText(lost)}; nothing says why.`,
    messageEvidence("The run", read, []),
  );
}

/** Parents are joined by them, and they are no words. */
const namesId = (pointer: string) => /(?:id|ids|key|code|slug|name|title)$/.test(nameOf(pointer));

/**
 * Of all rows that the stream's read asks for, without those that the plan for its own fields
 * tries. A word that is asked for, selected or the stream's own name says which rows are wanted.
 */
export function rowWords(lab: Lab, { stream, whole, fields }: StreamFields): WordField[] {
  const wanted = [
    stream.label,
    toText(lab.config),
    ...whole.exchanges.map(({ request: { url, body } }) => url.pathname + url.search + body),
  ].join("\n");
  const known = listingsOf(lab, whole).filter(({ paging }) => paging.style !== "unknown");
  const found = known.flatMap((listing) => {
    const pointers = new Set(listing.rows.flatMap((row) => [...jsonLeaves(row).keys()]));
    return [...pointers].flatMap((pointer) => {
      const values = listing.rows
        .map((row) => valueAt(row, pointer))
        .filter((value) => (value ?? null) !== null);
      const words = values.filter(isWord);
      const isTried = fields.some(
        (field) =>
          field.pointer === pointer &&
          field.listings.has(listing) &&
          (field.isKey || field.isCursor || newWords.count(field) > 0),
      );
      return isTried || words.length < values.length ? [] : [{ listing, pointer, words }];
    });
  });
  return groupWords(found).filter(({ pointer, words, count }) => {
    const isFew = words.length < count && words.every((word) => !/\d/.test(word));
    return (
      words.length > 0 &&
      (namesWord(pointer) || (isFew && !namesId(pointer))) &&
      !words.some((word) => wanted.includes(word))
    );
  });
}

/** The first row that has such a word keeps it where others have one too: something is left. */
const readRowWords = (
  lab: Lab,
  { stream }: StreamFields,
  fields: readonly WordField[],
  wordFor: (field: WordField, word: string) => string = newWordFor,
): Promise<Observation> =>
  readAll(lab, stream, {
    provider: lab.learned.provider({
      rows: (listing, rows) =>
        fields
          .filter(({ listings }) => listings.includes(listing))
          .reduce((changed, field) => withWords(changed, field, wordFor), rows),
    }),
  });

function withWords(
  rows: readonly ProviderRow[],
  field: WordField,
  wordFor: (field: WordField, word: string) => string,
): readonly ProviderRow[] {
  const having = rows.filter((row) => isWord(valueAt(row, field.pointer)));
  const changed = new Set(having.length > 1 ? having.slice(1) : having);
  return rows.map((row) =>
    changed.has(row)
      ? (withValue(
          row,
          field.pointer,
          wordFor(field, String(valueAt(row, field.pointer))),
        ) as ProviderRow)
      : row,
  );
}

/** True when the recorded words decide as well which rows are wanted. */
async function decides(lab: Lab, facts: StreamFields, field: WordField): Promise<boolean> {
  if (field.words.length < 2) return false;
  for (const word of lab.sample(field.words, 3)) {
    const read = await readRowWords(lab, facts, [field], () => word);
    const isCut = isBeyondRecordings(read) || read.outcome.status !== "succeeded";
    if (isCut || lostRows(facts.stream, facts.whole, read).length > 0) return true;
  }
  return false;
}
