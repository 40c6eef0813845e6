/**
 * A source that is made of an image of the Airbyte Protocol. It runs in the worker: what a program
 * writes is a stranger's. The program itself runs in a container of the host's, which sends its
 * output here. Start at `toSource`.
 */
import type { DatabaseContext } from "../contract/context.ts";
import { http } from "../contract/egress.ts";
import type { ImageCommand, ImageDocument, ImageEnding } from "../contract/image.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { checkpoint, type Output, type Row, records } from "../contract/output.ts";
import type { Source } from "../contract/source.ts";
import type { SelectedStream, Stream } from "../contract/stream.ts";
import { readPieces } from "../wire/image-session.ts";
import { toConfiguredStream, toStream } from "./catalog.ts";
import { type FailureType, failureOf, toFailureType } from "./failure.ts";
import { createMessageReader, type Message, refused } from "./messages.ts";
import { isOf, toGivenState, toSavedState } from "./state.ts";

type Context = Pick<DatabaseContext<JsonObject>, "connect" | "log">;

/** @param document an {@link ImageDocument}, which the host has made */
export function toSource(document: string): Source {
  const { name, version, title, documentationUrl, spec, hosts } = JSON.parse(
    document,
  ) as ImageDocument;
  const [first = nowhere, ...others] = hosts.map((host) => `https://${host}`);
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .slice(0, 60);
  return {
    id: `conn_${slug.replace(/^_+|_+$/g, "") || "image"}`,
    version,
    title,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    spec: spec as never,
    egress: http({
      ...{ baseUrl: first, auth: [], concurrency: 4, isPostSafe: false, isImage: true },
      placeholders: { urls: others },
    }) as never,
    async *discover(given) {
      const run = begin(given as never, { verb: "discover" });
      let streams: Stream[] | undefined;
      for await (const message of flat(run.messages()))
        if (message.type === "CATALOG") streams = listOf(message.body.streams).map(toStream);
      run.finish();
      if (!streams) throw refused("it gave no catalog");
      yield* streams;
    },
    async check(given) {
      const run = begin(given as never, { verb: "check" });
      let status: unknown;
      for await (const { type, body } of flat(run.messages()))
        if (type === "CONNECTION_STATUS") status = body.status;
      run.finish(status === "FAILED" ? "check" : undefined);
      if (status !== "SUCCEEDED") throw refused("it did not say whether the check succeeded");
    },
    read: (given, selected, state) => readStream(given as never, selected, state as JsonValue),
  };
}

/** No host is declared, and none has this name (RFC 2606 section 2). */
const nowhere = "https://image.invalid";

async function* readStream(
  ctx: Context,
  stream: SelectedStream,
  state: JsonValue | undefined,
): AsyncGenerator<Output<JsonValue>> {
  const isIncremental = stream.syncMode === "incremental";
  const given = isIncremental ? toGivenState(state, stream) : undefined;
  const catalog: JsonObject = { streams: [toConfiguredStream(stream)] };
  const command: ImageCommand = { verb: "read", catalog };
  const run = begin(ctx, given === undefined ? command : { ...command, state: given });
  for await (const messages of run.messages()) {
    let rows: Row[] = [];
    for (const { type, body } of messages) {
      if (type === "RECORD") rows.push(rowOf(body, stream));
      if (type !== "STATE") continue;
      const saved = toSavedState(body, stream);
      if (!isIncremental) continue;
      if (rows.length > 0) yield records(rows);
      rows = [];
      yield checkpoint(saved);
    }
    if (rows.length > 0) yield records(rows);
  }
  run.finish();
}

function rowOf(record: Message["body"], stream: SelectedStream): Row {
  if (!isOf({ name: record.stream, namespace: record.namespace }, stream))
    throw refused("a record is of a stream that was not asked for");
  if (!isJsonObject(record.data as JsonValue)) throw refused("a record has no data");
  return record.data as Row;
}

/** One run of the image's program. */
interface Run {
  /** Its messages, as they come: notices have been heard, what is left is for the verb. */
  messages(): AsyncGenerator<readonly Message[]>;
  /** @throws why it failed, when it did. `said` is a failure that its messages told of. */
  finish(said?: FailureType): void;
}

/** Characters of a line of text that a log keeps. */
const maxTextChars = 2_000;

function begin({ connect, log }: Context, command: ImageCommand): Run {
  let said: FailureType | undefined;
  let ending: ImageEnding | undefined;
  const note = (from: string, text: unknown) =>
    log.debug(String(text).slice(0, maxTextChars), { from });
  const hear = ({ type, body }: Message): boolean => {
    if (type === "LOG") note("image", body.message);
    else if (type === "CONTROL")
      log.warn("The image asked for its settings to be changed: they stay as they are.");
    else if (type === "TRACE") said = failureIn(body) ?? said;
    else return true;
    return false;
  };
  return {
    async *messages() {
      const session = await connect();
      session.end(JSON.stringify(command));
      const reader = createMessageReader((line) => note("output", line));
      const pieces = readPieces(session as unknown as AsyncIterable<Buffer>);
      try {
        for (let step = await pieces.next(); ; step = await pieces.next()) {
          yield (step.done ? reader.end() : reader.push(step.value)).filter(hear);
          if (!step.done) continue;
          ending = step.value;
          return;
        }
      } finally {
        // Who stops reading wants no more of it.
        session.destroy();
      }
    },
    finish(more) {
      const failure = ending && failureOf(ending, said ?? more);
      if (failure) throw failure;
    },
  };
}

/** A TRACE that tells of a failure. */
function failureIn(trace: Message["body"]): FailureType | undefined {
  const part = (name: string) => (trace[name] ?? {}) as Record<string, unknown>;
  if (trace.type === "ERROR") return toFailureType(part("error").failure_type);
  const isCutShort =
    trace.type === "STREAM_STATUS" && part("stream_status").status === "INCOMPLETE";
  return isCutShort ? "system_error" : undefined;
}

async function* flat(lists: AsyncIterable<readonly Message[]>): AsyncGenerator<Message> {
  for await (const list of lists) yield* list;
}

const listOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw refused("its catalog has no streams");
};
