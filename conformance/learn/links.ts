/** The `link` header. @see https://www.rfc-editor.org/rfc/rfc8288#section-3 */

export interface Link {
  readonly rel: string;
  readonly url: string;
}

export function linksOf(header: string): Link[] {
  return [...header.matchAll(/<([^>]*)>((?:\s*;\s*[^,;]+)*)/g)].flatMap(
    ([, url = "", rest = ""]) => {
      const rel = /;\s*rel="?([^";,]+)"?/i.exec(rest)?.[1];
      return rel === undefined ? [] : [{ rel, url }];
    },
  );
}

/** Undefined when there is no link to give. */
export function writeLinks(links: readonly Link[]): string | undefined {
  if (links.length === 0) return undefined;
  return links.map(({ rel, url }) => `<${url}>; rel="${rel}"`).join(", ");
}
