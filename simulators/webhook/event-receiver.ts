/**
 * A receiver of events on loopback. It checks signatures as Standard Webhooks says, with nothing of
 * svc's own code.
 */
import { createHmac } from "node:crypto";
import type { CertificateAuthority } from "../certificates.ts";
import { type SimulatorServer, startServer } from "../simulator/server.ts";

export interface ReceivedEvent {
  /** The `webhook-id`. */
  readonly id: string;
  /** With how many of the receiver's secrets it is signed. */
  readonly signedBy: number;
  readonly signatures: number;
  /** Seconds. */
  readonly timestamp: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly payload: any;
}

export interface EventReceiver extends SimulatorServer {
  readonly url: string;
  /** `whsec_…` secrets that it accepts. */
  readonly secrets: string[];
  /** In order, repeated ones too; also what was answered with a failure. */
  readonly events: readonly ReceivedEvent[];
  /** The answer to what comes next. Default: 204. */
  answerWith(status: number, headers?: Readonly<Record<string, string>>): void;
}

export async function startEventReceiver({
  hostname = "hooks.example.com",
  authority,
}: {
  readonly hostname?: string | undefined;
  readonly authority?: CertificateAuthority | undefined;
} = {}): Promise<EventReceiver> {
  const secrets: string[] = [];
  const events: ReceivedEvent[] = [];
  let next = { status: 204, headers: {} as Readonly<Record<string, string>> };
  const server = await startServer({
    hostname,
    authority,
    answer({ method, path, headers, body }) {
      const text = (name: string) => String(headers[name] ?? "");
      const content = `${text("webhook-id")}.${text("webhook-timestamp")}.${body}`;
      const signatures = text("webhook-signature").split(" ");
      const expected = secrets.map((secret) => {
        const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
        return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
      });
      if (method !== "POST" || path !== "/svc/events")
        return { status: 404, headers: {}, body: Buffer.alloc(0) };
      events.push({
        id: text("webhook-id"),
        signedBy: expected.filter((one) => signatures.includes(one)).length,
        signatures: signatures.length,
        timestamp: Number(text("webhook-timestamp")),
        payload: JSON.parse(body),
      });
      return { ...next, body: Buffer.from("a word that nobody keeps") };
    },
  });
  return {
    ...server,
    url: `https://${hostname}/svc/events`,
    secrets,
    events,
    answerWith: (status, headers = {}) => {
      next = { status, headers };
    },
  };
}
