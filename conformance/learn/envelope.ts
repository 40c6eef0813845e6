/**
 * Learns the envelope around the rows: the formula that explains each value, and through it the
 * values on any other page.
 */
import { canonicalize } from "svc-connectors/host";
import { echoOf, type Formula, formulas, type PageView } from "./formulas.ts";
import { nameOf, scalarText } from "./json.ts";
import { type RecordedPage, urlIn } from "./pages.ts";
import { findUrlForm, isSameUrl } from "./urls.ts";

export interface SeenPage {
  readonly page: RecordedPage;
  readonly view: PageView;
  /** Names the listing: values that differ only between listings do not change. */
  readonly listing: string;
}

/** A value of the envelope with the formula that explains it. */
export interface ExplainedValue {
  readonly pointer: string;
  readonly formula: string;
  /** The value on a page; undefined = it is absent there. */
  value(page: PageView): unknown;
}

interface ValueSample extends SeenPage {
  readonly value: unknown;
}

/**
 * Every value that a formula explains on all pages. The others stay as the nearest recorded page
 * has them.
 */
export function learnEnvelope(
  seen: readonly SeenPage[],
  {
    keys,
    sizeKey,
    known,
  }: { keys: readonly string[]; sizeKey: string | undefined; known: readonly ExplainedValue[] },
): ExplainedValue[] {
  const pointers = new Set([
    ...seen.flatMap(({ page }) => [...page.envelope.keys()]),
    ...known.map(({ pointer }) => pointer),
  ]);
  const parameterKeys = new Set(seen.flatMap(({ page }) => [...page.exchange.parameters.keys()]));
  const candidates = [...formulas, ...[...parameterKeys].map(echoOf)];
  return [...pointers].flatMap((pointer) => {
    const samples = seen.map((one) => ({ ...one, value: one.page.envelope.get(pointer) }));
    const own = () =>
      learnUrl(pointer, samples, keys, sizeKey) ?? learnScalar(pointer, samples, candidates);
    const other = () => known.find((one) => one.pointer === pointer && explains(one, samples));
    // A listing of one page does not show what changes from page to page; other listings of the
    // provider may.
    return (hasChanges(samples) ? (own() ?? other()) : (other() ?? own())) ?? [];
  });
}

function explains(known: ExplainedValue, samples: readonly ValueSample[]): boolean {
  return samples.every(({ view, value }) => {
    const given = known.value(view);
    if (given === undefined || value === undefined) return given === value;
    return (
      canonicalize(given) === canonicalize(value) ||
      (typeof given === "string" && typeof value === "string" && isSameUrl(given, value, view.url))
    );
  });
}

/** How a provider says that there is no such page. */
const isEnd = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === false ||
  ["0", "-1"].includes(scalarText(value) ?? "");

function learnUrl(
  pointer: string,
  samples: readonly ValueSample[],
  keys: readonly string[],
  sizeKey: string | undefined,
): ExplainedValue | undefined {
  const isUrl = ({ page, value }: ValueSample) => urlIn(page, value) !== undefined;
  const urls = samples.filter(isUrl);
  const ends = samples.filter((one) => !isUrl(one));
  if (!ends.every(({ value }) => isEnd(value))) return undefined;
  const form = findUrlForm(
    urls.map(({ value, view }) => ({ text: String(value), page: view })),
    ends.map(({ view }) => view),
    { keys, sizeKey, name: nameOf(pointer) },
  );
  if (form === undefined) return undefined;
  const end = endOf(ends);
  return { pointer, formula: form.title, value: (page) => form.write(page) ?? end };
}

const endOf = (ends: readonly ValueSample[]) => (ends.length > 0 ? ends[0]?.value : null);

function learnScalar(
  pointer: string,
  samples: readonly ValueSample[],
  candidates: readonly Formula[],
): ExplainedValue | undefined {
  const fitting = candidates.filter((formula) => fits(formula, samples));
  const name = nameOf(pointer.replace(/^header:/, "/"));
  const named = fitting.find(({ hint }) => hint.test(name));
  const formula = named ?? (hasChanges(samples) ? fitting[0] : undefined);
  if (formula === undefined) return undefined;
  const end = endOf(samples.filter(({ view }) => formula.value(view) === undefined));
  const like = samples.find(({ view }) => formula.value(view) !== undefined)?.value;
  return {
    pointer,
    formula: formula.name,
    value(page) {
      const value = formula.value(page);
      return value === undefined ? end : likeRecorded(value, like);
    },
  };
}

/** The value is right on every page, and on those that have none stands what says so. */
function fits(formula: Formula, samples: readonly ValueSample[]): boolean {
  let isSeen = false;
  let end: string | undefined;
  for (const { view, value } of samples) {
    const wanted = formula.value(view);
    if (wanted === undefined) {
      if (!isEnd(value)) return false;
      const text = value === undefined ? "absent" : canonicalize(value);
      if (end !== undefined && end !== text) return false;
      end = text;
      continue;
    }
    if (typeof wanted === "boolean" ? value !== wanted : scalarText(value) !== String(wanted))
      return false;
    isSeen = true;
  }
  return isSeen;
}

/** Whether the value is another one on some page of the same listing. */
function hasChanges(samples: readonly ValueSample[]): boolean {
  const values = Map.groupBy(samples, ({ listing }) => listing).values();
  return [...values].some(
    (some) =>
      new Set(some.map(({ value }) => (value === undefined ? "" : canonicalize(value)))).size > 1,
  );
}

/** A number where the provider writes a number, text where it writes text. */
function likeRecorded(value: string | number | boolean, like: unknown): unknown {
  if (typeof like === "string") return String(value);
  if (typeof value !== "string" || !/^-?\d+$/.test(value)) return value;
  const number = BigInt(value);
  return Number.isSafeInteger(Number(number)) ? Number(number) : number;
}
