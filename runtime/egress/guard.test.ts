import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net";
import { Agent, request } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createRandom } from "../../fixtures/random.ts";
import {
  createCertificateAuthority,
  type IssuedCertificate,
} from "../../simulators/certificates.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { NetworkSeams } from "../contract/network.ts";
import { checkBaseUrl } from "./base-url.ts";
import {
  createGuardedConnect,
  dialGuarded,
  type GuardedConnectOptions,
  resolveGuarded,
} from "./guard.ts";

const name = "mailer.example.com";
const publicAddress = "93.184.215.14";
type Settings = GuardedConnectOptions["settings"];
const closed: Settings = { allowNetworks: [] };
const loopback: Settings = { allowNetworks: ["127.0.0.0/8", "::1/128"] };
const never = new AbortController().signal;
const authority = await createCertificateAuthority();
const certificate = await authority.issue([name]);

/** Answers of a name server, one set a look-up; the last one stays. */
type Script = readonly (readonly string[] | Error)[];

/** Seams that count: names get their answers from the script, connections go to a loopback port. */
function createSeams(script: Script, port: number | ((address: string) => number) = 1) {
  const lookups: string[] = [];
  const dials: string[] = [];
  const seams: NetworkSeams = {
    ca: authority.caPem,
    async resolve(host) {
      const answer = script[Math.min(lookups.push(host), script.length) - 1] ?? [];
      if (answer instanceof Error) throw answer;
      return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
    dial({ address }) {
      dials.push(address);
      return connect({ host: "127.0.0.1", port: typeof port === "number" ? port : port(address) });
    },
  };
  return { seams, lookups, dials };
}

async function listening<S extends Server>(server: S) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** An HTTPS server that answers with the names that it was asked under. */
async function startHttps(issued: IssuedCertificate = certificate) {
  const seen: { sni: unknown; host: string | undefined; alpn: unknown }[] = [];
  const server = createHttpsServer(issued, (incoming, response) => {
    const socket = incoming.socket as unknown as { servername?: unknown; alpnProtocol?: unknown };
    seen.push({ sni: socket.servername, host: incoming.headers.host, alpn: socket.alpnProtocol });
    response.end("answer");
  });
  return { ...(await listening(server)), seen };
}

/**
 * Sends one request on a new connection. Resolves with the status or the error's code and details.
 */
async function send(url: string, options: GuardedConnectOptions) {
  const agent = new Agent({ connect: createGuardedConnect(options) });
  try {
    const { statusCode, body } = await request(url, { dispatcher: agent, headersTimeout: 5_000 });
    await body.dump();
    return { status: statusCode };
  } catch (error) {
    return outcome(error);
  } finally {
    await agent.destroy();
  }
}

function outcome(error: unknown) {
  if (!(error instanceof ConnectorError)) throw error;
  return { code: error.code, ...error.details };
}

const failing = async (work: Promise<unknown>) => {
  try {
    await work;
  } catch (error) {
    return outcome(error);
  }
  return expect.fail("it succeeded");
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("an HTTPS request through the guard", () => {
  test("reaches an allowed name, with the name kept in SNI and Host, and speaks HTTP/1.1", async () => {
    await using server = await startHttps();
    const { seams, lookups, dials } = createSeams([[publicAddress]], server.port);
    expect(await send(`https://${name}/api/x`, { settings: closed, seams })).toEqual({
      status: 200,
    });
    expect(server.seen).toEqual([{ sni: name, host: name, alpn: "http/1.1" }]);
    expect([lookups, dials]).toEqual([[name], [publicAddress]]);
  });

  test.each([
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0177.0.0.1",
    "2130706433",
    "0x7f000001",
    "017700000001",
    "0",
    "10.0.0.1",
    "169.254.169.254",
    "8.8.8.8",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2001:4860:4860::8888]",
    "127。0。0。1",
  ])("to the literal %s is refused without a look-up or a connection", async (host) => {
    const { seams, lookups, dials } = createSeams([[publicAddress]]);
    expect(await send(`https://${host}/api`, { settings: loopback, seams })).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "literal",
    });
    expect([...lookups, ...dials]).toEqual([]);
  });

  test("to a name that turns to loopback between two connections is refused the second time", async () => {
    await using server = await startHttps();
    const { seams, dials } = createSeams([[publicAddress], ["127.0.0.1"]], server.port);
    expect(await send(`https://${name}/`, { settings: closed, seams })).toEqual({ status: 200 });
    expect(await send(`https://${name}/`, { settings: closed, seams })).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "loopback",
    });
    expect(server.seen).toHaveLength(1);
    expect(dials).toEqual([publicAddress]);
  });

  test("connects to the address that was classified: one look-up for each connection", async () => {
    await using server = await startHttps();
    const { seams, lookups, dials } = createSeams([[publicAddress], ["127.0.0.1"]], server.port);
    await send(`https://${name}/`, { settings: closed, seams });
    expect(lookups).toHaveLength(1);
    expect(dials).toEqual([publicAddress]);
  });

  test.each([
    [[publicAddress, "127.0.0.1"], "loopback"],
    [["127.0.0.1", publicAddress], "loopback"],
    [["2606:4700:4700::1111", "::1"], "loopback"],
    [[publicAddress, "::ffff:93.184.215.14"], "ipv4-mapped"],
    [[publicAddress, "169.254.169.254"], "metadata"],
    [["fd00:ec2::254"], "metadata"],
    [[publicAddress, "10.0.0.1", "8.8.8.8"], "private"],
    [[publicAddress, "not-an-address"], "invalid"],
  ])("to a name with the addresses %j is refused as a whole", async (addresses, addressClass) => {
    const { seams, dials } = createSeams([addresses]);
    expect(await send(`https://${name}/`, { settings: closed, seams })).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass,
    });
    expect(dials).toEqual([]);
  });

  test("without seams connects to loopback only when the operator opened it", async () => {
    await using server = await startHttps();
    const { resolve } = createSeams([["127.0.0.1"]]).seams;
    const seams = { resolve, ca: authority.caPem } as NetworkSeams;
    const url = `https://${name}:${server.port}/`;
    expect(await send(url, { settings: closed, seams, allowedPort: server.port })).toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    expect(server.seen).toEqual([]);
    expect(await send(url, { settings: loopback, seams, allowedPort: server.port })).toEqual({
      status: 200,
    });
  });

  test("ignores proxy variables", async () => {
    await using server = await startHttps();
    for (const variable of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HTTP_PROXY"])
      vi.stubEnv(variable, "http://127.0.0.1:9");
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    const { seams } = createSeams([[publicAddress]], server.port);
    expect(await send(`https://${name}/`, { settings: closed, seams })).toEqual({ status: 200 });
  });
});

