import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  answerJson,
  createInstantClock,
  type Handler,
  type Provider,
  type ReceivedRequest,
  startProvider,
  tokenServerName,
} from "../../simulators/loopback.ts";
import { http, oauth2 } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { createMemoryTokenStore, type TokenStore, type Tokens } from "../contract/token-store.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { createHttpBroker } from "./http-broker.ts";

const never = new AbortController().signal;
const startMs = Date.UTC(2026, 0, 15, 12);
const config = {
  client_id: "client-1",
  client_secret: "client-secret-canary",
  refresh_token: "refresh-1-canary",
};
const isTokenRequest = ({ host }: ReceivedRequest) => host === tokenServerName;

function open(
  provider: Provider,
  options: Partial<BrokerOptions> = {},
  clientAuth: "basic" | "body" = "body",
) {
  const auth = oauth2({
    tokenUrl: `https://${tokenServerName}/oauth/token`,
    clientId: "client_id",
    clientSecret: "client_secret",
    refreshToken: "refresh_token",
    clientAuth,
  });
  const broker = createHttpBroker({
    declaration: http({ baseUrl: "https://api.example.com/v1", auth, concurrency: 50 }),
    config,
    secrets: createSecretRegistry(),
    clock: createInstantClock(startMs),
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: provider.seams,
    random: () => 0.5,
    ...options,
  });
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.close() });
}

const get = (broker: Broker, signal = never) =>
  broker.request({ method: "GET", path: ["items"] }, signal);
const failing = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error instanceof ConnectorError) return error;
  throw error ?? new Error("it succeeded");
};

/** A token server with rotation, reuse detection, and an API that honours its newest token only. */
function createRotatingServer(lifetimeSeconds: number | undefined = 3_600) {
  let generation = 1;
  let isRevoked = false;
  const handle: Handler = (request, response) => {
    if (!isTokenRequest(request)) {
      const isValid =
        !isRevoked && request.headers.authorization === `Bearer access-${generation}-canary`;
      return answerJson(response, isValid ? 200 : 401, {});
    }
    const form = new URLSearchParams(request.body);
    if (isRevoked || form.get("refresh_token") !== `refresh-${generation}-canary`) {
      isRevoked = true;
      return answerJson(response, 400, { error: "invalid_grant" });
    }
    generation++;
    answerJson(response, 200, {
      access_token: `access-${generation}-canary`,
      refresh_token: `refresh-${generation}-canary`,
      token_type: "Bearer",
      ...(lifetimeSeconds === undefined ? {} : { expires_in: lifetimeSeconds }),
    });
  };
  const revoke = () => {
    isRevoked = true;
  };
  return { handle, revoke };
}

const tokenRequests = (provider: Provider) => provider.received.filter(isTokenRequest);

