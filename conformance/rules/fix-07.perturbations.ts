/**
 * Fixture perturbation: one value of the recorded answers is another one, wherever it stands, and
 * the output has to show it.
 */
import { rawJson } from "svc-connectors";
import { isPlainObject } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { nameOf, readJson, scalarText, toText } from "../learn/json.ts";

export interface Perturbation {
  /** Property of the records that has the value. */
  readonly property: string;
  readonly from: string;
  readonly to: string;
}

/** A value of this length, other than a word, that stands in one place only is no coincidence. */
const distinctiveLength = 6;

/**
 * For each property a value of the records that the answers hold too: under the same name, or
 * nowhere else.
 */
export function perturbations(
  lab: Lab,
  whole: Observation,
  records: readonly { readonly data: Readonly<Record<string, unknown>> }[],
): readonly Perturbation[] {
  const answers = whole.exchanges
    .flatMap(({ answer }) => (answer && answer.status < 300 ? [leavesIn(answer)] : []))
    .flat();
  const byText = Map.groupBy(answers, ({ text }) => text);
  // The connector knows from elsewhere what it sends.
  const sent = `${JSON.stringify(lab.config)}\n${JSON.stringify(lab.recordings.map(({ run }) => run.config))}\n${whole.exchanges.map(({ request }) => `${decoded(request.url.href)}\n${request.body}`).join("\n")}`;
  const words = new Set(sent.split(/[^\p{L}\p{N}._:@+-]+/u));
  const isSent = (text: string) =>
    words.has(text) || (text.length >= distinctiveLength && sent.includes(text));
  const found = records.flatMap(({ data }) =>
    Object.entries(data).flatMap(([property, value]): Perturbation[] => {
      const from = scalarText(value);
      if (from === undefined || from === "" || typeof value === "boolean" || isSent(from))
        return [];
      const places = byText.get(from) ?? [];
      const isSameName = places.some(({ name }) => name === nameOf(`/${property}`));
      const isDistinctive = from.length >= distinctiveLength && !/^[a-z_-]+$/i.test(from);
      if (!isSameName && !(isDistinctive && places.length === 1)) return [];
      const to = anotherNotIn(byText, from);
      return to === undefined ? [] : [{ property, from, to }];
    }),
  );
  return [...new Map(found.toReversed().map((one) => [one.property, one])).values()];
}

/** The answer with the other value in each place. */
export function perturb(answer: Answer, { from, to }: Perturbation): Answer {
  const body = answer.body.toString("utf8");
  const tree = readJson(body);
  if (tree === undefined)
    return body.includes(from)
      ? { ...answer, body: Buffer.from(body.replaceAll(from, () => to)) }
      : answer;
  return hasText(tree, from)
    ? { ...answer, body: Buffer.from(toText(replaced(tree, from, to))) }
    : answer;
}

/** Undefined where the nearest ones are all taken. */
function anotherNotIn(taken: ReadonlyMap<string, unknown>, from: string): string | undefined {
  let to = from;
  for (let count = 0; count < 9; count++) {
    to = another(to);
    if (to !== from && !taken.has(to)) return to;
  }
  return undefined;
}

/** A text of the same form: another year of a date, another last letter or digit. */
function another(text: string): string {
  const year = /^(19|20)(\d\d)(-\d\d)/.exec(text);
  // 28 years have the same days.
  if (year) return `${Number(text.slice(0, 4)) - 28}${text.slice(4)}`;
  const at = text.search(/[\p{L}\p{N}](?=[^\p{L}\p{N}]*$)/u);
  if (at < 0) return `${text}x`;
  const last = text.charAt(at);
  const next = /\d/.test(last)
    ? String((Number(last) + 1) % 10 || 1)
    : /[a-eA-E]/.test(last)
      ? String.fromCharCode(last.charCodeAt(0) + 1)
      : /[a-z]/.test(last)
        ? "a"
        : /[A-Z]/.test(last)
          ? "A"
          : "a";
  return `${text.slice(0, at)}${next}${text.slice(at + 1)}`;
}

interface Leaf {
  readonly name: string;
  readonly text: string;
}

function leavesIn({ body }: Answer): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (value: unknown, name: string): void => {
    const text = scalarText(value);
    if (text !== undefined) leaves.push({ name, text });
    else if (Array.isArray(value)) for (const part of value) visit(part, name);
    else if (isPlainObject(value))
      for (const [own, part] of Object.entries(value)) visit(part, nameOf(`/${own}`));
  };
  const text = body.toString("utf8");
  const tree = readJson(text);
  if (tree !== undefined) visit(tree, "");
  // Text of another kind, such as CSV: its words are values without names.
  else
    for (const word of text.split(/[\t\r\n,;"<>]+/)) leaves.push({ name: "", text: word.trim() });
  return leaves;
}

const hasText = (value: unknown, text: string): boolean =>
  scalarText(value) === text ||
  (Array.isArray(value)
    ? value.some((part) => hasText(part, text))
    : isPlainObject(value) && Object.values(value).some((part) => hasText(part, text)));

function replaced(value: unknown, from: string, to: string): unknown {
  if (scalarText(value) === from) return typeof value === "string" ? to : rawJson(to);
  if (Array.isArray(value)) return value.map((part) => replaced(part, from, to));
  return isPlainObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, replaced(part, from, to)]),
      )
    : value;
}

const decoded = (url: string) => decodeURIComponent(url.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"));
