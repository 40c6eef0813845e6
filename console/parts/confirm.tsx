import { Button, Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ProblemNote } from "./states.tsx";

/** Asks once more before something that cannot be undone. What was refused is told in it. */
export function Confirm({
  title,
  label,
  keep = "Keep it",
  isOpen,
  isReady = true,
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
  readonly onClose: () => void;
  /** Closes by itself when it is done. */
  readonly run: () => Promise<void>;
  readonly children: ReactNode;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const close = () => {
    setProblem(undefined);
    onClose();
  };
  const go = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await run();
      close();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title} centered>
      <div className="stack">
        {children}
        {problem === undefined ? null : <ProblemNote error={problem} />}
        <div className="actions">
          <Button color="red" onClick={() => void go()} loading={isBusy} disabled={!isReady}>
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