describe("an access token", () => {
  test("is minted once for fifty requests at a time, and used until a tenth of its life is left", async () => {
    await using provider = await startProvider(createRotatingServer(3_600).handle);
    const clock = createInstantClock(startMs);
    await using broker = open(provider, { clock });
    await Promise.all(Array.from({ length: 50 }, () => get(broker)));
    expect(tokenRequests(provider)).toHaveLength(1);
    clock.advance(3_600_000 - 300_001);
    await get(broker);
    expect(tokenRequests(provider)).toHaveLength(1);
    clock.advance(1);
    await Promise.all(Array.from({ length: 50 }, () => get(broker)));
    expect(tokenRequests(provider)).toHaveLength(2);
    expect(tokenRequests(provider)[1]?.body).toContain("refresh-2-canary");
  });

  test("is asked for as RFC 6749 says, with the client in the body or in the header", async () => {
    await using provider = await startProvider(createRotatingServer().handle);
    await using broker = open(provider);
    await get(broker);
    const [request] = tokenRequests(provider);
    expect(request).toMatchObject({ method: "POST", url: "/oauth/token" });
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: "refresh_token",
      refresh_token: "refresh-1-canary",
      client_id: "client-1",
      client_secret: "client-secret-canary",
    });
    await using other = await startProvider(createRotatingServer().handle);
    await using basicBroker = open(other, {}, "basic");
    await get(basicBroker);
    const encoded = Buffer.from("client-1:client-secret-canary").toString("base64");
    expect(tokenRequests(other)[0]?.headers.authorization).toBe(`Basic ${encoded}`);
    expect(tokenRequests(other)[0]?.body).not.toContain("secret");
  });

  test("that the provider refuses is renewed once for all requests, and they are sent again", async () => {
    const server = createRotatingServer(undefined);
    await using provider = await startProvider(server.handle);
    const store = createMemoryTokenStore({
      accessToken: "access-0-canary",
      refreshToken: "refresh-1-canary",
    });
    await using broker = open(provider, { tokens: store });
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(broker)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(tokenRequests(provider)).toHaveLength(1);
  });

  test("that is refused twice is a rejected credential", async () => {
    await using provider = await startProvider((request, response) => {
      if (isTokenRequest(request)) answerJson(response, 200, { access_token: "access-canary" });
      else answerJson(response, 401, {});
    });
    await using broker = open(provider);
    expect((await failing(get(broker))).code).toBe("CREDENTIALS_REJECTED");
    expect(provider.received.length - tokenRequests(provider).length).toBe(2);
    expect(tokenRequests(provider)).toHaveLength(2);
  });

  test("and what rotates with it are registered as secrets before they are used", async () => {
    const secrets = createSecretRegistry();
    await using provider = await startProvider(createRotatingServer().handle);
    await using broker = open(provider, { secrets });
    await get(broker);
    for (const secret of [
      "access-2-canary",
      "refresh-2-canary",
      "refresh-1-canary",
      "client-secret-canary",
    ]) {
      expect(secrets.contains(Buffer.from(`x${secret}x`))).toBe(true);
    }
  });

  test.each([
    ["missing", undefined],
    ["0", 0],
    ["negative", -5],
    ["no number", "soon"],
    ["null", null],
  ])("without a usable lifetime (%s) is used until it is refused", async (_name, expires_in) => {
    await using provider = await startProvider((request, response) => {
      answerJson(
        response,
        200,
        isTokenRequest(request)
          ? { access_token: "access-canary", expires_in, refresh_token: null }
          : {},
      );
    });
    const clock = createInstantClock(startMs);
    await using broker = open(provider, { clock });
    await get(broker);
    clock.advance(86_400_000);
    await get(broker);
    expect(tokenRequests(provider)).toHaveLength(1);
  });

  test("with its lifetime as text is renewed in time", async () => {
    await using provider = await startProvider((request, response) => {
      answerJson(
        response,
        200,
        isTokenRequest(request) ? { access_token: "access-canary", expires_in: "60" } : {},
      );
    });
    const clock = createInstantClock(startMs);
    await using broker = open(provider, { clock });
    await get(broker);
    clock.advance(53_999);
    await get(broker);
    expect(tokenRequests(provider)).toHaveLength(1);
    clock.advance(1);
    await get(broker);
    expect(tokenRequests(provider)).toHaveLength(2);
    expect(tokenRequests(provider)[1]?.body).toContain("refresh-1-canary");
  });
});