describe("a request that the runtime must never make is refused without a look-up", () => {
  const base = { hostname: name, protocol: "https:", port: "" };
  test.each([
    ["another protocol", { ...base, protocol: "http:" }],
    ["another port", { ...base, port: "8443" }],
    ["port 0", { ...base, port: "0" }],
    ["another server name", { ...base, servername: "other.example.com" }],
    ["a socket path", { ...base, socketPath: "/run/docker.sock" }],
    ["a socket of somebody else", { ...base, httpSocket: new Socket() }],
  ])("%s", async (_, options) => {
    const { seams, lookups, dials } = createSeams([[publicAddress]]);
    const error = await new Promise((resolve) => {
      createGuardedConnect({ settings: closed, seams })(options, (...[failure]) =>
        resolve(failure),
      );
    });
    expect(outcome(error)).toEqual({ code: "INTERNAL" });
    expect([...lookups, ...dials]).toEqual([]);
  });
});

test("no refused base URL of the corpus causes a look-up, a connection or a request", async () => {
  const corpusUrl = new URL("../../fixtures/base-url-cases.jsonl", import.meta.url);
  const rows: { url: string; expect: string }[] = readFileSync(corpusUrl, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { seams, lookups, dials } = createSeams([[publicAddress]]);
  const rejected = rows.filter((row) => row.expect === "reject");
  for (const { url } of rejected) {
    const sent = async () => {
      const rule = {
        approvedHosts: [name, "*.tenants.mailer.example.net"],
        pathEnd: "/api",
        field: "base_url",
      };
      return outcome(await send(checkBaseUrl(url, rule), { settings: closed, seams }));
    };
    expect(await failing(sent())).toMatchObject({ code: "BASE_URL_REFUSED" });
  }
  expect(rejected.length).toBeGreaterThan(200);
  expect([...lookups, ...dials]).toEqual([]);
});

describe("the certificate", () => {
  const sendTo = async (
    issued: IssuedCertificate,
    seamsOf: (seams: NetworkSeams) => NetworkSeams = (seams) => seams,
  ) => {
    await using server = await startHttps(issued);
    const { seams } = createSeams([[publicAddress]], server.port);
    const result = await send(`https://${name}/`, { settings: closed, seams: seamsOf(seams) });
    return { ...result, hits: server.seen.length };
  };

  test("of another host is refused", async () => {
    const issued = await authority.issue(["other.example.com", publicAddress]);
    expect(await sendTo(issued)).toEqual({
      code: "TLS_FAILED",
      reason: "certificate for another host",
      hits: 0,
    });
  });

  test("that has expired is refused", async () => {
    const issued = await authority.issue([name], { notAfter: new Date(Date.now() - 60_000) });
    expect(await sendTo(issued)).toEqual({
      code: "TLS_FAILED",
      reason: "certificate expired",
      hits: 0,
    });
  });

  test("of an unknown authority is refused", async () => {
    const issued = await (await createCertificateAuthority()).issue([name]);
    expect(await sendTo(issued)).toEqual({
      code: "TLS_FAILED",
      reason: "certificate untrusted",
      hits: 0,
    });
  });

  test("of our own test authority is refused unless the seam names it", async () => {
    const result = await sendTo(certificate, ({ ca: _, ...seams }) => seams);
    expect(result).toEqual({ code: "TLS_FAILED", reason: "certificate untrusted", hits: 0 });
  });

  test("is verified whatever NODE_TLS_REJECT_UNAUTHORIZED says", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const issued = await authority.issue(["other.example.com"]);
    expect(await sendTo(issued)).toMatchObject({ code: "TLS_FAILED", hits: 0 });
  });
});

