import { once } from "node:events";
import { connect } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../../fixtures/images/docker.ts";
import { answerNotes, notebook, origin } from "../../fixtures/reference/provider.ts";
import type { Provider } from "../contract/network.ts";
import type { Command, Message } from "../contract/observation.ts";
import type { Target, World } from "../contract/target.ts";
import { type FaultServerOptions, openFaultServer } from "../faults/server.ts";
import { createContainerTarget } from "./container.ts";
import type { ContainerTargetOptions } from "./container-create.ts";
import { connectDocker } from "./container-docker.ts";

const config = { api_token: "token-of-the-kit-0123456789" };
const stream = {
  name: "notes",
  json_schema: { type: "object", properties: { id: {}, title: {}, updated_at: {} } },
  supported_sync_modes: ["full_refresh", "incremental"],
} as const;
const read = (
  syncMode: "full_refresh" | "incremental" = "incremental",
): Extract<Command, { verb: "read" }> => ({
  verb: "read",
  config,
  catalog: { streams: [{ stream, sync_mode: syncMode }] } as never,
});

const notes: Provider = {
  answer: ({ method, url, headers }) => {
    if (url.origin !== origin) return { unmatched: `No recording holds ${url}.` };
    const { status, body } = answerNotes(
      notebook,
      method,
      url,
      headers.authorization === `Bearer ${config.api_token}`,
    );
    return { status, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
  },
  unused: () => [],
};

interface Choice {
  readonly network?: Partial<FaultServerOptions>;
  readonly world?: Partial<World>;
}

/** One run, and all that it said. */
async function run(target: Target, command: Command, { network = {}, world = {} }: Choice = {}) {
  const lines: string[] = [];
  await using server = await openFaultServer({
    provider: notes,
    now: Date.now,
    proxy: target.proxy,
    ...network,
  });
  const clock = { now: Date.now, sleep: async () => undefined };
  const write = async (line: string) => void lines.push(line);
  const signal = new AbortController().signal;
  const ending = await target.run(command, {
    clock,
    network: server.network,
    write,
    signal,
    environment: {},
    ...world,
  });
  const messages = lines.flatMap((line) =>
    line.startsWith("{") ? [JSON.parse(line) as Message] : [],
  );
  const ids = messages.flatMap((message) =>
    message.type === "RECORD" ? [message.record.data.id] : [],
  );
  return { ending, lines, messages, ids, server };
}

const allIds = notebook.notes.map(({ id }) => id);

/** The facts in the probe's only LOG message. */
const facts = ({ messages }: Awaited<ReturnType<typeof run>>) =>
  messages.flatMap((message) => (message.type === "LOG" ? [JSON.parse(message.log.message)] : []));
const probe = (job: string, more: Record<string, unknown> = {}): Command => ({
  verb: "check",
  config: { ...config, job, ...more } as never,
});

describe.skipIf(!hasDocker)("with Docker", () => {
  const targets: Target[] = [];
  const open = async (options: ContainerTargetOptions) => {
    const target = await createContainerTarget(options);
    targets.push(target);
    return target;
  };

  beforeAll(() => buildImages("reference", "leaky", "probe"));
  afterAll(() => Promise.all(targets.map((target) => target[Symbol.asyncDispose]())));

  test("an image's spec, check and discover are run, and its requests are in the ledger", async () => {
    const target = await open({ image: "svc-test-reference" });
    expect((await run(target, { verb: "spec" })).messages[0]).toMatchObject({ type: "SPEC" });
    const check = await run(target, { verb: "check", config });
    expect(check.messages).toEqual([
      { type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } },
    ]);
    expect(check.server.exchanges.map(({ request }) => request.url.href)).toEqual([
      `${origin}/v1/notes?limit=2`,
    ]);
    expect((await run(target, { verb: "discover", config })).messages[0]).toMatchObject({
      type: "CATALOG",
    });
  });

  test("a read gives every row, and goes on from a state", async () => {
    const target = await open({ image: "svc-test-reference" });
    const whole = await run(target, read());
    expect([whole.ids, whole.ending.exitCode, whole.ending.isCrashed]).toEqual([allIds, 0, false]);
    const states = whole.messages.flatMap((message) =>
      message.type === "STATE" ? [message.state.stream?.stream_state ?? null] : [],
    );
    const command = { ...read(), state: [{ stream: { name: "notes" }, state: states[1] ?? null }] };
    expect((await run(target, command)).ids).toEqual(allIds.slice(4));
  });

  test("the leaky image shows its token in base64 and loses the last page", async () => {
    const { lines, ids } = await run(await open({ image: "svc-test-leaky" }), read());
    expect(lines.join()).toContain(Buffer.from(config.api_token).toString("base64"));
    expect(ids).toEqual(allIds.slice(0, -1));
  });

  test("what a provider, a connection or a certificate does wrong reaches the container, which says so", async () => {
    const target = await open({ image: "svc-test-reference" });
    const failing = (answer: object): Provider => ({
      answer: (request) => ({ ...notes.answer(request), ...answer }) as never,
      unused: () => [],
    });
    const choices = [
      [{ provider: failing({ status: 401 }) }, "config_error"],
      [{ provider: failing({ status: 503 }) }, "transient_error"],
      [{ provider: failing({ fault: { type: "reset" } }) }, "transient_error"],
      [{ connection: { fault: "unknown-host" } }, "transient_error"],
      [{ connection: { fault: "expired-certificate" } }, "transient_error"],
    ] as const;
    for (const [network, kind] of choices) {
      const { messages, ending } = await run(target, { verb: "check", config }, { network });
      const errors = messages.flatMap((message) =>
        message.type === "TRACE" ? [message.trace.error?.failure_type] : [],
      );
      expect([network, errors, ending.isCrashed]).toEqual([network, [kind], false]);
    }
  });

  test("a container reaches the proxy, and no name, no public address and no other container", async () => {
    const docker = await connectDocker("svc-test-probe");
    const other = await docker.createContainer({
      Image: "svc-test-reference",
      Entrypoint: ["python3", "-m", "http.server", "8080"],
    });
    try {
      await other.start();
      const address = (await other.inspect()).NetworkSettings.Networks.bridge?.IPAddress;
      const isReached = () =>
        once(connect(8080, address), "connect").then(
          () => true,
          () => false,
        ); // From here, it is.
      await expect.poll(isReached).toBe(true);
      const [found] = facts(
        await run(await open({ image: "svc-test-probe" }), probe("reach", { address })),
      );
      const networks = await docker.listNetworks({ filters: { label: ["svc-conformance.owner"] } });
      expect(networks.map(({ Internal }) => Internal)).not.toContain(false);
      expect(networks).not.toEqual([]);
      expect(found).toEqual({
        public: expect.not.stringContaining("reached"),
        other: expect.not.stringContaining("reached"),
        name: expect.stringContaining("gaierror"),
        proxy: "reached",
      });
    } finally {
      await other.remove({ force: true });
    }
  });

  test("time zone and language are set, the kit's files are read-only, and privileges cannot grow", async () => {
    const target = await open({ image: "svc-test-probe" });
    const [found] = facts(
      await run(target, probe("surroundings"), {
        world: { environment: { TZ: "NPT-5:45", LANG: "de_DE.UTF-8" } },
      }),
    );
    expect(found).toEqual({
      zone: "NPT-5:45",
      language: "de_DE.UTF-8",
      hour: "05:45",
      write: "OSError 30",
      privileges: "1",
    });
  });

  test("stray output, standard error, the log, the inspection and files left behind are kept", async () => {
    const { lines, ending } = await run(await open({ image: "svc-test-probe" }), probe("traces"));
    const artefacts = Object.fromEntries(
      (ending.artefacts ?? []).map(({ name, text }) => [name, text]),
    );
    expect([lines, ending.errorOutput]).toEqual([["not a message"], "on standard error: ü\n"]);
    expect(Object.keys(artefacts).sort()).toEqual([
      "/var/tmp/deep/session.txt",
      "container log",
      "docker inspect",
    ]);
    expect(artefacts["/var/tmp/deep/session.txt"]).toBe(`kept ${config.api_token}`);
    expect(artefacts["container log"]).toContain("on standard error: ü");
    expect(JSON.parse(artefacts["docker inspect"] ?? "")).toMatchObject({
      Config: { Image: "svc-test-probe" },
    });
  });

  test("a program that dies without a word has crashed; so has one that runs out of memory", async () => {
    const silent = await run(await open({ image: "svc-test-probe" }), probe("silent"));
    expect(silent.ending).toMatchObject({ exitCode: 1, isCrashed: true });
    expect(silent.ending.errorOutput).toContain("nobody catches this");
    const hoarding = await run(
      await open({ image: "svc-test-probe", memoryBytes: 2 ** 26 }),
      probe("memory"),
    );
    expect(hoarding.ending).toMatchObject({ exitCode: 137, isCrashed: true });
  });

  test("every line arrives, in order, and a last one without an end", async () => {
    const { lines } = await run(await open({ image: "svc-test-probe" }), probe("flood"));
    expect(lines).toHaveLength(20_001);
    expect(lines.slice(0, -1).map((line) => JSON.parse(line).log.message)).toEqual(
      Array.from({ length: 20_000 }, (_, index) => String(index)),
    );
    expect(lines.at(-1)).toHaveLength(200_000);
  });

  test("cancelling sends SIGTERM, and what is written on it arrives", async () => {
    const target = await open({ image: "svc-test-probe" });
    const { ending, found } = await cancelled(target, "ends");
    expect(found).toEqual([{ ready: true }, { signal: "SIGTERM" }]);
    expect(ending).toMatchObject({ exitCode: 143, isHung: false, isCrashed: false });
    const early = await run(target, probe("ends"), { world: { signal: AbortSignal.abort() } });
    expect([early.lines, early.ending.exitCode]).toEqual([[], 143]);
  });

  test("who stays after SIGTERM is killed ten seconds later and counts as hung", async () => {
    const { ending } = await cancelled(await open({ image: "svc-test-probe" }), "stays");
    expect(ending).toMatchObject({ exitCode: 137, isHung: true });
  });

  test("a consumer that goes ends the container, and no container stays after its run", async () => {
    let count = 0;
    const write = async () => {
      count += 1;
      if (count === 3) throw new Error("the consumer has gone");
    };
    const { ending } = await run(await open({ image: "svc-test-reference" }), read(), {
      world: { write },
    });
    expect([count, ending.isCrashed]).toEqual([3, false]);
    const docker = await connectDocker("svc-test-reference");
    const label = [`svc-conformance.owner=${hostname()}/${process.pid}`];
    expect(await docker.listContainers({ all: true, filters: { label } })).toEqual([]);
  });

  test("runs share a container, and none meets what another one left: a file, a process, settings", async () => {
    const target = await open({ image: "svc-test-probe", isKept: true });
    const remembers = async (more: Record<string, unknown> = {}) => {
      const { ending, ...seen } = await run(target, probe("remembers", more));
      expect([ending.exitCode, ending.isCrashed]).toEqual([0, false]);
      return { ...facts(seen as never)[0], artefacts: ending.artefacts ?? [] };
    };
    await remembers(); // The first one is as in production.
    const clean = { file: false, processes: false, folder: ["ca.pem", "config.json"] };
    const first = await remembers();
    const second = await remembers({ leaves: "file" });
    expect([second.container, second]).toEqual([first.container, expect.objectContaining(clean)]);
    expect(second.artefacts.map(({ name }: { name: string }) => name)).toEqual([
      "container log",
      "docker inspect",
      "/var/tmp/kept.txt",
    ]);
    expect(second.artefacts).toContainEqual({ name: "/var/tmp/kept.txt", text: "kept" });
    const third = await remembers({ leaves: "process" });
    expect(third.container).not.toBe(second.container);
    expect(third).toMatchObject(clean);
    const fourth = await remembers();
    expect(fourth.container).not.toBe(third.container);
    expect(fourth).toMatchObject(clean);
    const label = [`svc-conformance.owner=${hostname()}/${process.pid}`];
    await target[Symbol.asyncDispose]();
    const left = await (await connectDocker("svc-test-probe")).listContainers({
      all: true,
      filters: { label },
    });
    expect(left.map(({ Image }) => Image)).not.toContain("svc-test-probe");
  });

  test("in a kept container a read, a consumer that goes, a crash and a lack of memory are what they are in one of their own", async () => {
    const target = await open({ image: "svc-test-reference", isKept: true });
    await run(target, { verb: "spec" });
    const whole = await run(target, read());
    expect([whole.ids, whole.ending.exitCode, whole.ending.isCrashed]).toEqual([allIds, 0, false]);
    let count = 0;
    const write = async () => {
      count += 1;
      if (count === 3) throw new Error("the consumer has gone");
    };
    const stopped = await run(target, read(), { world: { write } });
    expect([count, stopped.ending.isCrashed]).toEqual([3, false]);
    expect((await run(target, read())).ids).toEqual(allIds);
    const probed = await open({ image: "svc-test-probe", isKept: true, memoryBytes: 2 ** 26 });
    await run(probed, { verb: "spec" });
    expect((await run(probed, probe("silent"))).ending).toMatchObject({
      exitCode: 1,
      isCrashed: true,
      errorOutput: expect.stringContaining("nobody catches this"),
    });
    expect((await run(probed, probe("memory"))).ending).toMatchObject({
      exitCode: 137,
      isCrashed: true,
    });
  });

  /** Runs the probe's job and cancels it when it is ready. */
  async function cancelled(target: Target, job: string) {
    const controller = new AbortController();
    const lines: string[] = [];
    const write = async (line: string) => {
      lines.push(line);
      controller.abort();
    };
    const { ending } = await run(target, probe(job), {
      world: { write, signal: controller.signal },
    });
    return { ending, found: lines.map((line) => JSON.parse(JSON.parse(line).log.message)) };
  }
});
