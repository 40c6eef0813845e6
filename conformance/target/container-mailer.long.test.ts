import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../../fixtures/images/docker.ts";
import type { Provider } from "../contract/network.ts";
import { type FaultServerOptions, openFaultServer } from "../faults/server.ts";
import { createContainerTarget } from "./container.ts";
import type { ContainerTargetOptions } from "./container-create.ts";

const host = "acme.mailcoach.app";
const config = { base_url: `https://${host}/api`, api_token: "a-token-of-the-kit-0123456789" };
const settings = fileURLToPath(
  new URL("../../fixtures/images/mailer/svc.config.yaml", import.meta.url),
);
const emptyPage = {
  data: [],
  links: {},
  meta: { current_page: 1, last_page: 1, per_page: 1, total: 0 },
};

const provider: Provider = {
  answer: ({ url }) => {
    const body = url.pathname === "/api/user" ? { data: { id: 1 } } : emptyPage;
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    };
  },
  unused: () => [],
};

/** The mailer's check from its image. It uses no proxy: its provider's name leads to the kit. */
async function check(
  options: Partial<ContainerTargetOptions>,
  network: Partial<FaultServerOptions> = {},
) {
  await using target = await createContainerTarget({
    image: "svc-test-mailer",
    hosts: [host],
    ...options,
  });
  await using server = await openFaultServer({
    provider,
    now: Date.now,
    proxy: target.proxy,
    ...network,
  });
  const lines: string[] = [];
  const ending = await target.run(
    { verb: "check", config },
    {
      clock: { now: Date.now, sleep: async () => undefined },
      network: server.network,
      write: async (line) => void lines.push(line),
      signal: new AbortController().signal,
      environment: {},
    },
  );
  return { ending, exchanges: server.exchanges, text: lines.join("\n") };
}

describe.skipIf(!hasDocker)("with Docker, a connector of this repository as an image", () => {
  beforeAll(() => buildImages("mailer"));

  test("its check succeeds over TLS that it verifies, where the operator allows the kit's network", async () => {
    const { ending, exchanges, text } = await check({
      files: { "/srv/svc.config.yaml": settings },
    });
    expect(text).toContain('"status":"SUCCEEDED"');
    expect(ending).toMatchObject({ exitCode: 0, isCrashed: false });
    const [first] = exchanges;
    expect(first?.request.url.href).toBe(`https://${host}/api/user`);
    expect(first?.request.headers.authorization).toBe(`Bearer ${config.api_token}`);
  });

  test("without that permission it refuses the private address, and sends nothing", async () => {
    const { exchanges, text } = await check({});
    expect(text).toMatch(/address that connections may not be made to \(private\)/);
    expect(exchanges).toEqual([]);
  });

  test("it refuses a certificate that has expired", async () => {
    const choice = { files: { "/srv/svc.config.yaml": settings } };
    const { exchanges, text } = await check(choice, {
      connection: { fault: "expired-certificate" },
    });
    expect(text).toContain("certificate expired");
    expect(exchanges).toEqual([]);
  });
});
