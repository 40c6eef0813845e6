/** A tunnel through SSH servers that do as they like. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import ssh from "ssh2";
import { describe, expect, test } from "vitest";
import { postgresServer } from "../contract/postgres-settings.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createPostgresBroker } from "./postgres-broker.ts";
import { openTunnel, parseHostKey, type TunnelSettings } from "./ssh-tunnel.ts";

const password = "pa55-word-of-a-tunnel-0123";
/** One of some 400 keys that the library makes it cannot read itself. */
function makeKeys(): ReturnType<typeof ssh.utils.generateKeyPairSync> {
  const made = ssh.utils.generateKeyPairSync("ed25519");
  return ssh.utils.parseKey(made.private) instanceof Error ? makeKeys() : made;
}
const keys = { host: makeKeys(), user: makeKeys() };
const fields = { privateKey: "tunnel_private_key", hostKey: "tunnel_host_key" };

/** The conduct of a server once somebody has logged in. */
type Manner = (client: ssh.Connection) => void;

const echo: Manner = (client) =>
  void client.on("tcpip", (accept) => {
    const channel = accept();
    channel.pipe(channel);
  });

async function startServer(manner: Manner, onLogin?: (context: ssh.AuthContext) => void) {
  const sockets = new Set<Socket>();
  const attempts: string[] = [];
  const server = new ssh.Server({ hostKeys: [keys.host.private] }, (client) => {
    client.on("error", () => {});
    client.on("authentication", (context) => {
      attempts.push(context.method);
      if (onLogin) return onLogin(context);
      if (context.method === "password" && context.password === password) context.accept();
      else context.reject(["password"]);
    });
    client.on("ready", () => manner(client));
  });
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    server.injectSocket(socket);
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    attempts,
    sockets,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

const settings = (changes: Partial<TunnelSettings> = {}): TunnelSettings => ({
  host: "127.0.0.1",
  port: 22,
  user: "svc",
  privateKey: undefined,
  password,
  hostKey: parseHostKey(keys.host.public, "tunnel_host_key"),
  fields,
  ...changes,
});

async function open(
  { port }: { readonly port: number },
  changes: Partial<TunnelSettings> = {},
  target = { host: "db.internal", port: 5432 },
) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  const stream = await openTunnel(socket, settings(changes), target).catch((error: unknown) => {
    expect(JSON.stringify(error)).not.toContain(password);
    throw error;
  });
  return { socket, stream };
}

test("a stream goes both ways, by password; closing it closes the connection", async () => {
  const asked: object[] = [];
  using server = await startServer(
    (client) =>
      void client.on("tcpip", (accept, _reject, info) => {
        asked.push({ host: info.destIP, port: info.destPort });
        const channel = accept();
        channel.pipe(channel);
      }),
  );
  const { stream, socket } = await open(server);
  const data = Buffer.alloc(3_000_000, "abc");
  const received: Buffer[] = [];
  stream.end(data);
  for await (const chunk of stream) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(data)).toBe(true);
  expect(asked).toEqual([{ host: "db.internal", port: 5432 }]);
  expect(server.attempts).toEqual(["password"]);
  if (!socket.closed) await once(socket, "close");
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a server with another key never sees a password or a user", async () => {
  using server = await startServer(echo);
  const other = parseHostKey(makeKeys().public, "tunnel_host_key");
  await expect(open(server, { hostKey: other })).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
    details: { reason: expect.stringContaining(`tunnel_host_key has ${other.fingerprint}`) },
  });
  await expect(open(server, { hostKey: undefined })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    details: {
      path: "tunnel_host_key",
      problem: expect.stringMatching(/^is missing: the SSH server shows SHA256:[\w+/]{43};/),
    },
  });
  expect(server.attempts).toEqual([]);
});

