/** One session between a connector and its database, as the kit passes it on. */
import type { Socket } from "node:net";
import type { Clock } from "svc-connectors";
import type { Query, QueryFault } from "../contract/database.ts";

export type OpenQuery = { -readonly [Name in keyof Query]: Query[Name] };

export interface SessionOptions {
  /** Where the server really listens. */
  readonly server: { readonly host: string; readonly port: number };
  /** The database that is connected to, whatever the connector asks for. */
  readonly database?: string | undefined;
  readonly fault?: QueryFault | undefined;
  readonly now: Clock["now"];
  /** A statement has arrived. */
  readonly onQuery?: ((index: number) => void | Promise<void>) | undefined;
}

/** @param queries takes every statement of the session as it comes */
export type CreateSession = (
  client: Socket,
  options: SessionOptions,
  queries: OpenQuery[],
) => Session;

export interface Session {
  /** An answer is on its way, or the login. */
  isBusy(): boolean;
  end(): void;
}

/** Whether the statement of that index meets the fault. */
export const meetsFault = (fault: QueryFault | undefined, index: number): fault is QueryFault =>
  fault !== undefined && (fault.isLasting ? index >= fault.at : index === fault.at);

/** Writes, and lets the source wait while the other side is slow. */
export function pass(source: Socket, sink: Socket, bytes: Buffer): void {
  if (sink.destroyed || sink.write(bytes)) return;
  source.pause();
  sink.once("drain", () => source.resume());
}
