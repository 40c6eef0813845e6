import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useWork } from "../model/use-work.ts";
import { ProblemNote } from "./states.tsx";

/** Asks once more before something larger. What was refused is told in it. */
export function Confirm({
  title,
  label,
  keep = "Keep it",
  isOpen,
  isReady = true,
  isDangerous = false,
  onClose,
  run,
  children,
}: {
  readonly title: ReactNode;
  readonly label: string;
  readonly keep?: string | undefined;
  readonly isOpen: boolean;
  /** Whether what is asked for inside has been given. */
  readonly isReady?: boolean | undefined;
  /** Whether something goes that does not come back. */
  readonly isDangerous?: boolean | undefined;
  readonly onClose: () => void;
  /** Closes by itself when it is done. */
  readonly run: () => Promise<void>;
  readonly children: ReactNode;
}) {
  const { isBusy, problem, run: begin, clear } = useWork();
  const close = () => {
    clear();
    onClose();
  };
  const go = () =>
    begin(async () => {
      await run();
      close();
    });
  return (
    <Modal opened={isOpen} onClose={close} title={title} centered>
      <div className="stack">
        {children}
        {problem === undefined ? null : <ProblemNote error={problem} />}
        <div className="actions">
          <Button
            color={isDangerous ? "red" : "indigo"}
            onClick={() => void go()}
            loading={isBusy}
            disabled={!isReady}
          >
            {label}
          </Button>
          <Button variant="default" onClick={close}>
            {keep}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