describe("a rotated refresh token", () => {
  test("is saved before the access token that came with it is used", async () => {
    const events: string[] = [];
    const rotating = createRotatingServer();
    await using provider = await startProvider((request, response, count) => {
      if (!isTokenRequest(request)) events.push("used");
      return rotating.handle(request, response, count);
    });
    const memory = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    const store: TokenStore = {
      load: () => memory.load(),
      async save(version, tokens) {
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`saved ${tokens.refreshToken}`);
        return memory.save(version, tokens);
      },
    };
    await using broker = open(provider, { tokens: store });
    await get(broker);
    expect(events).toEqual(["saved refresh-2-canary", "used"]);
  });

  test("that another process saved first is taken over", async () => {
    const rotating = createRotatingServer();
    await using provider = await startProvider(rotating.handle);
    const memory = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    let saves = 0;
    const theirs: Tokens = { accessToken: "access-2-canary", refreshToken: "refresh-2-canary" };
    const store: TokenStore = {
      load: () => memory.load(),
      async save(version, tokens) {
        if (saves++ === 0) await memory.save(version, theirs);
        return memory.save(version, tokens);
      },
    };
    await using broker = open(provider, { tokens: store });
    expect((await get(broker)).status).toBe(200);
    expect(tokenRequests(provider)).toHaveLength(1);
    expect((await memory.load()).tokens).toEqual(theirs);
  });

  test("is not lost when the store fails: the next request saves it instead of refreshing again", async () => {
    await using provider = await startProvider(createRotatingServer().handle);
    const memory = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    let saves = 0;
    const store: TokenStore = {
      load: () => memory.load(),
      async save(version, tokens) {
        if (saves++ === 0) throw new Error(`database down ${tokens.refreshToken}`);
        return memory.save(version, tokens);
      },
    };
    await using broker = open(provider, { tokens: store });
    const error = await failing(get(broker));
    expect(error.code).toBe("INTERNAL");
    expect(inspect(error)).not.toContain("canary");
    expect((await get(broker)).status).toBe(200);
    expect(tokenRequests(provider)).toHaveLength(1);
    expect((await memory.load()).tokens.refreshToken).toBe("refresh-2-canary");
  });

  test("is used by one of two brokers at a time when the store locks", async () => {
    await using provider = await startProvider(createRotatingServer().handle);
    let line: Promise<unknown> = Promise.resolve();
    const store: TokenStore = {
      ...createMemoryTokenStore({ refreshToken: "refresh-1-canary" }),
      exclusively(work) {
        const mine = line.then(work);
        line = mine.catch(() => undefined);
        return mine;
      },
    };
    await using first = open(provider, { tokens: store });
    await using second = open(provider, { tokens: store });
    await Promise.all([get(first), get(second), get(first), get(second)]);
    expect(tokenRequests(provider)).toHaveLength(1);
  });

  test("still arrives and is saved when every request that waits for it is cancelled", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const rotating = createRotatingServer();
    await using provider = await startProvider(async (request, response, count) => {
      asked.resolve();
      await answer.promise;
      await rotating.handle(request, response, count);
    });
    const store = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    const broker = open(provider, { tokens: store });
    const controller = new AbortController();
    const work = failing(get(broker, controller.signal));
    await asked.promise;
    controller.abort();
    expect((await work).code).toBe("CANCELLED");
    const closing = broker.close();
    answer.resolve();
    await closing;
    expect((await store.load()).tokens.refreshToken).toBe("refresh-2-canary");
    await provider.idle();
  });
});

