/** The lists in docs/security.md that are made from the code. */
import { foldedEscapes } from "../runtime/filter/escapes.ts";
import { encodingNames } from "../runtime/filter/secret-views.ts";

/** The page with its generated lists renewed. */
export function renderSecurityPage(page: string): string {
  const escapes = foldedEscapes.map((one) => `- ${one}`).join("\n");
  const lists = [
    `Encodings, each of the whole secret: ${encodingNames.join(" · ")}.`,
    `Escapes, of some characters or all, one in another up to four kinds deep and mixed:\n${escapes}`,
  ];
  return page.replace(
    /(<!-- encodings -->\n).*?(<!-- \/encodings -->)/s,
    (_, start: string, end: string) => `${start}\n${lists.join("\n\n")}\n\n${end}`,
  );
}
