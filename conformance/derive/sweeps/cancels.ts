/**
 * Runs that are cancelled: wherever a request can be, after any message, and by a consumer that
 * goes away.
 */
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Answer } from "../../contract/network.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import { withAnswers } from "../../replay/strict.ts";
import { isTokenExchange } from "../requests/rate-limits.ts";
import { errorAnswer } from "./faults.ts";
import { syncModeOf } from "./reads.ts";

/**
 * Longer than this after a cancel is too late; ms. A second is what is expected; the rest is for a
 * loaded machine.
 */
export const lateMs = 5_000;
/** A run that ignores its cancel is ended from outside; ms. */
export const cancelDeadlineMs = 12_000;
/** Real time in which the head and half of a body have arrived; ms. */
const midBodyMs = 60;
/** Real time after which a token comes; ms. */
const tokenMs = 200;
/** So that it is the cancel that ends a request, not a timeout. */
const patient = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
/** Longer than any test: whoever waits, waits when the cancel comes. */
const askedSeconds = 300;

/** A command and what it does when nobody disturbs it. */
export interface CancelledWork {
  readonly name: string;
  readonly command: Command;
  readonly whole: Observation;
}

/** check, discover and the reads of all streams, as far as they send requests. Done once. */
export function workToCancel(lab: Lab): Promise<readonly CancelledWork[]> {
  return lab.once("work to cancel", async () => {
    const { config } = lab;
    const reads = lab.streams
      .filter(({ recording }) => recording !== undefined)
      .map((facts) => [`a read of ${facts.label}`, readOf(lab, facts)] as const);
    const commands: readonly (readonly [string, Command])[] = [
      ["check", { verb: "check", config }],
      ["discover", { verb: "discover", config }],
      ...reads,
    ];
    const works: CancelledWork[] = [];
    for (const [name, command] of commands) {
      const whole = await lab.run(command);
      if (requestCountOf(whole) > 0 && whole.outcome.status === "succeeded")
        works.push({ name, command, whole });
    }
    return works;
  });
}

/** Requests, or statements where the provider is a database. */
export const requestCountOf = ({ exchanges, traces }: Observation) =>
  exchanges.length + traces.queries.length;

const readOf = (lab: Lab, facts: StreamFacts) =>
  lab.readCommand([facts], { syncMode: syncModeOf(facts) });

export interface CancelScene {
  /** "while the head of the answer is awaited, request 2". */
  readonly name: string;
  readonly runOptions: RunOptions;
}

/** Everywhere that the request with that index can be when the cancel comes. */
export function scenesOf(lab: Lab, { whole }: CancelledWork, at: number): CancelScene[] {
  const scene = (name: string, runOptions: RunOptions): CancelScene => ({
    name: `${name}, request ${at + 1}`,
    runOptions: {
      transport: "server",
      deadlineMs: cancelDeadlineMs,
      timeouts: patient,
      ...runOptions,
    },
  });
  const asked = whole.exchanges[at];
  if (asked && isTokenExchange(asked))
    return [
      scene("while a token is fetched", {
        cancel: { at: "request", index: at },
        onRequest: letThrough(at),
      }),
    ];
  const backoff = lab.can("clock")
    ? ({ at: "wait", requestCount: at + 1 } as const)
    : ({ at: "request", index: at, afterMs: 500 } as const);
  const between = whole.messages.findIndex(({ requestCount }) => requestCount > at);
  return [
    scene("while the head of the answer is awaited", {
      cancel: { at: "request", index: at },
      onRequest: ({ index }) => (index >= at ? new Promise<never>(() => undefined) : undefined),
    }),
    scene("in the middle of the body", {
      cancel: { at: "request", index: at, afterMs: midBodyMs },
      provider: changed(lab, at, (answer) => ({ ...answer, fault: { type: "stall" } })),
    }),
    scene("while it waits to try again", {
      cancel: backoff,
      provider: changed(lab, at, () =>
        errorAnswer(lab, 429, { "retry-after": String(askedSeconds) }),
      ),
    }),
    ...(between < 0
      ? []
      : [scene("when its answer has come", { cancel: { at: "message", count: between + 1 } })]),
  ];
}

/** Everywhere that a statement can be when the cancel comes. */
export function databaseScenesOf({ whole }: CancelledWork, at: number): CancelScene[] {
  const between = whole.messages.findIndex(({ requestCount }) => requestCount > at);
  const scene = (name: string, runOptions: RunOptions): CancelScene => ({
    name: `${name}, statement ${at + 1}`,
    runOptions: { deadlineMs: cancelDeadlineMs, ...runOptions },
  });
  return [
    scene("while the result is awaited", {
      cancel: { at: "request", index: at, afterMs: midBodyMs },
      database: { fault: { at, type: "hang" } },
    }),
    ...(between < 0
      ? []
      : [scene("when its result has come", { cancel: { at: "message", count: between + 1 } })]),
  ];
}

/** From that request on; requests for tokens are answered as ever. */
const changed = (lab: Lab, at: number, change: (answer: Answer) => Answer) =>
  withAnswers(lab.learned.provider(), (answer, request) =>
    request.index >= at && !isTokenExchange({ request, answer, atMs: 0 }) ? change(answer) : answer,
  );

/**
 * The answer to a request for a token may hold the only valid one: it may be waited for, and comes
 * soon after the cancel.
 */
const letThrough = (at: number) => async (request: { readonly index: number }) => {
  if (request.index === at) await new Promise((resolve) => setTimeout(resolve, tokenMs));
};

/** Without patience: a connection for a token is let through too. */
export const whileConnecting: CancelScene = {
  name: "while the connection is made",
  runOptions: {
    connection: { fault: "connect-hang" },
    cancel: { at: "dial" },
    deadlineMs: cancelDeadlineMs,
  },
};
