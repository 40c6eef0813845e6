import { useRef, useState } from "react";
import { isProposal } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { useWork } from "./use-work.ts";

interface Versioned {
  readonly version: number;
}

/** The header that says which state of a thing a change is meant for. */
export const ifMatch = ({ version }: Versioned) => ({ "If-Match": `"v${version}"` });

export interface Saving<T extends Versioned> {
  /** The thing when the form was opened, and now. */
  readonly before: T;
  readonly now: T;
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  /** @param send sends the change for this state of it */
  save(send: (from: T) => Promise<T | schemas["Approval"]>): void;
  /** Lets the next save go over what somebody else has changed. */
  keepMine(): void;
  /** Begins again with what is there now. */
  load(): void;
}

/**
 * A form's way to change what exists. What others change meanwhile neither takes away what was
 * typed, nor is it written over.
 */
export function useSaving<T extends Versioned>(
  now: T,
  {
    opened = now,
    refresh,
    show,
  }: {
    /** The thing when the form was opened, where it has changed since. */
    readonly opened?: T | undefined;
    /** Asks what is there now. */
    readonly refresh: () => Promise<unknown>;
    /** Puts this state of it into the form. */
    readonly show: (from: T) => void;
  },
): Saving<T> {
  const [before, setBefore] = useState(opened);
  // A form that is sent by the click that keeps it knows at once from where it is sent.
  const from = useRef(opened);
  const { isBusy, problem, run, clear } = useWork();
  const begin = (next: T) => {
    from.current = next;
    setBefore(next);
  };
  return {
    before,
    now,
    isBusy,
    problem,
    save: (send) =>
      void run(async () => {
        try {
          const made = await send(from.current);
          if (!isProposal(made)) begin(made);
          await refresh();
        } catch (error) {
          if (toProblem(error).status === 412) await refresh();
          throw error;
        }
      }),
    keepMine: () => begin(now),
    load() {
      begin(now);
      show(now);
      clear();
    },
  };
}