describe("a token endpoint that fails", () => {
  const tokenAnswers =
    (handle: Handler): Handler =>
    (request, response, count) =>
      isTokenRequest(request) ? handle(request, response, count) : answerJson(response, 200, {});

  test("for good is asked once, however many requests come", async () => {
    const rotating = createRotatingServer();
    rotating.revoke();
    await using provider = await startProvider(rotating.handle);
    await using broker = open(provider);
    const errors = await Promise.all(Array.from({ length: 20 }, () => failing(get(broker))));
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["REAUTHORIZATION_NEEDED"]));
    expect((await failing(get(broker))).code).toBe("REAUTHORIZATION_NEEDED");
    expect(tokenRequests(provider)).toHaveLength(1);
  });

  test("for good is asked again once someone has authorised anew", async () => {
    await using provider = await startProvider(
      tokenAnswers((request, response) => {
        const isNew = request.body.includes("refresh-new");
        answerJson(
          response,
          isNew ? 200 : 400,
          isNew ? { access_token: "access-canary" } : { error: "invalid_grant" },
        );
      }),
    );
    const store = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    await using broker = open(provider, { tokens: store });
    expect((await failing(get(broker))).code).toBe("REAUTHORIZATION_NEEDED");
    const { version } = await store.load();
    await store.save(version, { refreshToken: "refresh-new-canary" });
    expect((await get(broker)).status).toBe(200);
  });

  test("for good is not asked by the next run either, because the refusal is saved", async () => {
    const rotating = createRotatingServer();
    rotating.revoke();
    await using provider = await startProvider(rotating.handle);
    const store = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    for (let run = 0; run < 3; run++) {
      await using broker = open(provider, { tokens: store });
      expect((await failing(get(broker))).code).toBe("REAUTHORIZATION_NEEDED");
    }
    expect(tokenRequests(provider)).toHaveLength(1);
    expect((await store.load()).tokens).toEqual({
      refreshToken: "refresh-1-canary",
      refusedAtMs: startMs,
    });
  });

  test("for good for one of two runs that share a store has not ended the other's new token", async () => {
    await using provider = await startProvider(createRotatingServer().handle);
    const store = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    await using first = open(provider, { tokens: store });
    await using second = open(provider, { tokens: store });
    await Promise.all([get(first), get(second), get(second), get(first)]);
    expect(tokenRequests(provider)).toHaveLength(1);
  });

  test("with 5xx, 429 or a reset is asked again with the same token", async () => {
    await using provider = await startProvider(
      tokenAnswers((_request, response, count) => {
        if (count === 1) response.writeHead(503).end();
        else if (count === 2) response.destroy();
        else answerJson(response, 200, { access_token: "access-canary" });
      }),
    );
    await using broker = open(provider);
    expect((await get(broker)).status).toBe(200);
    expect(
      tokenRequests(provider).map(({ body }) => new URLSearchParams(body).get("refresh_token")),
    ).toEqual(Array(3).fill("refresh-1-canary"));
  });

  test("because there were too many is asked again after a wait", async () => {
    let count = 0;
    await using provider = await startProvider(
      tokenAnswers((_request, response) => {
        if (++count === 1) answerJson(response, 400, { error: "Access Denied", status: "failure" });
        else answerJson(response, 200, { access_token: "access-canary" });
      }),
    );
    await using broker = open(provider);
    expect((await get(broker)).status).toBe(200);
    expect(tokenRequests(provider)).toHaveLength(2);
  });

  test("with 5xx for ever is asked three times a request, and the token is kept", async () => {
    await using provider = await startProvider(
      tokenAnswers((_request, response) => void response.writeHead(500).end("boom")),
    );
    const store = createMemoryTokenStore({ refreshToken: "refresh-1-canary" });
    await using broker = open(provider, { tokens: store });
    expect((await failing(get(broker))).code).toBe("PROVIDER_UNAVAILABLE");
    expect(tokenRequests(provider)).toHaveLength(3);
    expect(await store.load()).toEqual({
      version: 1,
      tokens: { refreshToken: "refresh-1-canary" },
    });
  });

  test.each([
    ["200 with an error", 200, { error: "invalid_grant" }, "REAUTHORIZATION_NEEDED"],
    [
      "200 with another word for it",
      200,
      { ok: false, error: "bad_refresh_token" },
      "REAUTHORIZATION_NEEDED",
    ],
    ["200 with a code that is spent", 200, { error: "invalid_code" }, "REAUTHORIZATION_NEEDED"],
    [
      "200 with a wrong client secret",
      200,
      { error: "invalid_client_secret" },
      "CREDENTIALS_REJECTED",
    ],
    ["an unknown client", 401, { error: "invalid_client" }, "CREDENTIALS_REJECTED"],
    ["401 without a word", 401, {}, "CREDENTIALS_REJECTED"],
    ["a wrong scope", 400, { error: "invalid_scope" }, "REQUEST_REJECTED"],
    ["no token", 200, {}, "RESPONSE_INVALID"],
    ["a list", 200, [], "RESPONSE_INVALID"],
    ["a web page", 200, "<html>refresh-1-canary</html>", "RESPONSE_INVALID"],
    ["a token with a line break", 200, { access_token: "access\r\nx-evil: 1" }, "RESPONSE_INVALID"],
    ["a token that is no text", 200, { access_token: 7 }, "RESPONSE_INVALID"],
    ["a long token", 200, { access_token: "aB3-".repeat(4_097) }, "RESPONSE_INVALID"],
    [
      "a long refresh token",
      200,
      { access_token: "access-canary", refresh_token: "aB3-".repeat(4_097) },
      "RESPONSE_INVALID",
    ],
    ["a redirect", 302, { error: "invalid_grant" }, "REDIRECT_REFUSED"],
    ["a huge answer", 200, { access_token: "a".repeat(300_000) }, "RESPONSE_TOO_LARGE"],
  ] as const)("by %s is a clean error", async (_name, status, body, code) => {
    await using provider = await startProvider(
      tokenAnswers((_request, response) => {
        if (typeof body === "string")
          response.writeHead(status, { "content-type": "text/html" }).end(body);
        else
          answerJson(response, status, body, {
            location: "https://evil.example.com/",
            "www-authenticate": "Bearer realm=x",
          });
      }),
    );
    await using broker = open(provider);
    const error = await failing(get(broker));
    expect(error.code).toBe(code);
    expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toContain(
      "canary",
    );
    expect(tokenRequests(provider)).toHaveLength(1);
  });
});
