/** Connecting an account: a window of the provider, and a clear way back from it. */
import { Alert, Anchor, Button, Loader } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import {
  type Connecting,
  finishConnecting,
  openWindow,
  pageOf,
  redirectUri,
  startConnecting,
} from "../model/connect.ts";
import { ProblemNote } from "./states.tsx";

interface Waiting {
  /** The provider's page, when its window was blocked or closed. */
  readonly url: string;
  readonly isBlocked: boolean;
}

export function ConnectAccount({
  connecting,
  label,
  isAgain = false,
  onDone,
}: {
  readonly connecting: Connecting;
  readonly label: string;
  /** Whether there is one already. */
  readonly isAgain?: boolean | undefined;
  readonly onDone: (account: schemas["ConnectedAccount"]) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState<Waiting>();
  const [problem, setProblem] = useState<Problem>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const giveUp = () => {
    stop.current?.abort();
    setWaiting(undefined);
    setBusy(false);
  };
  const begin = async () => {
    stop.current?.abort();
    const own = new AbortController();
    stop.current = own;
    const popup = openWindow();
    setBusy(true);
    setProblem(undefined);
    try {
      const started = await startConnecting(connecting);
      const url = pageOf(started.authorization_url);
      const finished = finishConnecting(started, own.signal);
      if (popup) popup.location.href = url;
      setWaiting({ url, isBlocked: popup === undefined });
      onDone(await finished);
      setWaiting(undefined);
    } catch (error) {
      popup?.close();
      if (own.signal.aborted) return;
      setWaiting(undefined);
      setProblem(toProblem(error));
    } finally {
      if (!own.signal.aborted) setBusy(false);
    }
  };
  return (
    <div className="stack" style={{ gap: "0.75rem" }}>
      {waiting === undefined ? (
        <div>
          <Button
            variant={isAgain ? "default" : "filled"}
            onClick={() => void begin()}
            loading={isBusy}
          >
            {label}
          </Button>
        </div>
      ) : (
        <Alert
          color="indigo"
          variant="light"
          title={waiting.isBlocked ? "Your browser has blocked the window" : "Log in there"}
          role="status"
        >
          <div className="stack" style={{ gap: "0.6rem" }}>
            <span>
              <Loader size="xs" aria-hidden="true" />{" "}
              {waiting.isBlocked
                ? "Open the provider's page yourself, and consent there."
                : "Consent in the window that has opened. This page goes on by itself."}
            </span>
            <div className="actions">
              <Anchor href={waiting.url} target="_blank" rel="noreferrer" size="sm">
                {waiting.isBlocked ? "Open it" : "Open it again"}
              </Anchor>
              <Button size="xs" variant="default" onClick={giveUp}>
                Give up
              </Button>
            </div>
          </div>
        </Alert>
      )}
      {problem === undefined ? null : (
        <>
          <ProblemNote error={problem} />
          <Advice problem={problem} connectorId={connecting.connectorId} />
        </>
      )}
    </div>
  );
}

/** Advice for the operator, who does it once. */
function Advice({
  problem: { reason },
  connectorId,
}: {
  readonly problem: Problem;
  readonly connectorId: string;
}) {
  if (reason !== "oauth_app_missing" && reason !== "redirect_uri_not_allowed") return null;
  return (
    <Alert color="gray" variant="light" title="For who runs this server">
      <div className="stack" style={{ gap: "0.5rem" }}>
        <span>
          {reason === "oauth_app_missing"
            ? "Register an application with the provider. Then, in svc.config.yaml:"
            : "Register this address with the provider too. Then, in svc.config.yaml:"}
        </span>
        <code className="text token">
          {`oauth_apps:\n  ${connectorId}:\n    ${reason === "oauth_app_missing" ? "client_id: …\n    client_secret: { $file: client-secret.txt }\n    " : ""}redirect_uris: [${JSON.stringify(redirectUri())}]`}
        </code>
      </div>
    </Alert>
  );
}
