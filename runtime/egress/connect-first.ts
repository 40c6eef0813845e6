import type { Socket } from "node:net";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import { toConnectionError } from "./connection-errors.ts";

/**
 * Time after which the next address is tried beside the one that has not answered yet (RFC 8305
 * section 5).
 */
const attemptDelayMs = 250;

export interface Connected<Target> {
  readonly socket: Socket;
  readonly target: Target;
}

/**
 * The first connection that stands, of attempts to the targets in order (Happy Eyeballs): the next
 * one starts when one has failed, or has not answered for 250 ms. All others are destroyed.
 * @param open begins a TCP connect
 * @throws CONNECTION_FAILED, PROVIDER_TIMEOUT: the failure of the first target · what aborted
 * `signal`
 */
export function connectFirst<Target>(
  targets: readonly Target[],
  open: (target: Target) => Socket,
  signal: AbortSignal,
): Promise<Connected<Target>> {
  return new Promise((resolve, reject) => {
    const pending = new Set<Socket>();
    let nextIndex = 0;
    let failure: ConnectorError | undefined;
    let timer: NodeJS.Timeout | undefined;

    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      for (const socket of pending) socket.destroy();
      pending.clear();
    };
    const onAbort = () => {
      finish();
      reject(toConnectorError(signal.reason, "CANCELLED"));
    };
    const onFailure = (error: unknown) => {
      failure ??= toConnectionError(error);
      attempt();
    };

    function attempt(): void {
      clearTimeout(timer);
      const target = targets[nextIndex++];
      if (target === undefined) {
        if (pending.size > 0) return;
        finish();
        reject(failure ?? new ConnectorError("HOST_UNKNOWN"));
        return;
      }
      let socket: Socket;
      try {
        socket = open(target);
      } catch (error) {
        onFailure(error);
        return;
      }
      pending.add(socket);
      // Stays for good: an error between two owners of the socket must not end the process. "close"
      // always follows.
      let lastError: unknown;
      socket.on("error", (error) => {
        lastError = error;
      });
      socket.once("close", () => {
        if (pending.delete(socket)) onFailure(lastError);
      });
      socket.once("connect", () => {
        if (!pending.delete(socket)) return;
        finish();
        resolve({ socket, target });
      });
      timer = setTimeout(attempt, attemptDelayMs);
    }

    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    attempt();
  });
}
