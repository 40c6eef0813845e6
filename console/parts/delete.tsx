import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Confirm } from "./confirm.tsx";
import { useMe } from "./me.tsx";

/** Deletes what a page is about, for who may, after asking once more. */
export function Delete({
  name,
  label,
  may,
  children,
  run,
}: {
  readonly name: string;
  /** "Delete this source" */
  readonly label: string;
  /** Who may, where that is not who may change what is in this workspace. */
  readonly may?: boolean | undefined;
  /** The warning: what stays and what goes. */
  readonly children: string;
  readonly run: () => Promise<void>;
}) {
  const { mayWrite } = useMe();
  const [isOpen, { open, close }] = useDisclosure(false);
  if (!(may ?? mayWrite)) return null;
  return (
    <>
      <div>
        <Button variant="subtle" color="red" size="xs" onClick={open}>
          {label}
        </Button>
      </div>
      <Confirm
        title={`Delete ${name}?`}
        label="Delete"
        isOpen={isOpen}
        onClose={close}
        run={run}
        isDangerous
      >
        <span>{children}</span>
      </Confirm>
    </>
  );
}
