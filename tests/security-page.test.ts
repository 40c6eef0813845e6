import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderSecurityPage } from "../docs/security-page.ts";

test("docs/security.md lists the encodings that the output filter finds: npm run docs", () => {
  const page = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");
  expect(page).toContain("base64 twice");
  expect(renderSecurityPage(page)).toBe(page);
  expect(renderSecurityPage(page.replace("base64 twice", "base64 thrice"))).toBe(page);
});
