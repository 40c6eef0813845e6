import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { bearer, http } from "../contract/egress.ts";
import type { JsonValue } from "../contract/json.ts";
import { secret } from "../contract/spec.ts";
import { parseLocalUrl } from "./local-url.ts";
import { parseManifest } from "./manifest.ts";

const manifest = (baseUrl: string) =>
  ({
    id: "conn_x",
    version: "1.0.0",
    title: "X",
    spec: Type.Object({ token: secret(Type.String()), host: Type.Enum(["localhost", "a"]) }),
    egress: http({ baseUrl, auth: bearer("token") }),
  }) as unknown as JsonValue;

describe("a provider on this machine", () => {
  test.each([
    ["http://127.0.0.1:7788/v2", "http://127.0.0.1:7788/v2"],
    ["https://localhost:7788/v2/", "https://localhost:7788/v2"],
    ["http://localhost", "http://localhost/"],
    ["http://[::1]:65535/a/b", "http://[::1]:65535/a/b"],
  ])("is declared as %s", (declared, url) => {
    expect(parseLocalUrl(declared)?.href).toBe(url);
    expect(parseManifest(manifest(declared))).toMatchObject({ egress: { baseUrl: declared } });
  });

  test.each([
    "http://api.example.com/v2",
    "http://10.0.0.1:8080",
    "http://0.0.0.0:7788",
    "http://127.1:7788",
    "http://2130706433",
    "http://[::]:7788",
    "http://[::ffff:127.0.0.1]:7788",
    "http://localhost.example.com",
    "http://localhost.:7788",
    "http://x@127.0.0.1:7788",
    "http://127.0.0.1:7788@example.com",
    "http://127.0.0.1:7788\\@example.com",
    "http://127.0.0.1:77880",
    "http://127.0.0.1:0",
    "http://127.0.0.1/?q=1",
    "http://127.0.0.1/#x",
    "http://127.0.0.1/a/../b",
    "http://{host}:7788",
    "http://localhost:{host}",
    "HTTP://LOCALHOST:7788",
    "ftp://localhost/",
  ])("is not declared as %s, and the refusal says what may be", (declared) => {
    expect(parseLocalUrl(declared)).toBeUndefined();
    expect(() => parseManifest(manifest(declared))).toThrow(
      expect.objectContaining({
        code: "CONNECTOR_INVALID",
        details: {
          path: "egress.baseUrl",
          problem: expect.stringMatching(/^must begin with https:\/\/; http .* --allow-local/),
        },
      }),
    );
  });
});
