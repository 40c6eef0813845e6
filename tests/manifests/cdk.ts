/** Airbyte's interpreter of manifests, in a process of its own, against a provider without TLS. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import type { ReceivedRequest } from "../../simulators/loopback.ts";
import { type Case, now } from "./cases.ts";
import { createShop } from "./provider.ts";
import { type Reading, toReading } from "./read-here.ts";

const program = fileURLToPath(new URL("cdk.py", import.meta.url));
const packages = ["airbyte-cdk==7.39.1", "freezegun==1.5.5"];
const run = promisify(execFile);

/** Where it runs; or what lacks. */
export type Cdk = { readonly python: string } | { readonly lack: string };

/**
 * Fetches the interpreter into a virtual environment of a folder. `CDK_VENV` names one that is ready,
 * for whoever runs this often.
 */
export async function installCdk(folder: string): Promise<Cdk> {
  const ready = process.env.CDK_VENV;
  if (ready) return { python: join(ready, "bin/python") };
  for (const [command, ...args] of [
    ["python3", "-m", "venv", "venv"],
    [join(folder, "venv/bin/pip"), "install", "-q", ...packages],
  ] as [string, ...string[]][]) {
    try {
      await run(command, args, { cwd: folder, timeout: 500_000 });
    } catch {
      return { lack: `${command} ${args.join(" ")} does not work here` };
    }
  }
  return { python: join(folder, "venv/bin/python") };
}

/** Starts it once for many readings. */
export async function startCdk(python: string) {
  const received: ReceivedRequest[] = [];
  let handle = createShop("http");
  const server = createServer((incoming, response) => {
    void readText(incoming).then((body) => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, host: headers.host ?? "", headers, body };
      return handle(request, response, received.push(request));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn(python, [program], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, DO_NOT_TRACK: "1" },
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();

  return {
    async read(one: Case, stream: string, state: unknown): Promise<Reading> {
      received.length = 0;
      handle = createShop("http");
      const manifest = parse(
        one.manifest.replaceAll("https://api.example.com", `http://127.0.0.1:${port}`),
      );
      const { isIncremental } = one.streams.find(({ name }) => name === stream) ?? {};
      const mode = isIncremental ? "incremental" : "full_refresh";
      const catalog = {
        streams: [
          {
            stream: { name: stream, json_schema: {}, supported_sync_modes: [mode] },
            sync_mode: mode,
            destination_sync_mode: "append",
          },
        ],
      };
      const descriptor = { stream_descriptor: { name: stream }, stream_state: state };
      const job = {
        ...{ verb: "read", now, manifest, config: one.config, catalog },
        state: state === undefined ? [] : [{ type: "STREAM", stream: descriptor }],
      };
      child.stdin.write(`${JSON.stringify(job)}\n`);
      let line = "";
      // It logs there too.
      while (!line.startsWith("RESULT ")) {
        const { value, done } = await lines.next();
        if (done) throw new Error("Airbyte's interpreter has ended");
        line = value;
      }
      const { records, states, errors, waits } = JSON.parse(line.slice(7));
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
