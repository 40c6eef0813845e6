/** Airbyte's interpreter of manifests, in a process of its own, against a provider without TLS. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Handler, ReceivedRequest } from "../../simulators/loopback.ts";
import { type Case, type CaseStream, now } from "./cases.ts";
import { createShop } from "./provider.ts";
import { type Reading, toReading } from "./read-here.ts";

const program = fileURLToPath(new URL("cdk.py", import.meta.url));

/** The provider of its readings, and how a case is brought to it. */
export interface CdkWorld {
  /** A provider that was asked nothing yet. */
  open(one: Case): Handler;
  /** @param origin of the provider, in place of the case's own */
  toManifest(one: Case, origin: string): unknown;
  toConfig(one: Case, origin: string): unknown;
}

const shop: CdkWorld = {
  open: () => createShop("http"),
  toManifest: ({ manifest }, origin) =>
    parse(manifest.replaceAll("https://api.example.com", origin)),
  toConfig: ({ config }) => config,
};

/** Starts it once for many readings. */
export async function startCdk(python: string, world = shop) {
  const received: ReceivedRequest[] = [];
  let handle: Handler = (_, response) => void response.writeHead(503).end();
  const server = createServer((incoming, response) => {
    void readText(incoming).then((body) => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, host: headers.host ?? "", headers, body };
      return handle(request, response, received.push(request));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn(python, [program, now], {
    stdio: ["pipe", "pipe", "inherit"],
    // Nothing of a manifest leaves this machine: other hosts are behind a proxy that is none.
    env: {
      ...{ ...process.env, DO_NOT_TRACK: "1", NO_PROXY: "127.0.0.1" },
      ...{ HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" },
    },
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();

  const work = async (verb: "read" | "discover", one: Case, job: object = {}) => {
    received.length = 0;
    handle = world.open(one);
    const origin = `http://127.0.0.1:${port}`;
    const [manifest, config] = [world.toManifest(one, origin), world.toConfig(one, origin)];
    const { files } = one;
    child.stdin.write(`${JSON.stringify({ verb, manifest, config, files, ...job })}\n`);
    let line = "";
    // It logs there too.
    while (!line.startsWith("RESULT ")) {
      const { value, done } = await lines.next();
      if (done) throw new Error("Airbyte's interpreter has ended");
      line = value;
    }
    return JSON.parse(line.slice(7));
  };
  return {
    /** The properties of its streams, by their names. */
    async discover(one: Case): Promise<Record<string, unknown>> {
      const { streams, errors } = await work("discover", one);
      if (!streams) throw new Error(`${one.file}: ${errors}`);
      return Object.fromEntries(
        streams.map(({ name, properties = {} }: CaseStream) => [name, properties]),
      );
    },
    async read(one: Case, stream: CaseStream, state: unknown): Promise<Reading> {
      const { name } = stream;
      const mode = stream.isIncremental ? "incremental" : "full_refresh";
      const catalog = {
        streams: [
          {
            stream: { name, json_schema: {}, supported_sync_modes: [mode] },
            sync_mode: mode,
            destination_sync_mode: "append",
          },
        ],
      };
      const descriptor = { stream_descriptor: { name }, stream_state: state };
      const { records, states, errors, waits } = await work("read", one, {
        catalog,
        state: state === undefined ? [] : [{ type: "STREAM", stream: descriptor }],
      });
      const reason = errors.join("; ");
      return toReading(one, stream, { received, records, state: states.at(-1), waits, reason });
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "close");
      server.close();
    },
  };
}
