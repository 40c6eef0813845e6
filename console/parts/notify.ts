import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { isProposal } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";
import { plural } from "../model/words.ts";

const closeButtonProps = { "aria-label": "Close" };

/** The last notification: on a narrow screen, one thing covers enough. */
let last: string | undefined;

const waits = "waits";

/** Says in the corner what came of something. */
export const notify = {
  done(message: string): void {
    if (last !== undefined) notifications.hide(last);
    last = notifications.show({ message, color: "teal", closeButtonProps });
  },
  problem(error: unknown): void {
    const { message, fix } = toProblem(error);
    notifications.show({
      title: "It did not work",
      message: clipped(fix === undefined ? message : `${message} ${fix}`),
      color: "red",
      closeButtonProps,
      autoClose: 10_000,
    });
  },
  /** That requests wait, and how long the server asks for; undefined: none waits any more. */
  waits(seconds: number | undefined): void {
    notifications.hide(waits);
    if (seconds !== undefined)
      notifications.show({
        id: waits,
        title: "Many requests at once",
        message: `The server asks to wait ${plural(seconds, "second")}. It goes on by itself.`,
        color: "yellow",
        loading: true,
        autoClose: false,
        withCloseButton: false,
      });
  },
  /** Tells that a request is done, or waits for somebody's approval. @returns whether it is done */
  outcome(data: unknown, done: string): boolean {
    const waits = isProposal(data);
    if (waits)
      notifications.show({
        message: "It waits for an administrator's approval.",
        color: "yellow",
        closeButtonProps,
      });
    else notify.done(done);
    return !waits;
  },
};

/** A text that is short enough for a corner. */
const clipped = (text: string) => (text.length > 600 ? `${text.slice(0, 600)}…` : text);

/** Runs the action of a button: its failure is told in the corner. */
export function useAct() {
  const [isBusy, setBusy] = useState(false);
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      notify.problem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, act };
}
