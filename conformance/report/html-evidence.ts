/** One piece of evidence in the HTML report. */
import type { Evidence } from "../contract/rule.ts";
import {
  howFound,
  leftOutNote,
  pageLimits,
  type ShownEvidence,
  type ShownExchange,
  showEvidence,
} from "./evidence.ts";
import { type Markup, markup } from "./markup.ts";

export function evidenceMarkup(evidence: Evidence): Markup {
  return markup`<h4>${evidence.title}</h4>
${body(showEvidence(evidence, pageLimits))}
`;
}

/** Scrolling text can be reached by keyboard. */
function body(evidence: ShownEvidence): Markup {
  switch (evidence.kind) {
    case "exchanges":
      return markup`${evidence.items.map((item) =>
        "leftOut" in item
          ? markup`<p class="gap">${leftOutNote(item.leftOut, "exchange")}</p>`
          : exchange(item),
      )}`;
    case "messages":
      return markup`<pre class="lines" tabindex="0" role="region" aria-label="${evidence.title}">${evidence.items.map(
        (item) =>
          "leftOut" in item
            ? markup`<span class="gap"><i></i><span>${leftOutNote(item.leftOut, "message")}</span></span>`
            : markup`<span${item.isMarked ? markup` class="marked"` : ""}><i>${item.isMarked ? "▶ " : ""}${item.number}</i><span>${item.line}</span></span>`,
      )}</pre>`;
    case "leak":
      return markup`<pre class="wraps" tabindex="0" role="region" aria-label="${evidence.title}">${evidence.before}<mark>${evidence.leak}</mark>${evidence.after}</pre>
<p class="soft">Found ${howFound(evidence)}.</p>`;
    case "text":
      return markup`<pre tabindex="0" role="region" aria-label="${evidence.title}">${evidence.text}</pre>`;
  }
}

/** The marked one is open; the others show their first lines. */
function exchange({ number, request, response, isMarked, place }: ShownExchange): Markup {
  return markup`<details class="exchange${isMarked ? " marked" : ""}"${isMarked ? markup` open` : ""}><summary>${isMarked ? markup`<mark>here</mark> ` : ""}${number}. <code>${firstLine(request)}</code> → <code>${firstLine(response)}</code></summary>
<div class="two"><div><h5>Request${place === undefined ? "" : markup`, asked for in <code>${place}</code>`}</h5><pre tabindex="0" role="region" aria-label="Request ${number}">${request}</pre></div><div><h5>Response</h5><pre tabindex="0" role="region" aria-label="Response ${number}">${response}</pre></div></div></details>
`;
}

function firstLine(text: string): string {
  const line = text.split(/\r?\n/, 1)[0] ?? "";
  return line.length > 120 ? `${line.slice(0, 120)}…` : line || "(nothing)";
}
