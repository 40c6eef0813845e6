/**
 * Words that nobody has seen yet beside the rows of an answer. They may be waited for or refused;
 * what was read is still read, and the state still written.
 */
import { canonicalize, valueAt } from "svc-connectors/host";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Exchange, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { momentOf } from "../derive/rows/moments.ts";
import { newWarnings } from "../derive/rows/news.ts";
import { missingText, treeOf } from "../derive/sweeps/pages.ts";
import {
  finalState,
  isBeyondRecordings,
  readFrom,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { leavesOfState } from "../derive/sweeps/states.ts";
import { jsonLeaves, toText, withValue } from "../learn/json.ts";
import {
  covering,
  type FoundWords,
  groupWords,
  lostRows,
  namesWord,
  newWordFor,
  rowsOf,
  subjectOf,
  type WordField,
} from "./schema-06.word-fields.ts";

/** Tries each field in the read of one stream, of one with a state where there is one. */
export async function tryEnvelopeWords(lab: Lab, report: Reporter): Promise<void> {
  const trials: { readonly stream: StreamFacts; readonly fields: readonly WordField[] }[] = [];
  for (const stream of lab.streams.filter(({ recording }) => recording))
    trials.push({ stream, fields: await envelopeWords(lab, stream) });
  const chosen = covering(
    trials.toSorted((one, other) => +other.stream.isIncremental - +one.stream.isIncremental),
    ({ fields }) => fields.map(({ pointer }) => pointer),
  );
  for (const { stream, fields } of lab.sample(chosen, 6))
    await tryFields(lab, report, stream, fields);
}

async function tryFields(
  lab: Lab,
  report: Reporter,
  stream: StreamFacts,
  fields: readonly WordField[],
): Promise<void> {
  const whole = await undisturbed(lab, stream);
  const read = await readEnvelopeWords(lab, stream, whole, fields);
  const isRead = read.outcome.status === "succeeded" && !isBeyondRecordings(read);
  const lost = isRead ? lostRows(stream, whole, read) : [];
  const isLess = isRead && (lost.length > 0 || isStateLost(stream, whole, read, fields));
  if (fields.length > 1 && (!isRead || isLess)) {
    for (const field of fields) await tryFields(lab, report, stream, [field]);
    return;
  }
  const subjects = fields.map((field) => subjectOf(stream, field));
  if (isBeyondRecordings(read) || read.outcome.status === "hung")
    return report.untried(`${subjects[0]}: the read waits, or asks for what was not recorded`);
  for (const subject of subjects) report.checked(subject);
  if (!isLess || newWarnings(read, whole).length > 0) return;
  const less =
    lost.length > 0
      ? missingText(lost)
      : `its last state is ${stateText(finalState(read, stream))} in place of ${stateText(finalState(whole, stream))}`;
  report.fail(
    `${subjects[0]} beside the rows, and the read succeeds, but ${less}; nothing says why.`,
    messageEvidence("The run", read, []),
  );
}

const envelopeWord = /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|[a-z][a-z0-9]*(?:_[a-z0-9]+)*)$/;

/** Fields beside rows whose word is the same in every recording that has them. */
async function envelopeWords(lab: Lab, stream: StreamFacts): Promise<WordField[]> {
  const whole = await undisturbed(lab, stream);
  const golden = (await lab.golden()).flatMap(({ observation }) => observation.exchanges);
  const wanted = whole.exchanges.map(({ request: { url, body } }) => url.search + body).join("\n");
  const recorded = groupWords(golden.flatMap((exchange) => wordsBeside(lab, exchange)));
  const own = groupWords(whole.exchanges.flatMap((exchange) => wordsBeside(lab, exchange)));
  return own.filter(({ rows, pointer }) => {
    const same = recorded.filter((other) => other.rows === rows && other.pointer === pointer);
    const [word = "", ...others] = new Set(same.flatMap(({ words }) => words));
    return others.length === 0 && envelopeWord.test(word) && !wanted.includes(word);
  });
}

function wordsBeside(lab: Lab, exchange: Exchange): FoundWords[] {
  const listing = lab.learned.listingOf(exchange.request);
  if (!listing || rowsOf(listing) === "") return [];
  return [...jsonLeaves(treeOf(exchange), rowsOf(listing))].flatMap(([pointer, value]) =>
    namesWord(pointer) && typeof value === "string" ? [{ listing, pointer, words: [value] }] : [],
  );
}

const deadlineMs = 10_000;

/** A job that is waited for is asked for again and again: some requests later it is no answer. */
function readEnvelopeWords(
  lab: Lab,
  stream: StreamFacts,
  whole: Observation,
  fields: readonly WordField[],
): Promise<Observation> {
  const most = 3 * whole.exchanges.length + 20;
  const changed = lab.learned.provider({
    answer(answer, listing) {
      const tree = treeOf({ answer });
      const made = fields
        .filter(({ rows }) => rows === rowsOf(listing))
        .reduce((done, field) => {
          const word = valueAt(done, field.pointer);
          return typeof word === "string"
            ? withValue(done, field.pointer, newWordFor(field, word))
            : done;
        }, tree);
      const { "content-length": _, ...headers } = answer.headers;
      return made === tree ? answer : { ...answer, headers, body: Buffer.from(toText(made)) };
    },
  });
  const provider: Provider = {
    answer: (request) =>
      request.index < most
        ? changed.answer(request)
        : { unmatched: "it asks again and again for what never ends" },
    unused: () => [],
  };
  return readFrom(lab, stream, undefined, { provider, deadlineMs });
}

/**
 * True when the final state lacks something that the undisturbed read's says, but for what is of
 * each run: times, and the words themselves.
 */
function isStateLost(
  stream: StreamFacts,
  whole: Observation,
  other: Observation,
  fields: readonly WordField[],
): boolean {
  const after = leavesOfState(finalState(other, stream) ?? null);
  const said = new Map(after.map(({ path, value }) => [path.join("/"), value]));
  const words = fields.flatMap((field) => field.words);
  return leavesOfState(finalState(whole, stream) ?? null).some(({ path, value }) => {
    const now = said.get(path.join("/")) ?? null;
    const isOfRun = momentOf(value)?.kind === "time" || words.includes(String(value));
    return isOfRun ? now === null : canonicalize(now) !== canonicalize(value);
  });
}
