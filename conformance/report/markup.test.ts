import { describe, expect, it } from "vitest";
import { type MarkupValue, markup, trusted } from "./markup.ts";

describe("markup", () => {
  it("escapes text, in elements and in attributes", () => {
    const text = `<b title="x">&amp;'`;
    expect(markup`<p title="${text}">${text}</p>`.text).toBe(
      `<p title="&lt;b title=&quot;x&quot;&gt;&amp;amp;&#39;">&lt;b title=&quot;x&quot;&gt;&amp;amp;&#39;</p>`,
    );
  });

  it("takes markup as it is, also in lists, and leaves out what is undefined", () => {
    const items = ["a<", "b"].map((item) => markup`<li>${item}</li>`);
    expect(markup`<ul>${items}</ul>${undefined}${trusted("<br>")}${7}`.text).toBe(
      "<ul><li>a&lt;</li><li>b</li></ul><br>7",
    );
  });

  it("refuses an object that only looks like markup", () => {
    const forged = JSON.parse('{"text":"<script>alert(1)</script>"}') as MarkupValue;
    expect(() => markup`${forged}`).toThrow(TypeError);
  });

  it("escapes after control characters are made visible, so that nothing new appears", () => {
    expect(markup`${"\x1b<\ud800>"}`.text).toBe("␛&lt;\ufffd&gt;");
  });
});
