import { Button } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import type { useWork } from "../model/use-work.ts";
import { ProblemNote } from "./states.tsx";

/** A form in a dialog: its fields, what was refused, and the way out. */
export function DialogForm({
  work: { isBusy, problem },
  label,
  isReady,
  onSubmit,
  onClose,
  children,
}: {
  readonly work: Pick<ReturnType<typeof useWork>, "isBusy" | "problem">;
  readonly label: string;
  readonly isReady: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form className="stack" noValidate onSubmit={submit}>
      {children}
      {problem === undefined ? null : <ProblemNote error={problem} />}
      <div className="actions">
        <Button type="submit" loading={isBusy} disabled={!isReady}>
          {label}
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
