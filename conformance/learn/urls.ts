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
  /** What the answers call the URL. */
  readonly name: string;
}

interface Meaning {
  readonly target: PageRelation;
  /** It is given only where there is such a page too: the last page's URL where a next page is. */
  readonly where: PageRelation;
}

const meanings: readonly (Meaning & { readonly hint: RegExp })[] = [
  { target: "next", where: "next", hint: /next/ },
  { target: "previous", where: "previous", hint: /prev/ },
  { target: "first", where: "first", hint: /first/ },
  { target: "last", where: "last", hint: /last/ },
  { target: "self", where: "self", hint: /self|current/ },
  { target: "last", where: "next", hint: /last/ },
  { target: "first", where: "previous", hint: /first/ },
  { target: "after", where: "after", hint: /next/ },
];

/**
 * Undefined when the URLs are not those of other pages of the listing. All samples come from the
 * same place of the answers; on the `others` there is none.
 */
export function findUrlForm(
  samples: readonly UrlSample[],
  others: readonly PageView[],
  { keys, sizeKey, name }: UrlContext,
): UrlForm | undefined {
  const named = meanings.filter(({ hint }) => hint.test(name));
  for (const meaning of new Set([...named, ...meanings])) {
    if (!others.every((page) => page.parametersOf(meaning.where) === undefined)) continue;
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
  { target, where }: Meaning,
  { keys, sizeKey }: Pick<UrlContext, "keys" | "sizeKey">,
): UrlForm | undefined {
  const url = URL.parse(text, page.url);
  if (url === null || url.pathname !== page.url.pathname) return undefined;
  const [place = "", query = ""] = text.split("?", 2);
  const asked = page.parametersOf(target);
  if (asked === undefined || !keys.some((key) => url.searchParams.has(key.slice(1))))
    return undefined;

  const parts = query.split("&").map((part) => {
    const [rawName = "", rawValue = ""] = part.split("=", 2);
    const name = decode(rawName);
    const key = `?${name}`;
    const value = decode(rawValue);
    const give = (one: PageView): string | undefined => {
      if (keys.includes(key)) return one.parametersOf(target)?.get(key);
      if (key === sizeKey) return String(integerOf(one.parameters, key) ?? one.size);
      return page.parameters.get(key) === value ? one.parameters.get(key) : value;
    };
    return { rawName, rawValue, value, give };
  });
  return {
    title: `URL: ${target}`,
    write(one) {
      if (one.parametersOf(where) === undefined) return undefined;
      const written = parts.flatMap(({ rawName, rawValue, value, give }) => {
        const given = give(one);
        return given === undefined
          ? []
          : [`${rawName}=${given === value ? rawValue : encodeURIComponent(given)}`];
      });
      return `${place.replace(page.url.pathname, () => one.url.pathname)}?${written.join("&")}`;
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
