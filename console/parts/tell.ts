import { notifications } from "@mantine/notifications";
import { isProposal } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";

const closeButtonProps = { "aria-label": "Close" };

/** Says in the corner what came of something. */
export const tell = {
  done(message: string): void {
    notifications.show({ message, color: "teal", closeButtonProps });
  },
  problem(error: unknown): void {
    const { message, fix } = toProblem(error);
    notifications.show({
      title: "It did not work",
      message: fix === undefined ? message : `${message} ${fix}`,
      color: "red",
      closeButtonProps,
      autoClose: 10_000,
    });
  },
  /** What was asked for is done, or waits for somebody's approval. @returns whether it is done */
  outcome(data: unknown, done: string): boolean {
    const waits = isProposal(data);
    notifications.show(
      waits
        ? {
            message: "It waits for an administrator's approval.",
            color: "yellow",
            closeButtonProps,
          }
        : { message: done, color: "teal", closeButtonProps },
    );
    return !waits;
  },
};