test.each<[string, Manner, object]>([
  [
    "that forbids it",
    (client) => void client.on("tcpip", (_accept, reject) => reject()),
    { code: "CONNECTION_FAILED" },
  ],
  ["that says nothing of it", () => {}, { code: "TUNNEL_FAILED" }],
  [
    "that hangs up",
    (client) => void client.on("tcpip", () => client.end()),
    { code: "CONNECTION_FAILED" },
  ],
])("a server %s opens no way", async (_, manner, expected) => {
  using server = await startServer(manner);
  await expect(open(server)).rejects.toMatchObject(expected);
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a server that keeps asking is answered once for each thing that the settings have", async () => {
  using server = await startServer(echo, (context) =>
    context.reject(["keyboard-interactive", "hostbased", "publickey", "password"], true),
  );
  const privateKey = keys.user.private;
  await expect(open(server, { privateKey })).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
    details: { reason: "the SSH server does not accept the user with this key or password" },
  });
  expect(server.attempts.every((method) => ["publickey", "password"].includes(method))).toBe(true);
  expect(server.attempts.length).toBeLessThanOrEqual(3);
});

test("what speaks something else, or stops in the middle, is an error and never a crash", async () => {
  for (const answer of [
    "HTTP/1.1 400 Bad Request\r\n\r\n",
    "SSH-2.0-x\r\nnonsense\0\0\0\0",
    "",
    "SSH-1.5-old\r\n",
  ]) {
    const listener = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(answer);
    }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const error = await open({ port: (listener.address() as AddressInfo).port }).catch(
      (thrown) => thrown,
    );
    expect(["TUNNEL_FAILED", "CONNECTION_FAILED"]).toContain(error.code);
    listener.close();
  }
});

test("the last words of a server are heard before the end", async () => {
  using server = await startServer(
    (client) =>
      void client.on("tcpip", (accept) => {
        const channel = accept();
        channel.once("data", () => {
          channel.write("no such user");
          channel.end();
          channel.close();
        });
      }),
  );
  const { stream } = await open(server);
  const heard: string[] = [];
  stream.on("data", (chunk) => {
    // Its consequences take their turns, as those of a rejected promise do.
    Promise.resolve().then(() => process.nextTick(() => heard.push(String(chunk))));
    stream.write("X");
  });
  stream.once("close", () => heard.push("close"));
  stream.write("hello");
  await once(stream, "close");
  expect(heard).toEqual(["no such user", "close"]);
});

test("a connection that is cut ends the stream", async () => {
  using server = await startServer(echo);
  const reading = await open(server);
  reading.socket.destroy();
  for await (const _ of reading.stream) expect.unreachable();
  expect(reading.stream.destroyed).toBe(true);
  const writing = await open(server);
  writing.socket.destroy();
  const failed = new Promise((resolve) => writing.stream.once("error", resolve));
  const write = (): boolean => writing.stream.write(Buffer.alloc(1_000_000)) && write();
  write();
  expect(await failed).toMatchObject({ code: "CONNECTION_FAILED" });
});

test.each([
  [
    "encrypted",
    ssh.utils.generateKeyPairSync("ed25519", { cipher: "aes256-ctr", passphrase: "x", rounds: 4 })
      .private,
    /without its passphrase/,
  ],
  ["no key", "not a key", /is no private key/],
  ["a public key", keys.user.public, /is a public key/],
])("a private key that is of no use is named before anything is sent: %s", async (_, privateKey, problem) => {
  using server = await startServer(echo);
  await expect(open(server, { privateKey })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    details: { path: "tunnel_private_key", problem: expect.stringMatching(problem) },
  });
  expect(server.attempts).toEqual([]);
});

test.each([
  "../x",
  "a b",
  "a\nb",
  "",
  "x".repeat(300),
])("the SSH server gets names only: %j", async (host) => {
  using server = await startServer(echo);
  await expect(open(server, {}, { host, port: 5432 })).rejects.toMatchObject({
    code: "HOST_UNKNOWN",
  });
});

