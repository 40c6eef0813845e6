import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { answerJson, createInstantClock, startProvider } from "../../simulators/loopback.ts";
import { createMemorySink } from "../../tests/memory-sink.ts";
import { createHost } from "./create-host.ts";
import { findConnector } from "./registry.ts";

const file = fileURLToPath(new URL("../../fixtures/manifests/source-shop.yaml", import.meta.url));
const connector = findConnector(file, "/");
const key = "key-K7Qx2mVt9sLw4ZrB8nPy5Dh3Gj6Fc1Ta0Ue7Ri2";
const config = { account: "north", key };
const authority = await createCertificateAuthority();
const certificate = await authority.issue(["north.example.com", "search.example.com"]);

/** The shop's API: pages by cursor, by number, by link and by offset. */
const startShop = () =>
  startProvider(
    ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, "https://x");
      if (pathname === "/v1/orders")
        return searchParams.get("after") === "t2"
          ? answerJson(response, 200, { data: [{ id: 3, state: "paid" }] })
          : answerJson(response, 200, {
              data: [
                { id: 1, state: "sent" },
                { id: 2, state: "draft" },
              ],
              next: "t2",
            });
      if (pathname.startsWith("/find/")) {
        const isFirst = !searchParams.has("page");
        return answerJson(response, 200, { items: isFirst ? [{ id: 7, note: key }] : [] });
      }
      if (pathname === "/v1/notes") {
        if (!searchParams.has("page"))
          response.setHeader(
            "link",
            `<https://north.example.com/v1/notes?page=2&key=${key}>; rel="next"`,
          );
        return answerJson(response, 200, { a: [{ id: 1 }], b: { id: 2 }, c: "none" });
      }
      const offset = Number(searchParams.get("offset"));
      answerJson(response, 200, { lines: [{ id: offset }, { id: offset + 1 }].slice(offset / 2) });
    },
    { certificate },
  );

async function readAll() {
  await using shop = await startShop();
  await using host = createHost({
    clock: createInstantClock(Date.UTC(2026, 0, 15)),
    seams: { ...shop.seams, ca: authority.caPem },
  });
  const manifest = await host.spec(connector);
  const check = await host.check(connector, config);
  const streams = await host.discover(connector, config);
  const sink = createMemorySink();
  const summary = await host.read(
    connector,
    {
      config,
      catalog: { streams: streams.map((stream) => ({ stream, sync_mode: "full_refresh" })) },
    },
    sink,
  );
  return { manifest, check, streams, sink, summary, received: shop.received.slice(1) };
}

describe("a declarative manifest, in the sandbox", () => {
  test("says its settings, is checked, lists its streams and reads them, and never has the secret", async () => {
    const { manifest, check, streams, sink, summary, received } = await readAll();
    expect(manifest).toMatchObject({
      id: "conn_shop",
      title: "Shop",
    });
    expect(manifest.spec).toMatchObject({ properties: { key: { airbyte_secret: true } } });
    expect(check).toEqual({ status: "succeeded" });
    expect(streams.map(({ name }) => name)).toEqual(["orders", "items", "notes", "lines"]);
    expect(summary).toMatchObject({ status: "succeeded" });
    expect(sink.rows("orders")).toEqual([
      { id: 1, note: "SENT-2", region: "north" },
      { id: 3, note: "PAID-4", region: "north" },
    ]);
    expect(sink.rows("items")).toEqual([
      { id: 7, note: "[redacted]", region: "eu" },
      { id: 7, note: "[redacted]", region: "us" },
    ]);
    expect(sink.rows("notes").map(({ id }) => id)).toEqual([1, 2, 1, 2]);
    expect(sink.rows("lines").map(({ id }) => id)).toEqual([0, 1, 3]);
    expect(received.map(({ method, host, url }) => `${method} ${host}${url}`)).toEqual([
      "GET north.example.com/v1/orders?sort=id&kind=a%20b&limit=2",
      "GET north.example.com/v1/orders?sort=id&kind=a%20b&after=t2&limit=2",
      "POST search.example.com/find/eu",
      "POST search.example.com/find/eu?page=2",
      "POST search.example.com/find/us",
      "POST search.example.com/find/us?page=2",
      `GET north.example.com/v1/notes?key=${key}`,
      `GET north.example.com/v1/notes?page=2&key=${key}`,
      "GET north.example.com/v1/lines",
      "GET north.example.com/v1/lines?offset=2",
    ]);
    expect(received[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      "x-version": "2",
    });
    expect(received[2]?.headers.authorization).toBe(
      `Basic ${Buffer.from(`north:${key}`).toString("base64")}`,
    );
    expect(JSON.parse(received[4]?.body ?? "")).toEqual({ query: { all: true }, region: "us" });
  });
});
