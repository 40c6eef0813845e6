/**
 * The worker's side of the wire: loads one connector, runs one verb, and is over.
 * Runs in the sandboxed child (entry.ts), or in this process for an author's debugger (inline).
 */

import type { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import type { Source } from "../contract/source.ts";
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameWriter,
  frameKind,
  gateOfWorker,
  parsePayload,
} from "../wire/frames.ts";
import type { LoadRequest, VerbRequest } from "../wire/verb-request.ts";
import { createCalls } from "./calls.ts";
import { createContext } from "./context.ts";
import { describeFailure } from "./failure.ts";
import { describeSource, loadSource } from "./load.ts";
import { check, discover, entities, read } from "./verbs.ts";

/**
 * Serves one run on `wire`; resolves when the verb is over or the host is gone.
 * @param aroundSource see HostOptions
 * @param kept what runs of one worker share, where it serves one after another
 */
export async function serve(
  wire: Duplex,
  aroundSource = (source: Source) => source,
  kept?: KeptWire,
): Promise<void> {
  const writer = kept ? whileCurrent(createFrameWriter(wire), kept) : createFrameWriter(wire);
  const reader = kept?.reader ?? createFrameReader(gateOfWorker);
  const cancelled = new AbortController();
  const calls = createCalls(writer, cancelled.signal);
  let source: Source | undefined;
  let hasBegun = false;
  let isOver: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });

  const fail = (error: unknown) => {
    writer.sendJson(frameKind.failed, 0, describeFailure(error));
    isOver();
  };

  const load = async ({ url, document }: LoadRequest) => {
    source = aroundSource(await loadSource(url, document));
    writer.sendJson(frameKind.manifest, 0, describeSource(source));
  };

  const start = async (request: VerbRequest) => {
    if (!source) throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "start before load" });
    if (request.clockStandsStill) calls.standStill();
    const context = createContext(source, request, calls, cancelled.signal);
    if (request.verb === "check") await check(source, context);
    else if (request.verb === "discover")
      await discover(source, context, writer, request.maxStreams ?? Number.POSITIVE_INFINITY);
    else if (request.verb === "entities")
      await entities(source, context, writer, request.input ?? {});
    else await read(source, context, writer, request, cancelled.signal);
    writer.send(frameKind.done, 0);
    isOver();
  };

  const handle = (frame: Frame) => {
    if (calls.settle(frame)) return;
    if (frame.kind === frameKind.ping) writer.send(frameKind.pong, 0);
    else if (frame.kind === frameKind.cancel) {
      // In a worker that serves many runs, one that comes before the load is of the last run.
      if (hasBegun) cancelled.abort();
    } else if (frame.kind === frameKind.release) isOver();
    else if (frame.kind === frameKind.load) {
      hasBegun = true;
      load(parsePayload(frame.payload) as unknown as LoadRequest).catch(fail);
    } else if (frame.kind === frameKind.start)
      start(parsePayload(frame.payload) as unknown as VerbRequest).catch(fail);
  };

  const take = (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) handle(frame);
  };
  const end = () => {
    cancelled.abort();
    isOver();
  };
  const destroy = () => wire.destroy();
  wire.on("data", take).on("error", destroy).on("close", end).resume();
  writer.send(frameKind.ready, 0);
  await over;
  if (kept) wire.pause().off("data", take).off("error", destroy).off("close", end);
}

export interface KeptWire {
  readonly reader: ReturnType<typeof createFrameReader>;
  /** False once the run is over for good: then it says nothing more. */
  isCurrent(): boolean;
}

function whileCurrent(writer: FrameWriter, { isCurrent }: KeptWire): FrameWriter {
  return {
    ...writer,
    send: (...frame) => !isCurrent() || writer.send(...frame),
    sendPacked: (...frame) => !isCurrent() || writer.sendPacked(...frame),
    sendJson: (...frame) => !isCurrent() || writer.sendJson(...frame),
  };
}
