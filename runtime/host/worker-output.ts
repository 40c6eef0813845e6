/** The output of a worker besides its calls: how much of each kind, and to whom it goes. */
import { budgets, type DocumentBudget } from "../contract/budgets.ts";
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { measureJson, parseBounded } from "../wire/bounded-json.ts";
import {
  type Frame,
  type FrameGate,
  frameKind,
  parseObject,
  requireObject,
} from "../wire/frames.ts";

/**
 * The receivers of the worker's output. Each is awaited, so a slow receiver slows the worker.
 */
export interface SessionHandlers {
  /** A part of the catalog, as JSON text. */
  onStreams?(part: Buffer): void | Promise<void>;
  onResult?(result: JsonObject): void | Promise<void>;
  onStatus?(index: number, status: JsonObject): void | Promise<void>;
  /** Rows as columns, unchecked. */
  onBatch?(index: number, payload: Buffer): void | Promise<void>;
  onCheckpoint?(index: number, state: JsonValue): void | Promise<void>;
  onLog?(level: string, message: string, fields: JsonObject): void;
  onDenied?(resource: string): void;
}

const protocol = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });
export const unexpected = () => protocol("an unexpected frame");
const notADefinition = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "definition", problem });
/** Largest payload of a frame by its kind; of the others, which say little or nothing, 1 KiB. */
const maxPayloadBytes: Readonly<Record<number, number>> = {
  [frameKind.manifest]: budgets.manifest.bytes,
  [frameKind.request]: budgets.request.bytes,
  [frameKind.bytes]: budgets.databaseWrites.together,
  [frameKind.log]: budgets.log.bytes,
  [frameKind.denied]: 4 * 1024,
  [frameKind.streams]: budgets.catalogPart.bytes,
  [frameKind.status]: budgets.status.bytes,
  [frameKind.batch]: budgets.rows.bytes,
  [frameKind.checkpoint]: budgets.state.bytes,
  [frameKind.failed]: budgets.failure.bytes,
  [frameKind.result]: budgets.entities.bytes,
};

export const gateOfHost: FrameGate = (kind, bytes) => {
  const limit = maxPayloadBytes[kind] ?? 1024;
  if (bytes <= limit) return "take";
  if (kind === frameKind.log || kind === frameKind.denied) return "drop";
  const problem = `is larger than ${limit} bytes`;
  throw kind === frameKind.manifest ? notADefinition(problem) : protocol(`a frame ${problem}`);
};

/** Output that is for people, and costs a run nothing when it is lost. */
export const isNotice = (frame: Frame) =>
  frame.kind === frameKind.log || frame.kind === frameKind.denied;

/** A notice that would become too many values, or one in another; it is dropped. */
export function isOver({ payload }: Frame): boolean {
  const { values, depth } = measureJson(payload);
  return values > budgets.log.values || depth > budgets.log.depth;
}

/** The manifest of a connector, unchecked. @throws CONNECTOR_INVALID */
export const readManifest = ({ payload }: Frame) =>
  parseBounded(payload, budgets.manifest, notADefinition);

/** The error that a verb or a load failed with. */
export const readFailure = ({ payload }: Frame) =>
  fromErrorRecord(
    parseBounded(payload, budgets.failure, (problem) => protocol(`an error ${problem}`)),
  );

/** @throws CONNECTOR_PROTOCOL when the verb has no such output, and what its receiver throws */
export async function deliver(frame: Frame, handlers: SessionHandlers): Promise<void> {
  const { kind, id, payload } = frame;
  const parse = (budget: DocumentBudget, what: string) =>
    parseBounded(payload, budget, (problem) => protocol(`${what} ${problem}`));
  if (kind === frameKind.batch && handlers.onBatch) await handlers.onBatch(id, payload);
  else if (kind === frameKind.checkpoint && handlers.onCheckpoint)
    await handlers.onCheckpoint(id, parse(budgets.state, "a state"));
  else if (kind === frameKind.status && handlers.onStatus)
    await handlers.onStatus(id, requireObject(parse(budgets.status, "a status")));
  else if (kind === frameKind.streams && handlers.onStreams) await handlers.onStreams(payload);
  else if (kind === frameKind.result && handlers.onResult)
    await handlers.onResult(requireObject(parse(budgets.entities, "the entities")));
  else if (kind === frameKind.log) {
    const { level, message, fields } = parseObject(payload);
    handlers.onLog?.(requireText(level), requireText(message), requireObject(fields ?? {}));
  } else if (kind === frameKind.denied)
    handlers.onDenied?.(requireText(parseObject(payload).resource));
  else throw unexpected();
}

/** @throws CONNECTOR_PROTOCOL when the value is no text */
function requireText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw unexpected();
}
