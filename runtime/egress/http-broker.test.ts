import { connect, createServer } from "node:net";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import {
  answerJson,
  createInstantClock,
  type Handler,
  type Provider,
  providerName,
  startProvider,
} from "../../simulators/loopback.ts";
import {
  basic,
  bearer,
  bodyFields,
  type HttpEgress,
  http,
  queryFields,
} from "../contract/egress.ts";
import { ConnectorError, errorTable } from "../contract/errors.ts";
import type { ConnectorCall } from "../contract/host.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import type { HttpCall } from "../wire/http-call.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { createHttpBroker } from "./http-broker.ts";

const never = new AbortController().signal;
const startMs = Date.UTC(2026, 0, 15, 12);
const plainCanary = "canaryK7Qx2mVt9sLw4ZrB8nPy5Dh3Gj6Fc1Ta0Ue7Ri2";
const trickyCanary = 'can"ary\\/+=&%K7Qx2mVt9sLw4Zr';

type Declaration = Omit<Parameters<typeof http>[0], "baseUrl"> & {
  readonly baseUrl?: HttpEgress["baseUrl"];
};

/** A broker for `https://api.example.com/v1` that leads to the provider. */
function open(
  provider: Provider,
  declared: Partial<Declaration> = {},
  options: Partial<BrokerOptions> = {},
) {
  const declaration = http({
    baseUrl: `https://${providerName}/v1`,
    auth: bearer("api_token"),
    ...declared,
  } as Parameters<typeof http>[0]);
  const broker = createHttpBroker({
    declaration,
    config: { api_token: plainCanary },
    secrets: createSecretRegistry(),
    clock: createInstantClock(startMs),
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: provider.seams,
    random: () => 0.5,
    ...options,
  });
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.close() });
}

const get = (broker: Broker, call: Partial<HttpCall> = {}, signal = never) =>
  broker.request({ method: "GET", path: ["items"], ...call }, signal);

async function failing(work: Promise<unknown>): Promise<ConnectorError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  }
  throw new Error("it succeeded");
}

const ok: Handler = (_request, response) => answerJson(response, 200, { ok: true });