test.each([
  "169.254.169.254",
  "fd00:ec2::254",
  "0.0.0.0",
  "224.0.0.1",
])("what no setting opens is not asked for behind the SSH server either: %s", async (host) => {
  using server = await startServer(echo);
  await expect(open(server, {}, { host, port: 80 })).rejects.toMatchObject({
    code: "ADDRESS_REFUSED",
  });
  expect(server.attempts).toEqual([]);
});

test.each([
  "10.0.0.5",
  "127.0.0.1",
  "fd12::5",
])("private addresses are those of the SSH server's network: %s", async (host) => {
  using server = await startServer(echo);
  const { stream } = await open(server, {}, { host, port: 5432 });
  stream.destroy();
});

test.each([
  "channelData",
  "channelExtData",
] as const)("a server that sends without being asked to does not fill the memory: %s", async (kind) => {
  let sent = 0;
  using server = await startServer(
    (client) =>
      void client.on("tcpip", (accept) => {
        // Past the window that the library keeps for itself.
        const { outgoing } = accept() as unknown as { outgoing: { id: number } };
        const chunk = Buffer.alloc(32_000);
        const { _protocol: protocol, _sock: socket } = client as unknown as {
          _protocol: Record<string, (id: number, data: Buffer, type?: number) => void>;
          _sock: Socket;
        };
        const flood = () => {
          for (let count = 0; count < 32 && !socket.destroyed; count += 1) {
            protocol[kind]?.(outgoing.id, chunk, 1);
            sent += chunk.length;
          }
          if (sent < 64 * 1024 ** 2 && !socket.destroyed) setImmediate(flood);
        };
        flood();
      }),
  );
  const { stream, socket } = await open(server);
  // Nobody reads.
  if (kind === "channelData") await once(socket, "close");
  else await expect.poll(() => sent).toBeGreaterThanOrEqual(64 * 1024 ** 2);
  expect(stream.readableLength).toBeLessThan(1024 ** 2);
  stream.destroy();
});

describe("a host key", () => {
  const [type = "", key = ""] = keys.host.public.split(" ");
  test.each([
    keys.host.public,
    `${type} ${key} root@bastion`,
    `bastion.example.com,10.0.0.1 ${type} ${key}`,
    `  ${parseHostKey(keys.host.public, "f").fingerprint}\n`,
  ])("is taken as it is found: %s", (text) => {
    expect(parseHostKey(text, "f").fingerprint).toBe(
      parseHostKey(keys.host.public, "f").fingerprint,
    );
  });
  test.each([
    "",
    "SHA256:short",
    "MD5:16:27:ac",
    "ssh-dss AAAAB3NzaC1kc3MAAACB",
    "yes",
  ])("of another form is refused: %s", (text) => {
    expect(() => parseHostKey(text, "f")).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});

describe("settings of a tunnel", () => {
  const needed = {
    host: "db",
    port: 5432,
    database: "d",
    username: "u",
    password: "p",
    ssl_mode: "prefer",
    tunnel_port: 22,
  };
  const create = (changes: object) => () =>
    createPostgresBroker({
      declaration: postgresServer(),
      config: { ...needed, ...changes } as never,
      secrets: createSecretRegistry(),
      clock: systemClock,
      settings: { approvedHosts: [], allowNetworks: [] },
    });
  const whole = { tunnel_host: "bastion", tunnel_user: "svc", tunnel_password: "p" };

  test("may all be left out, or empty", () => {
    create({})();
    create({ tunnel_host: "", tunnel_user: "", tunnel_private_key: "" })();
    create(whole)();
  });
  test.each([
    ["tunnel_host", { ...whole, tunnel_host: "" }],
    ["tunnel_user", { ...whole, tunnel_user: "" }],
    ["tunnel_private_key", { ...whole, tunnel_password: "" }],
    ["tunnel_host_key", { ...whole, tunnel_host_key: "SHA256:x" }],
  ])("are named when they are missing or wrong: %s", (path, changes) => {
    expect(create(changes)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: expect.objectContaining({ path }),
      }),
    );
  });
});
