import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConnectorError } from "../contract/errors.ts";
import { declaredUrl, fillTemplate, isUnder, requestUrl, resolveBaseUrl } from "./request-url.ts";

const settings = { approvedHosts: ["mailer.example.com"], allowNetworks: [] };

describe("a base URL", () => {
  test("is a template filled from the configuration", () => {
    const { url } = resolveBaseUrl(
      "https://{environment}.example.com/v2/",
      { environment: "Sandbox" },
      settings,
    );
    expect(url.href).toBe("https://sandbox.example.com/v2");
    expect(
      fillTemplate("https://{account.region}.example.com", { account: { region: "eu" } }).host,
    ).toBe("eu.example.com");
  });

  test.each([
    "a.b",
    "evil.example.com/",
    "x@y",
    "a b",
    "",
    "-a",
    "a-",
    "..",
    "a:1",
    "é",
    "a\n",
    "a".repeat(64),
  ])("takes no %j into a template", (environment) => {
    expect(() => fillTemplate("https://{environment}.example.com", { environment })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });

  test("takes several labels into a template only from the setting's fixed list", () => {
    const spec = { properties: { region: { enum: ["eu", "com.au", "x/y"] } } };
    const fill = (region: string) =>
      fillTemplate("https://api.example.{region}/v2", { region }, spec).href;
    expect(fill("com.au")).toBe("https://api.example.com.au/v2");
    for (const region of ["com.evil", "x/y", "com.au."])
      expect(() => fill(region)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  test.each([
    "http://a.example.com",
    "https://a",
    "https://u:p@a.example.com",
    "https://a.example.com/?q=1",
    "https://a.example.com/#x",
    "nonsense",
  ])("is not declared as %s", (template) => {
    expect(() => fillTemplate(template, {})).toThrow(
      expect.objectContaining({ code: "CONNECTOR_INVALID" }),
    );
  });

  test("that a customer types in needs an approved host", () => {
    const declared = {
      field: "base_url",
      pathEnd: "/api",
      approvedHosts: ["*.tenants.example.net"],
    };
    const resolve = (base_url: string) => resolveBaseUrl(declared, { base_url }, settings).url.href;
    expect(resolve("https://MAILER.example.com:443/api")).toBe("https://mailer.example.com/api");
    expect(resolve("https://one.tenants.example.net/api")).toBe(
      "https://one.tenants.example.net/api",
    );
    expect(() => resolve("https://evil.example.com/api")).toThrow(
      expect.objectContaining({ code: "BASE_URL_REFUSED" }),
    );
  });
});

describe("a request's URL", () => {
  test("stays under the base whatever the segments and parameters are", () => {
    const nasty = fc.constantFrom(
      "//evil.com",
      "\\\\evil",
      "/\\evil",
      "\t//evil",
      "https://evil.com",
      "%2e%2e",
      "..%2f",
      "@evil.com",
      "#",
      "?",
      ":443",
      "\r\n",
      "\u0000",
      "．．",
    );
    const segment = fc.oneof(nasty, fc.string({ unit: "binary" }), fc.double(), fc.integer());
    for (const base of [
      new URL("https://api.example.com/v1"),
      new URL("https://api.example.com"),
    ]) {
      fc.assert(
        fc.property(
          fc.array(segment, { maxLength: 4 }),
          fc.dictionary(fc.string(), segment),
          (path, query) => {
            let url: URL;
            try {
              url = requestUrl(base, path, query);
            } catch (error) {
              return error instanceof ConnectorError && error.code === "CONNECTOR_PROTOCOL";
            }
            const depth = url.pathname.split("/").length - (base.pathname === "/" ? 1 : 2);
            const isWhole = path.length === 0 || depth === path.length;
            return isUnder(base, url) && isWhole && url.hash === "" && url.username === "";
          },
        ),
        { numRuns: 1_000 },
      );
    }
  });

  test("gives each segment and parameter back unchanged", () => {
    const word = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((text) => text !== "." && text !== ".." && text.isWellFormed());
    fc.assert(
      fc.property(word, word, (segment, value) => {
        const url = requestUrl(new URL("https://api.example.com/v1"), ["a", segment], { value });
        expect(decodeURIComponent(url.pathname.split("/")[3] ?? "")).toBe(segment);
        expect(url.searchParams.get("value")).toBe(value);
      }),
    );
  });

  test("leaves out what is undefined and repeats lists", () => {
    const url = requestUrl(new URL("https://api.example.com"), [], {
      a: undefined,
      b: [1, true],
      c: [],
    });
    expect(url.href).toBe("https://api.example.com/?b=1&b=true");
  });
});

describe("a whole URL", () => {
  const origins = new Map([["https://api.example.com", "https://api.example.com"]]);

  test.each([
    "/boards/../me",
    "/boards/../../me/cards",
    "/boards/./7",
    "/boards/..",
    "/boards/%2e%2E/me",
    "/boards/.%2e?page=2",
    "/boards/..#cards",
    "/boards/..\\me",
    "/boards/a\\b",
    "/boards/.\t./me",
    "/boards/.\n./me",
    "/boards/7\r",
  ])("is refused where a value would lead to another path: %j", (path) => {
    expect(() => declaredUrl(`https://api.example.com${path}`, undefined, origins)).toThrow(
      expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
    );
  });

  test.each([
    "/v1/files/..hidden/a...b/.well-known",
    "/search?path=../a&x=.%2f..",
    "/a%2Fb/7?next=a/../b",
  ])("is taken where dots are only text: %j", (path) => {
    const url = declaredUrl(`https://api.example.com${path}`, { page: 2 }, origins);
    expect(url.href).toBe(`https://api.example.com${path}${path.includes("?") ? "&" : "?"}page=2`);
  });
});
