/**
 * Remote control of the simulators, on loopback, for tests against the demo: it lists the requests
 * they have seen, injects faults, and consents as the person in the browser.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault, FaultScope } from "../simulators/simulator/faults.ts";
import type { Simulators } from "./simulators.ts";

/** The answer to `GET /`. */
const usage = {
  "GET /requests":
    "requests, DNS look-ups and connections since the start, or since DELETE /requests",
  "DELETE /requests": "forgets them",
  "POST /faults":
    '{"provider": "mailer", "fault": {"type": "status", "status": 503}, "scope": {"path": "/campaigns", "times": 2, "after": 1}}',
  "DELETE /faults": "takes all faults back",
  "POST /consent":
    '{"authorization_url": "…", "decision": "grant" | "deny"} gives {"callback_url": "…"}',
  "POST /social/expire": "access tokens end before their time",
  "POST /social/revoke": "the user takes the authorisation back",
};

const faultTypes: readonly Fault["type"][] = [
  "status",
  "html",
  "malformed_json",
  "echo_authorization",
  "stack_trace",
  "redirect",
  "hang",
  "reset",
  "truncated",
  "slow_loris",
  "gzip_bomb",
];

type Body = Readonly<Record<string, unknown>>;
type Handle = (simulators: Simulators, body: Body) => object;

const handlers: Readonly<Record<string, Handle>> = {
  "GET /": () => ({ usage }),
  "GET /requests": (simulators) => simulators.traffic(),
  "DELETE /requests": (simulators) => {
    simulators.clear();
    return {};
  },
  "POST /faults"({ faults }, { provider, fault, scope }) {
    const switches = faults[String(provider)];
    if (!switches)
      throw new RangeError(`provider must be one of ${Object.keys(faults).join(", ")}`);
    const { type } = (fault ?? {}) as Fault;
    if (!faultTypes.includes(type))
      throw new RangeError(`fault.type must be one of ${faultTypes.join(", ")}`);
    switches.inject(fault as Fault, (scope ?? {}) as FaultScope);
    return {};
  },
  "DELETE /faults"({ faults }) {
    for (const one of Object.values(faults)) one.clear();
    return {};
  },
  "POST /consent": (simulators, { authorization_url, decision }) => ({
    callback_url: simulators.consent(
      String(authorization_url),
      decision === "deny" ? "deny" : "grant",
    ),
  }),
  "POST /social/expire"({ social }) {
    social.tokens.expireAll();
    return {};
  },
  "POST /social/revoke"({ social }) {
    social.tokens.revoke();
    return {};
  },
};

export async function serveSimulators(
  simulators: Simulators,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    void answer(simulators, request).then(({ status, body }) => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(`${JSON.stringify(body)}\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  simulators: Simulators,
  request: IncomingMessage,
): Promise<{ status: number; body: object }> {
  const handle = handlers[`${request.method} ${request.url?.split("?")[0]}`];
  if (!handle) return { status: 404, body: { problem: "there is nothing at this address", usage } };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    return { status: 200, body: handle(simulators, (text === "" ? {} : JSON.parse(text)) as Body) };
  } catch (error) {
    return {
      status: 400,
      body: { problem: error instanceof Error ? error.message : "not understood" },
    };
  }
}
