/** A provider that answers at length, and a connector that takes nothing of it. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createVictim, longestTurnMs } from "./exhaustion-case.ts";

const meet = createVictim();

/** A row with the secret of the victim, and with escapes. */
const echo =
  '{"id":12345,"name":"some name \\\\u0041 of 20","link":"/a?t=s3cr3t-token-0123456789abcdef"},';

/** Answers of which only the end is not sent yet. */
let ending: ServerResponse[] = [];
const endTogether = (response: ServerResponse) => {
  ending.push(response);
  if (ending.length < 8) return;
  for (const one of ending) one.end();
  ending = [];
};

let packedOnce: Buffer | undefined;
const packed = (size: number) => (packedOnce ??= gzipSync(Buffer.alloc(size, "x")));

let provider: Server;
let port = 0;
beforeAll(async () => {
  provider = createServer((request, response) => {
    if (request.url?.endsWith("/token")) {
      const token = randomBytes(9_000).toString("base64");
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ token }));
    }
    const [, way, digits] =
      /\/(answer|together|packed|echoed)\/(\d+)/.exec(request.url ?? "") ?? [];
    const size = Number(digits);
    if (!(size > 0)) return; // it never answers
    if (way === "packed") {
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
      return void response.end(packed(size));
    }
    response.writeHead(200, {
      "content-type": "application/json",
      ...(way === "together" ? {} : { "content-length": size }), // else the last byte is the end
    });
    const part = Buffer.alloc(64 * 1024, way === "echoed" ? echo : "x");
    const write = (left: number): void => {
      if (left <= 0) return void (way === "together" ? endTogether(response) : response.end());
      const hasRoom = response.write(part.subarray(0, left));
      if (hasRoom) setImmediate(write, left - part.length);
      else response.once("drain", () => write(left - part.length));
    };
    write(size);
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  port = (provider.address() as AddressInfo).port;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const MiB = 1024 * 1024;

test.each<[attack: string, sizes: number[], outcome: RegExp]>([
  [
    "answers-nobody-takes",
    [8 * MiB, 16 * MiB, 32 * MiB],
    /^CONNECTOR_TIMEOUT (respond|take what it was sent)$/,
  ],
  ["answers-nobody-takes-but-more", [32 * MiB], /^CONNECTOR_TIMEOUT take what it was sent$/],
  ["answers-together", [32 * MiB], /^succeeded$/],
  ["echoed-secrets", [8 * MiB, 16 * MiB, 32 * MiB], /^succeeded$/],
  ["packed-answers", [32 * MiB], /^succeeded$/],
  ["requests", [100], /^CONNECTOR_TIMEOUT/],
  ["minted-tokens", [100], /^CONNECTOR_PROTOCOL the secrets and tokens of its run are more than/],
])("%s %j: %s", async (attack, sizes, outcome) => {
  const met = await meet("check", attack, sizes, port);
  expect(met.map(({ size }) => size)).toEqual(sizes);
  for (const one of met) expect(one.outcome).toMatch(outcome);
  for (const { busyMs } of met) expect(busyMs).toBeLessThan(longestTurnMs);
  // 64 MiB wait to be taken, and 8 answers of 32 MiB are on their way at once, in pieces and whole.
  expect(met.at(-1)?.grownMb).toBeLessThan(900);
});