describe("a request", () => {
  test("goes to the declared base with encoded segments, the query in its order, and the credential", async () => {
    await using provider = await startProvider(ok);
    await using broker = open(provider);
    const answer = await get(broker, {
      path: ["lists", "a/b?ü", 7],
      query: { "filter[status]": "sent", page: 2, tag: ["x", "y z"] },
    });
    expect(JSON.parse(answer.body.toString())).toEqual({ ok: true });
    expect(answer.status).toBe(200);
    const [request] = provider.received;
    expect(request?.url).toBe(
      "/v1/lists/a%2Fb%3F%C3%BC/7?filter%5Bstatus%5D=sent&page=2&tag=x&tag=y%20z",
    );
    expect(request?.headers).toMatchObject({
      host: providerName,
      authorization: `Bearer ${plainCanary}`,
      accept: "application/json",
    });
    expect(broker.requestCount).toBe(1);
  });

  test("carries body fields, query fields and basic credentials where they are declared", async () => {
    await using provider = await startProvider(ok);
    const auth = [
      bodyFields({ secret: "secret" }),
      queryFields({ key: "key" }),
      basic("user", "word"),
    ];
    const config = { secret: "s3cret-value", key: "k&y value", user: "ann", word: "pa:ss" };
    await using broker = open(provider, { auth }, { config });
    await broker.request(
      { method: "POST", path: ["items"], query: { page: 1 }, body: { secret: "mine", a: 1 } },
      never,
    );
    const [request] = provider.received;
    expect(JSON.parse(request?.body ?? "")).toEqual({ secret: "s3cret-value", a: 1 });
    expect(request?.url).toBe("/v1/items?page=1&key=k%26y+value");
    expect(request?.headers.authorization).toBe(
      `Basic ${Buffer.from("ann:pa:ss").toString("base64")}`,
    );
    expect(request?.headers["content-type"]).toBe("application/json");
  });

  test("is told to who wants to know, without its credential, with lines that can be lines only", async () => {
    await using provider = await startProvider(ok);
    const calls: ConnectorCall[] = [];
    const options = { onCall: (call: ConnectorCall) => void calls.push(call) };
    const auth = [bearer("api_token"), queryFields({ key: "api_token" })];
    await using broker = open(provider, { auth }, options);
    const forged = [
      7,
      {},
      "index.ts",
      "a.ts:1 ← b.ts:2 ← c.ts:3 ← d.ts:4",
      `${plainCanary}: 1`,
      "a.ts:1\nb.ts:2",
    ];
    for (const place of ["a.ts:1 ← b.ts:2", ...forged])
      await get(broker, { path: ["lists"], query: { page: 1 }, place: place as string });
    expect(calls.map(({ url }) => url.href)).toEqual(
      calls.map(() => `https://${providerName}/v1/lists?page=1`),
    );
    expect(calls.map(({ place }) => place)).toEqual([
      "a.ts:1 ← b.ts:2",
      ...forged.map(() => undefined),
    ]);
  });

  test("registers what it sends as secret", async () => {
    await using provider = await startProvider(ok);
    const secrets = createSecretRegistry();
    await using broker = open(
      provider,
      { auth: basic("user", "word") },
      { config: { user: "ann", word: "open-sesame-42" }, secrets },
    );
    expect(broker.requestCount).toBe(0);
    expect(secrets.contains(Buffer.from("open-sesame-42"))).toBe(true);
    expect(
      secrets.contains(Buffer.from(Buffer.from("ann:open-sesame-42").toString("base64"))),
    ).toBe(true);
    expect(secrets.contains(Buffer.from('"ann"'))).toBe(false);
  });

  test.each([
    ["a URL as segment of dots", { path: [".."] }],
    ["an empty segment", { path: ["a", ""] }],
    ["a segment that is no text", { path: [{}] }],
    ["half a surrogate pair", { path: ["\ud800"] }],
    ["another method", { method: "DELETE" }],
    ["an object in the query", { query: { a: { b: 1 } } }],
    ["the authorization header", { headers: { Authorization: "x" } }],
    ["a header that authentication sets", { headers: { "X-Api-Key": "x" } }],
    ["the host header", { headers: { host: "evil.example.com" } }],
    ["a forwarding header", { headers: { "x-forwarded-host": "evil.example.com" } }],
    ["a header with a line break", { headers: { accept: "a\r\nx: y" } }],
    ["a header name with a line break", { headers: { "a\r\nx": "y" } }],
    ["a body with GET", { body: {} }],
    [
      "a final error as a reason to try again",
      { again: { code: "PERMISSION_DENIED", attempt: 1 } },
    ],
    ["a made-up attempt", { again: { code: "RATE_LIMITED", attempt: 0 } }],
  ])("is refused before anything is sent: %s", async (_name, call) => {
    await using provider = await startProvider(ok);
    await using broker = open(provider, {
      auth: { type: "headers", headers: { "x-api-key": { prefix: "", field: "api_token" } } },
    });
    const error = await failing(get(broker, call as unknown as Partial<HttpCall>));
    expect(error.code).toBe("CONNECTOR_PROTOCOL");
    expect(provider.received).toEqual([]);
  });

  test("segments that look like URLs stay segments", async () => {
    await using provider = await startProvider(ok);
    await using broker = open(provider);
    const paths = [
      ["//evil.example.com"],
      ["https://evil.example.com/"],
      ["%2e%2e"],
      ["\\\\evil"],
      ["..\\x"],
      ["a\r\nb"],
      ["?x#y"],
    ];
    for (const path of paths) await get(broker, { path });
    for (const { url, host } of provider.received) {
      expect(url).toMatch(/^\/v1\/[^/?#]+$/);
      expect(host).toBe(providerName);
    }
    expect(provider.received).toHaveLength(paths.length);
  });

  test("does not reach the networks that are open to databases", async () => {
    await using provider = await startProvider(ok);
    const { dial: _, ...seams } = provider.seams;
    await using broker = open(
      provider,
      {},
      {
        settings: { approvedHosts: [], allowNetworks: [], databaseNetworks: ["127.0.0.0/8"] },
        seams: { ...seams, resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
      },
    );
    expect((await failing(get(broker))).code).toBe("ADDRESS_REFUSED");
  });

  test("needs its credential in the configuration", () => {
    const options = { config: { api_token: "" } };
    expect(() => open({ seams: {} } as Provider, {}, options)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
    const broken = { config: { api_token: "line\nbreak-in-token" } };
    expect(() => open({ seams: {} } as Provider, {}, broken)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});

describe("an answer", () => {
  test("brings only allowed headers, and cookies become secrets", async () => {
    const cookie = "eyJpdiI6ImNvb2tpZS1jYW5hcnki";
    await using provider = await startProvider((_request, response) => {
      const link = `<https://${providerName}/v1/items?page=2&key=${plainCanary}>; rel="next"`;
      answerJson(
        response,
        200,
        {},
        {
          "set-cookie": [`session=${cookie}; Path=/`],
          "x-debug": "internal",
          "x-total": "9",
          link,
          "x-ratelimit-limit": "60",
        },
      );
    });
    const secrets = createSecretRegistry();
    await using broker = open(
      provider,
      { responseHeaders: ["x-total", "set-cookie"] },
      { secrets },
    );
    const { headers } = await get(broker);
    expect(Object.keys(headers).sort()).toEqual([
      "content-type",
      "date",
      "link",
      "x-ratelimit-limit",
      "x-total",
    ]);
    expect(headers.link).not.toContain(plainCanary);
    expect(secrets.contains(Buffer.from(cookie))).toBe(true);
  });

  test.each([
    [401, "CREDENTIALS_REJECTED"],
    [402, "REQUEST_REJECTED"],
    [403, "PERMISSION_DENIED"],
    [404, "RESOURCE_NOT_FOUND"],
    [410, "RESOURCE_NOT_FOUND"],
    [422, "REQUEST_REJECTED"],
    [304, "REQUEST_REJECTED"],
  ])("%i is %s, asked once, without a word of the body", async (status, code) => {
    await using provider = await startProvider((_request, response) => {
      response
        .writeHead(status)
        .end(status === 304 ? undefined : `Error: at /srv/app/index.js:1:1 token ${plainCanary}`);
    });
    await using broker = open(provider);
    const error = await failing(get(broker));
    expect(error.code).toBe(code);
    expect(inspect(error, { depth: 9 }) + error.stack + JSON.stringify(error)).not.toMatch(
      /canary|srv/,
    );
    expect(provider.received).toHaveLength(1);
  });

  test("with an accepted status comes back, without secrets that it echoes", async () => {
    await using provider = await startProvider((_request, response) =>
      answerJson(response, 404, { message: `no ${plainCanary}` }),
    );
    await using broker = open(provider);
    const { status, body } = await get(broker, { accept: [404] });
    expect(status).toBe(404);
    expect(body.toString()).toContain("no ");
    expect(body.toString()).not.toContain(plainCanary);
  });

  test("of a part of what was asked for is refused, unless the call accepts it", async () => {
    await using provider = await startProvider((_request, response) =>
      answerJson(response, 206, { rows: [1] }),
    );
    await using broker = open(provider);
    expect((await failing(get(broker))).code).toBe("RESPONSE_INVALID");
    expect((await get(broker, { accept: [206] })).status).toBe(206);
  });

  test("means what an error rule says, by body or by header alone", async () => {
    await using provider = await startProvider(({ url }, response) => {
      if (url.includes("body")) answerJson(response, 400, { error_code: "ITEM_LOGIN_REQUIRED" });
      else answerJson(response, 200, {}, { "x-state": "expired" });
    });
    const errors = [
      { pointer: "/error_code", equals: ["ITEM_LOGIN_REQUIRED"], code: "REAUTHORIZATION_NEEDED" },
      { header: { name: "x-state", equals: "expired" }, code: "SYNC_STATE_EXPIRED" },
    ] as const;
    await using broker = open(provider, { errors });
    expect((await failing(get(broker, { path: ["body"] }))).code).toBe("REAUTHORIZATION_NEEDED");
    expect((await failing(get(broker, { path: ["header"] }))).code).toBe("SYNC_STATE_EXPIRED");
  });

  test("is refused when it is larger than declared", async () => {
    await using provider = await startProvider(
      (_request, response) => void response.end(Buffer.alloc(5_000)),
    );
    await using broker = open(provider, { maxResponseBytes: 4_999 });
    const error = await failing(get(broker));
    expect([error.code, error.details.limit]).toEqual(["RESPONSE_TOO_LARGE", 4_999]);
  });

  test("that is an endless error page costs little and keeps its status", async () => {
    await using provider = await startProvider((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 60)));
      };
      response.on("drain", write).writeHead(403);
      write();
    });
    await using broker = open(provider);
    expect((await failing(get(broker))).code).toBe("PERMISSION_DENIED");
  });
});

describe("retry", () => {
  test("repeats what may pass, with growing random waits, five times in all", async () => {
    await using provider = await startProvider(
      (_request, response) => void response.writeHead(503).end(),
    );
    const clock = createInstantClock(startMs);
    const waits: [number, string][] = [];
    await using broker = open(
      provider,
      {},
      { clock, onWaiting: (untilMs, reason) => waits.push([untilMs, reason]) },
    );
    const error = await failing(get(broker));
    expect([error.code, error.details.status]).toEqual(["PROVIDER_UNAVAILABLE", 503]);
    expect(clock.slept).toEqual([500, 1_000, 2_000, 4_000]);
    expect(waits.slice(0, 2)).toEqual([
      [startMs + 500, "retry"],
      [0, "retry"],
    ]);
    expect(provider.received).toHaveLength(5);
    expect(broker.requestCount).toBe(5);
  });

  test.each([408, 425, 429, 500, 502, 503, 504])("goes on after %i", async (status) => {
    await using provider = await startProvider(
      (_request, response, count) => void response.writeHead(count === 1 ? status : 200).end("{}"),
    );
    await using broker = open(provider);
    expect((await get(broker)).status).toBe(200);
  });

  test("goes on after a reset, a cut-off body and a truncated compression", async () => {
    await using provider = await startProvider((_request, response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2)
        response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy());
      else if (count === 3)
        response
          .writeHead(200, { "content-encoding": "gzip" })
          .end(Buffer.from("1f8b08000000000000", "hex"));
      else response.end("{}");
    });
    await using broker = open(provider);
    expect((await get(broker)).status).toBe(200);
    expect(provider.received).toHaveLength(4);
  });

  test("leaves a POST alone unless the provider's POST is declared to be safe", async () => {
    await using provider = await startProvider(
      (_request, response) => void response.writeHead(503).end(),
    );
    await using careful = open(provider);
    await failing(careful.request({ method: "POST", path: ["items"], body: {} }, never));
    expect(provider.received).toHaveLength(1);
    await using safe = open(provider, { isPostSafe: true });
    await failing(safe.request({ method: "POST", path: ["items"], body: {} }, never));
    expect(provider.received).toHaveLength(6);
  });

  test("waits as long as the provider asks, and gives up at once when that is beyond the budget", async () => {
    await using provider = await startProvider((_request, response, count) => {
      response
        .writeHead(count === 2 ? 200 : 429, { "retry-after": count === 1 ? "30" : "601" })
        .end("{}");
    });
    const clock = createInstantClock(startMs);
    await using broker = open(provider, {}, { clock });
    await get(broker);
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(30_000);
    clock.advance(3_600_000);
    const error = await failing(get(broker));
    expect([error.code, error.retryAfterMs]).toEqual(["RATE_LIMITED", 601_000]);
    expect(provider.received).toHaveLength(3);
  });

  test("goes on counting when the worker found an error in a 2xx body", async () => {
    await using provider = await startProvider(ok);
    const clock = createInstantClock(startMs);
    await using broker = open(provider, {}, { clock });
    await get(broker, { again: { code: "PROVIDER_UNAVAILABLE", attempt: 3 } });
    expect(clock.slept).toEqual([2_000]);
    const error = await failing(
      get(broker, { again: { code: "PROVIDER_UNAVAILABLE", attempt: 5 } }),
    );
    expect(error.code).toBe("PROVIDER_UNAVAILABLE");
    expect(provider.received).toHaveLength(1);
  });
});

describe("a redirect", () => {
  const redirectTo =
    (target: (count: number) => string, status = 302): Handler =>
    (_request, response, count) => {
      const location = target(count);
      if (location === "") answerJson(response, 200, {});
      else response.writeHead(status, { location }).end();
    };

  test("is followed under the base, with the credential", async () => {
    await using provider = await startProvider(
      redirectTo((count) => (count < 4 ? `/v1/moved/${count}` : "")),
    );
    await using broker = open(provider);
    await get(broker);
    expect(provider.received.map(({ url }) => url)).toEqual([
      "/v1/items",
      "/v1/moved/1",
      "/v1/moved/2",
      "/v1/moved/3",
    ]);
    expect(provider.received.at(-1)?.headers.authorization).toContain(plainCanary);
  });

  test.each([
    ["a metadata address", "http://169.254.169.254/latest/meta-data/"],
    ["another host", "https://evil.example.com/v1/items"],
    ["another port", `https://${providerName}:8443/v1/items`],
    ["http", `http://${providerName}/v1/items`],
    ["another path", "/v2/items"],
    ["a path that only begins alike", "/v1evil"],
    ["a path that climbs out", "/v1/../admin"],
    ["user information", `https://a:b@${providerName}/v1/items`],
    ["nonsense", "https://"],
    ["the fourth hop", "/v1/again"],
  ])("is refused to %s", async (_name, location) => {
    await using provider = await startProvider(redirectTo(() => location));
    await using broker = open(provider);
    const error = await failing(get(broker));
    expect(error.code).toBe("REDIRECT_REFUSED");
    expect(provider.received.length).toBe(location === "/v1/again" ? 4 : 1);
  });

  test("is never followed for a POST", async () => {
    await using provider = await startProvider(redirectTo(() => "/v1/other", 307));
    await using broker = open(provider);
    expect(
      (await failing(broker.request({ method: "POST", path: [], body: {} }, never))).code,
    ).toBe("REDIRECT_REFUSED");
    expect(provider.received).toHaveLength(1);
  });
});

describe("deadlines", () => {
  const once = { maxAttempts: 1 };

  test("for headers, body and the whole name their phase", async () => {
    await using provider = await startProvider(({ url }, response) => {
      if (url.endsWith("body")) response.writeHead(200).write("{");
      if (url.endsWith("drip")) {
        response.writeHead(200);
        const timer = setInterval(() => response.write(" "), 5);
        response.on("close", () => clearInterval(timer));
      }
    });
    const phase = async (path: string, limits: BrokerOptions["limits"]) => {
      await using broker = open(provider, {}, { limits: { ...once, ...limits } });
      const error = await failing(get(broker, { path: [path] }));
      return `${error.code} ${error.details.phase}`;
    };
    expect(await phase("headers", { headersTimeoutMs: 30 })).toBe("PROVIDER_TIMEOUT headers");
    expect(await phase("body", { idleTimeoutMs: 30 })).toBe("PROVIDER_TIMEOUT body");
    expect(await phase("drip", { totalTimeoutMs: 60, idleTimeoutMs: 1_000 })).toBe(
      "PROVIDER_TIMEOUT total",
    );
    await provider.idle();
  });

  test("for connecting include the TLS handshake", async () => {
    await using silent = await startSilentServer();
    await using broker = open(
      { seams: silent.seams } as Provider,
      {},
      { limits: { ...once, connectTimeoutMs: 30 } },
    );
    const error = await failing(get(broker));
    expect([error.code, error.details.phase]).toEqual(["PROVIDER_TIMEOUT", "connect"]);
  });
});

/** Takes connections and says nothing, not even TLS. */
async function startSilentServer() {
  const sockets = new Set<import("node:net").Socket>();
  const connected = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    connected.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    connected: connected.promise,
    seams: {
      resolve: async () => [{ address: "93.184.215.14", family: 4 as const }],
      dial: () => connect(port, "127.0.0.1"),
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("cancelling", () => {
  test.each([
    "before the headers",
    "in the body",
  ])("%s settles with CANCELLED and closes the connection", async (phase) => {
    const arrived = Promise.withResolvers<void>();
    await using provider = await startProvider((_request, response) => {
      if (phase === "in the body") response.writeHead(200).write("{");
      arrived.resolve();
    });
    await using broker = open(provider);
    const controller = new AbortController();
    const work = failing(get(broker, {}, controller.signal));
    await arrived.promise;
    controller.abort(new Error(plainCanary));
    const error = await work;
    expect(error.code).toBe("CANCELLED");
    expect(inspect(error)).not.toContain("canary");
    await provider.idle();
  });

  test("while connecting settles at once", async () => {
    await using silent = await startSilentServer();
    await using broker = open({ seams: silent.seams } as Provider);
    const controller = new AbortController();
    const work = failing(get(broker, {}, controller.signal));
    await silent.connected;
    controller.abort();
    expect((await work).code).toBe("CANCELLED");
  });

  test("while it waits for a retry, a rate limit or a free place settles", async () => {
    await using provider = await startProvider(
      (_request, response) => void response.writeHead(503).end(),
    );
    for (const declared of [{}, { rateLimit: { requests: 1, perMs: 3_600_000 } }]) {
      const waiting = Promise.withResolvers<void>();
      await using broker = open(provider, declared, {
        clock: systemClock,
        onWaiting: () => waiting.resolve(),
      });
      const controller = new AbortController();
      const work = failing(get(broker, {}, controller.signal));
      await waiting.promise;
      controller.abort();
      expect((await work).code).toBe("CANCELLED");
    }
    const hung = Promise.withResolvers<void>();
    await using slow = await startProvider(() => hung.resolve());
    await using narrow = open(slow, { concurrency: 1 });
    const first = failing(get(narrow));
    await hung.promise;
    const controller = new AbortController();
    const second = failing(get(narrow, {}, controller.signal));
    controller.abort();
    expect((await second).code).toBe("CANCELLED");
    await narrow.close();
    expect((await first).code).toBe("CANCELLED");
  });

  test("by closing the broker ends requests under way and refuses later ones", async () => {
    const arrived = Promise.withResolvers<void>();
    await using provider = await startProvider(() => arrived.resolve());
    await using broker = open(provider);
    const work = failing(get(broker));
    await arrived.promise;
    await broker.close();
    expect((await work).code).toBe("CANCELLED");
    expect((await failing(get(broker))).code).toBe("CANCELLED");
    await provider.idle();
  });
});

test("no more requests are under way than declared", async () => {
  let current = 0;
  let highest = 0;
  const waiting: (() => void)[] = [];
  await using provider = await startProvider((_request, response, count) => {
    highest = Math.max(highest, ++current);
    waiting.push(() => {
      current--;
      answerJson(response, 200, {});
    });
    // The last two of 20 find nobody to fill up the three places.
    if (waiting.length === 3 || count > 18) for (const answer of waiting.splice(0)) answer();
  });
  await using broker = open(provider, { concurrency: 3 });
  await Promise.all(Array.from({ length: 20 }, () => get(broker)));
  expect(highest).toBe(3);
  expect(provider.sockets.size).toBe(3);
});

describe("no secret is in any error", () => {
  const echo: Record<string, Handler> = {
    "401 that echoes it": ({ headers }, response) =>
      answerJson(response, 401, { got: headers.authorization }),
    "500 with a stack trace": ({ headers }, response) =>
      void response
        .writeHead(500)
        .end(`Error: ${headers.authorization}\n    at x (/srv/app/a.js:1:2)`),
    "a redirect that carries it": ({ headers }, response) =>
      void response
        .writeHead(302, {
          location: `http://169.254.169.254/${encodeURIComponent(headers.authorization ?? "")}`,
        })
        .end(),
    "headers that are not HTTP": ({ headers }, response) =>
      void response.socket?.end(`HTTP/9.9 ${headers.authorization}\r\n\r\n`),
    "an unknown encoding": ({ headers }, response) =>
      void response.writeHead(200, { "content-encoding": headers.authorization }).end("x"),
    "a reset": (_request, response) => void response.destroy(),
    "a timeout": () => undefined,
  };

  test.each(
    Object.keys(echo).flatMap((name) =>
      [plainCanary, trickyCanary].map((canary) => [name, canary] as const),
    ),
  )("%s (%s)", async (name, canary) => {
    await using provider = await startProvider(echo[name] ?? ok);
    await using broker = open(
      provider,
      {},
      { config: { api_token: canary }, limits: { headersTimeoutMs: 50, maxAttempts: 1 } },
    );
    const error = await failing(get(broker));
    expectClean(error, canary);
  });

  test("of a failed TLS handshake", async () => {
    const foreign = await (await createCertificateAuthority()).issue([providerName]);
    await using provider = await startProvider(ok, { certificate: foreign });
    await using broker = open(provider);
    const error = await failing(get(broker));
    expect(error.code).toBe("TLS_FAILED");
    expectClean(error, plainCanary);
    expect(provider.received).toEqual([]);
  });

  function expectClean(error: ConnectorError, canary: string): void {
    const registry = createSecretRegistry();
    registry.add(canary);
    const everything =
      inspect(error, { depth: 9, showHidden: true }) +
      JSON.stringify(error) +
      String(error.stack).split("\n    at ")[0];
    expect(registry.contains(Buffer.from(everything))).toBe(false);
    expect(everything).not.toMatch(/srv|169\.254/);
    expect(Object.hasOwn(errorTable, error.code)).toBe(true);
    expect(error.cause).toBeUndefined();
  }
});

test("runs of one process that use the same credential share the rate limit of its provider", async () => {
  await using provider = await startProvider(ok);
  const clock = createInstantClock(startMs);
  const rateLimit = { requests: 2, perMs: 60_000 };
  await using first = open(provider, { rateLimit }, { clock });
  await using second = open(provider, { rateLimit }, { clock });
  await using other = open(
    provider,
    { rateLimit },
    { clock, config: { api_token: "another-credential" } },
  );
  await get(first);
  await get(second);
  await get(other);
  expect(clock.now()).toBe(startMs);
  await get(second);
  expect(clock.now()).toBeGreaterThanOrEqual(startMs + 60_000);
});
