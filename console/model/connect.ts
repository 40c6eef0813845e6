/** Connects an account in a window of its provider. */
import { api, askNow } from "../api/client.ts";
import { Problem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { type ConnectedMessage, connectedChannel } from "./connected-channel.ts";

export interface Connecting {
  readonly connectorId: string;
  /** The account's name; when it is connected again it keeps its name. */
  readonly name?: string | undefined;
  /** The source whose account is connected again. */
  readonly sourceId?: string | undefined;
  /** Settings that decide where one logs in. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** Where the provider sends the browser back to; the operator registers it there and here. */
export const redirectUri = (): string =>
  new URL("connected", document.baseURI.replace(/#.*/, "")).href;

/** @throws Problem */
export const startConnecting = ({
  connectorId,
  name,
  sourceId,
  input,
}: Connecting): Promise<schemas["OauthStart"]> =>
  askNow(
    api.POST("/credentials/source/oauth/start", {
      body: {
        connector_id: connectorId,
        redirect_uri: redirectUri(),
        ...(sourceId === undefined ? { name } : { source_id: sourceId }),
        oauth_input: { ...input },
      },
    }),
  );

/**
 * A window for the provider, opened while the click still counts, so that no browser blocks it.
 * Undefined: it is blocked all the same.
 */
export const openWindow = (): Window | undefined =>
  window.open("", "svc-connect", "popup,width=640,height=780") ?? undefined;

/** A page to open, and nothing else that a hostile connector names. @throws Problem */
export function pageOf(url: string): string {
  const { protocol } = new URL(url);
  if (protocol === "https:" || protocol === "http:") return url;
  throw new Problem(422, { message: "The connector names no page to log in at." });
}

/**
 * Waits until the browser has come back from the provider, and finishes.
 * @throws Problem
 */
export async function finishConnecting(
  { connector_id: connectorId, state }: schemas["OauthStart"],
  signal: AbortSignal,
): Promise<schemas["ConnectedAccount"]> {
  const parameters = await comeBack(state, signal);
  return askNow(
    api.POST("/credentials/source/oauth/callback", {
      body: { connector_id: connectorId, query_params: parameters },
    }),
  );
}

/** Every page of the console hears of everyone who comes back; one knows the state. */
const comeBack = (state: string, signal: AbortSignal) =>
  new Promise<Record<string, string>>((resolve, reject) => {
    const channel = new BroadcastChannel(connectedChannel);
    const end = () => {
      channel.close();
      reject(new Problem(0, { message: "It was given up." }));
    };
    signal.addEventListener("abort", end);
    channel.addEventListener("message", ({ data }: MessageEvent<ConnectedMessage>) => {
      if (data.kind !== "came-back" || data.parameters.state !== state) return;
      const taken: ConnectedMessage = { kind: "taken", state };
      channel.postMessage(taken);
      signal.removeEventListener("abort", end);
      channel.close();
      resolve({ ...data.parameters });
    });
  });
