import { Alert, Button } from "@mantine/core";
import { type ReactNode, useState } from "react";

/** A secret that is shown here and never again: to copy, and to keep. */
export function ShownOnce({
  label,
  secret,
  warning,
  onClose,
  children,
}: {
  readonly label: string;
  readonly secret: string;
  readonly warning: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <div className="stack">
      <Alert color="yellow" variant="light">
        {warning}
      </Alert>
      <output className="token" aria-label={label}>
        {secret}
      </output>
      {children === undefined ? null : <span className="dim">{children}</span>}
      <div className="actions">
        {/* Browsers give the clipboard to pages over TLS, or of this machine, alone. */}
        {window.isSecureContext ? (
          <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy"}</Button>
        ) : null}
        <Button variant="default" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </div>
  );
}
