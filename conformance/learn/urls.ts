/**
 * URLs of other pages in an answer: which page they mean, and how they are written for pages that
 * were never recorded.
 */
import type { PageRelation, PageView } from "./formulas.ts";
import { integerOf } from "./parameters.ts";

/** How a URL is made of a page. */
export interface UrlForm {
  /** For people. */
  readonly title: string;
  /** Undefined where there is no such page. */
  write(page: PageView): string | undefined;
}

interface UrlSample {
  readonly text: string;
  readonly page: PageView;
}

export interface UrlContext {
  /** Keys of the parameters that say the page, and of the one that says its size. */
  readonly keys: readonly string[];
  readonly sizeKey: string | undefined;
  /** Name of the URL in the answers. */
  readonly name: string;
}

interface Meaning {
  /** The page to which the URL leads. */
  readonly relation: PageRelation;
  /** The URL is given only where such a page exists: the last page's URL where a next page is. */
  readonly condition: PageRelation;
}

const meanings: readonly (Meaning & { readonly hint: RegExp })[] = [
  { relation: "next", condition: "next", hint: /next/ },
  { relation: "previous", condition: "previous", hint: /prev/ },
  { relation: "first", condition: "first", hint: /first/ },
  { relation: "last", condition: "last", hint: /last/ },
  { relation: "self", condition: "self", hint: /self|current/ },
  { relation: "last", condition: "next", hint: /last/ },
  { relation: "first", condition: "previous", hint: /first/ },
  { relation: "after", condition: "after", hint: /next/ },
];

/**
 * The form that explains all samples; undefined when the URLs are not those of other pages of the
 * listing. All samples stand under the same pointer; the `others` have none there.
 */
export function findUrlForm(
  samples: readonly UrlSample[],
  others: readonly PageView[],
  { keys, sizeKey, name }: UrlContext,
): UrlForm | undefined {
  const named = meanings.filter(({ hint }) => hint.test(name));
  for (const meaning of new Set([...named, ...meanings])) {
    if (!others.every((page) => page.parametersOf(meaning.condition) === undefined)) continue;
    for (const sample of samples) {
      const form = formOf(sample, meaning, { keys, sizeKey });
      if (form && samples.every(({ text, page }) => isSameUrl(form.write(page), text, page.url)))
        return form;
    }
  }
  return undefined;
}

function formOf(
  { text, page }: UrlSample,
  { relation, condition }: Meaning,
  { keys, sizeKey }: Pick<UrlContext, "keys" | "sizeKey">,
): UrlForm | undefined {
  const url = URL.parse(text, page.url);
  if (url === null || url.pathname !== page.url.pathname) return undefined;
  const [address = "", query = ""] = text.split("?", 2);
  const asked = page.parametersOf(relation);
  if (asked === undefined || !keys.some((key) => url.searchParams.has(key.slice(1))))
    return undefined;

  const parts = query.split("&").map((part) => {
    const [rawName = "", rawValue = ""] = part.split("=", 2);
    const name = decode(rawName);
    const key = `?${name}`;
    const value = decode(rawValue);
    const give = (one: PageView): string | undefined => {
      if (keys.includes(key)) return one.parametersOf(relation)?.get(key);
      if (key === sizeKey) return String(integerOf(one.parameters, key) ?? one.size);
      return page.parameters.get(key) === value ? one.parameters.get(key) : value;
    };
    return { rawName, rawValue, value, give };
  });
  return {
    title: `URL: ${relation}`,
    write(one) {
      if (one.parametersOf(condition) === undefined) return undefined;
      const written = parts.flatMap(({ rawName, rawValue, value, give }) => {
        const given = give(one);
        return given === undefined
          ? []
          : [`${rawName}=${given === value ? rawValue : encodeURIComponent(given)}`];
      });
      return `${address.replace(page.url.pathname, () => one.url.pathname)}?${written.join("&")}`;
    },
  };
}

const decode = (text: string) => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
};

/** The same address and parameters, however they are encoded. */
export function isSameUrl(one: string | undefined, other: string, base: URL): boolean {
  const [a, b] = [URL.parse(one ?? "", base), URL.parse(other, base)];
  if (
    one === undefined ||
    a === null ||
    b === null ||
    a.origin + a.pathname !== b.origin + b.pathname
  )
    return false;
  const sorted = (url: URL) =>
    [...url.searchParams]
      .map((pair) => pair.join("="))
      .sort()
      .join("&");
  return sorted(a) === sorted(b);
}
