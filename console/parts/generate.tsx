/** A secret that somebody makes up: both sides must know it, and nobody can guess it. */
import { Button, CopyButton } from "@mantine/core";
import type { Field } from "../model/spec.ts";

/** Secrets that sign what is sent are made here; others come from whoever gives access. */
export const isSigningSecret = ({ name }: Pick<Field, "name">): boolean =>
  /(^|[._])signing_(secret|key)$/.test(name);

/** As Standard Webhooks has them: 32 bytes in base64. */
const generated = (): string =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;

export const Generate = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (secret: string) => void;
}) => (
  <div className="actions">
    <Button size="xs" variant="default" onClick={() => onChange(generated())}>
      Generate one
    </Button>
    {value === "" ? null : (
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy}>
            {copied ? "Copied" : "Copy it"}
          </Button>
        )}
      </CopyButton>
    )}
    <span className="dim">The receiver needs it too: it is not shown again once it is saved.</span>
  </div>
);