describe("a connection that fails", () => {
  const sendTo = (port: number, options: Partial<GuardedConnectOptions> = {}) =>
    send(`https://${name}/`, {
      settings: closed,
      seams: createSeams([[publicAddress]], port).seams,
      ...options,
    });

  test("because nobody listens is CONNECTION_FAILED: refused", async () => {
    const server = await startHttps();
    await server[Symbol.asyncDispose]();
    expect(await sendTo(server.port)).toEqual({ code: "CONNECTION_FAILED", reason: "refused" });
  });

  test("because the server hangs up in the handshake is CONNECTION_FAILED: reset", async () => {
    await using server = await listening(
      createServer((socket) => socket.once("data", () => socket.destroy())),
    );
    expect(await sendTo(server.port)).toEqual({ code: "CONNECTION_FAILED", reason: "reset" });
  });

  test("because the server speaks no TLS is TLS_FAILED: handshake failed", async () => {
    await using server = await listening(
      createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    expect(await sendTo(server.port)).toEqual({ code: "TLS_FAILED", reason: "handshake failed" });
  });

  test("because the server never answers the handshake is PROVIDER_TIMEOUT, and the socket is closed", async () => {
    const ended = Promise.withResolvers<void>();
    await using server = await listening(
      createServer((socket) => socket.resume().once("close", () => ended.resolve())),
    );
    expect(await sendTo(server.port, { connectTimeoutMs: 100 })).toEqual({
      code: "PROVIDER_TIMEOUT",
      phase: "connect",
    });
    await ended.promise;
  });

  test("because the name server never answers is PROVIDER_TIMEOUT", async () => {
    const seams: NetworkSeams = { resolve: () => new Promise(() => {}) };
    expect(
      await send(`https://${name}/`, { settings: closed, seams, connectTimeoutMs: 50 }),
    ).toEqual({
      code: "PROVIDER_TIMEOUT",
      phase: "connect",
    });
  });
});

describe("resolving", () => {
  const resolve = (
    host: string,
    script: Script,
    rule: "any" | "names-only" = "any",
    settings = closed,
  ) => resolveGuarded(host, { settings, seams: createSeams(script).seams, rule }, never);

  test("gives every address, in the resolver's order", async () => {
    expect(await resolve(name, [["2606:4700:4700::1111", publicAddress]])).toEqual([
      { address: "2606:4700:4700::1111", family: 6 },
      { address: publicAddress, family: 4 },
    ]);
  });

  test("takes public literals and refuses others where literals are allowed", async () => {
    expect(await resolve("8.8.8.8", [])).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(await resolve("[2606:4700:4700::1111]", [])).toEqual([
      { address: "2606:4700:4700::1111", family: 6 },
    ]);
    expect(await failing(resolve("10.0.0.1", []))).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "private",
    });
    expect(await resolve("10.0.0.1", [], "any", { allowNetworks: ["10.0.0.0/8"] })).toHaveLength(1);
    expect(await failing(resolve("8.8.8.8", [], "names-only"))).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "literal",
    });
  });

  test.each([
    "2130706433",
    "0x7f.1",
    "127.1",
    "0x7f000001",
    "db.example.0x1",
    "127.0.0.1.",
    "1.2.3.4.5",
  ])("refuses %s, which a system's resolver may read as an address", async (host) => {
    expect(await failing(resolve(host, [[publicAddress]]))).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "literal",
    });
  });

  test.each([
    "",
    " ",
    "a b",
    "a/b",
    "/var/run/postgresql",
    "a..b",
    ".a",
    "a\0b",
    "user@host",
    "münchen.de",
    "a:1",
    `${"a".repeat(64)}.de`,
  ])("does not look up %j", async (host) => {
    const { seams, lookups } = createSeams([[publicAddress]]);
    expect(await failing(resolveGuarded(host, { settings: closed, seams }, never))).toEqual({
      code: "HOST_UNKNOWN",
    });
    expect(lookups).toEqual([]);
  });

  test("tells a name that does not exist from a name server that does not answer", async () => {
    const dnsError = (code: string) =>
      Object.assign(new Error(`getaddrinfo ${code} secret-host`), { code });
    expect(await failing(resolve(name, [dnsError("ENOTFOUND")]))).toEqual({ code: "HOST_UNKNOWN" });
    expect(await failing(resolve(name, [new Error("anything")]))).toEqual({ code: "HOST_UNKNOWN" });
    expect(await failing(resolve(name, [[]]))).toEqual({ code: "HOST_UNKNOWN" });
    expect(await failing(resolve(name, [dnsError("EAI_AGAIN")]))).toEqual({
      code: "CONNECTION_FAILED",
      reason: "name lookup failed",
    });
  });

  test("without a seam asks the system, and refuses localhost", async () => {
    const host = "localhost";
    expect(await failing(resolveGuarded(host, { settings: closed }, never))).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "loopback",
    });
    expect((await resolveGuarded(host, { settings: loopback }, never)).length).toBeGreaterThan(0);
  });

  test("stops when it is cancelled, before and during the look-up", async () => {
    const { seams, lookups } = createSeams([[publicAddress]]);
    expect(
      await failing(resolveGuarded(name, { settings: closed, seams }, AbortSignal.abort())),
    ).toEqual({
      code: "CANCELLED",
    });
    expect(lookups).toEqual([]);
    const controller = new AbortController();
    const hanging = { resolve: () => new Promise<never>(() => {}) };
    const resolving = failing(
      resolveGuarded(name, { settings: closed, seams: hanging }, controller.signal),
    );
    controller.abort(new Error("secret reason"));
    expect(await resolving).toEqual({ code: "CANCELLED" });
  });
});

describe("dialling", () => {
  const startEcho = () => listening(createServer((socket) => socket.pipe(socket)));

  test("gives an open socket to the address", async () => {
    await using server = await startEcho();
    using socket = asDisposable(
      await dialGuarded({ host: "127.0.0.1", port: server.port }, { settings: loopback }, never),
    );
    socket.write("hello");
    expect(String((await once(socket, "data"))[0])).toBe("hello");
  });

  test("goes on to the next address when one refuses", async () => {
    await using server = await startEcho();
    const gone = await startEcho();
    await gone[Symbol.asyncDispose]();
    const { seams, dials } = createSeams([["8.8.8.8", "1.1.1.1"]], (address) =>
      address === "8.8.8.8" ? gone.port : server.port,
    );
    using socket = asDisposable(
      await dialGuarded({ host: name, port: 5432 }, { settings: closed, seams }, never),
    );
    expect(socket.remotePort).toBe(server.port);
    expect(dials).toEqual(["8.8.8.8", "1.1.1.1"]);
  });

  test("tries the next address beside one that does not answer, of the other family first, and drops the loser", async () => {
    await using server = await startEcho();
    const silent = new Socket();
    const { seams, dials } = createSeams(
      [["2606:4700:4700::1111", "2606:4700:4700::1001", "1.1.1.1"]],
      server.port,
    );
    const dial: NetworkSeams["dial"] = (target) => {
      const socket = seams.dial?.(target);
      if (target.address !== "2606:4700:4700::1111" && socket) return socket;
      socket?.destroy();
      return silent;
    };
    using socket = asDisposable(
      await dialGuarded(
        { host: name, port: 5432 },
        { settings: closed, seams: { ...seams, dial } },
        never,
      ),
    );
    expect(socket.remotePort).toBe(server.port);
    expect(dials).toEqual(["2606:4700:4700::1111", "1.1.1.1"]);
    expect(silent.destroyed).toBe(true);
  });

  test("fails with the first failure when no address answers", async () => {
    const gone = await startEcho();
    await gone[Symbol.asyncDispose]();
    const { seams, dials } = createSeams([["8.8.8.8", "1.1.1.1"]], gone.port);
    const dial: NetworkSeams["dial"] = (target) => {
      const socket = seams.dial?.(target);
      if (target.address === "8.8.8.8" && socket) return socket;
      socket?.destroy();
      throw new Error("secret failure");
    };
    const dialling = dialGuarded(
      { host: name, port: 5432 },
      { settings: closed, seams: { ...seams, dial } },
      never,
    );
    expect(await failing(dialling)).toEqual({ code: "CONNECTION_FAILED", reason: "refused" });
    expect(dials).toHaveLength(2);
  });

  test("still waits for a slow address when the last one has refused", async () => {
    await using server = await startEcho();
    const slow = new Socket();
    const { seams } = createSeams([["8.8.8.8", "1.1.1.1"]]);
    const dial: NetworkSeams["dial"] = ({ address }) => {
      if (address === "8.8.8.8") return slow;
      const refusing = new Socket();
      refusing.once("close", () => setImmediate(() => slow.connect(server.port, "127.0.0.1")));
      return refusing.destroy();
    };
    const dialling = dialGuarded(
      { host: name, port: 5432 },
      { settings: closed, seams: { ...seams, dial } },
      never,
    );
    using socket = asDisposable(await dialling);
    expect(socket).toBe(slow);
  });

  test("is cancelled in the middle of a connect, and the socket is dropped", async () => {
    const silent = new Socket();
    const controller = new AbortController();
    const seams: NetworkSeams = {
      ...createSeams([[publicAddress]]).seams,
      dial() {
        setImmediate(() => controller.abort());
        return silent;
      },
    };
    expect(
      await failing(
        dialGuarded({ host: name, port: 5432 }, { settings: closed, seams }, controller.signal),
      ),
    ).toEqual({ code: "CANCELLED" });
    expect(silent.destroyed).toBe(true);
  });

  test("gives up after the connect timeout", async () => {
    const seams: NetworkSeams = {
      ...createSeams([[publicAddress]]).seams,
      dial: () => new Socket(),
    };
    const dialling = dialGuarded(
      { host: name, port: 5432 },
      { settings: closed, seams, connectTimeoutMs: 20 },
      never,
    );
    expect(await failing(dialling)).toEqual({ code: "PROVIDER_TIMEOUT", phase: "connect" });
  });

  test.each([0, -1, 65_536, 1.5, Number.NaN])("refuses the port %d", async (port) => {
    expect(
      await failing(dialGuarded({ host: name, port }, { settings: closed }, never)),
    ).toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

test("1,000 random scripts of name servers lead to no connection to an address that is not public", async () => {
  await using server = await listening(createServer((socket) => socket.end()));
  const goods = [
    "93.184.215.14",
    "8.8.8.8",
    "1.1.1.1",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:82b::200e",
  ];
  const bads = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "fe80::1",
    "fd00:ec2::254",
    "fc00::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001::1",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "192.0.2.1",
    "3fff::1",
    "ff02::1",
    "fe80::1%eth0",
    "garbage",
    "",
  ];
  const seed = Number(process.env.SVC_TEST_SEED ?? Date.now() % 2 ** 31);
  console.info(`DNS script seed ${seed}`);
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const answer = () => {
    const kind = random();
    if (kind < 0.1)
      return Object.assign(new Error("name server"), {
        code: pick(["ENOTFOUND", "EAI_AGAIN", "ETIMEOUT"]),
      });
    if (kind < 0.15) return [];
    const badShare = pick([0, 0, 0.2, 1]);
    return Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      pick(random() < badShare ? bads : goods),
    );
  };

  let connectedCount = 0;
  let refusedCount = 0;
  for (let round = 0; round < 1_000; round++) {
    const script: Script = Array.from({ length: 3 }, answer);
    const { seams, dials } = createSeams(script, server.port);
    for (const expected of script) {
      const before = dials.length;
      const rule = pick(["any", "names-only"] as const);
      const result = await dialGuarded(
        { host: name, port: 443 },
        { settings: closed, seams, rule },
        never,
      ).then(
        (socket) => socket.destroy() && "connected",
        (error: unknown) => outcome(error).code,
      );
      if (expected instanceof Error || expected.length === 0)
        expect(result).toMatch(/^(HOST_UNKNOWN|CONNECTION_FAILED)$/);
      else
        expect(result).toBe(
          expected.some((address) => bads.includes(address)) ? "ADDRESS_REFUSED" : "connected",
        );
      if (result === "connected") connectedCount += 1;
      else expect(dials.length).toBe(before);
      if (result === "ADDRESS_REFUSED") refusedCount += 1;
    }
    expect(dials.filter((address) => !goods.includes(address))).toEqual([]);
  }
  expect(connectedCount).toBeGreaterThan(500);
  expect(refusedCount).toBeGreaterThan(500);
});

function asDisposable(socket: Socket): Socket & Disposable {
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}
