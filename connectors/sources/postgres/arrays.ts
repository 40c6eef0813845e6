/**
 * An array's text form as JSON: `{1,NULL,"a\"b"}` or `[0:1]={…}`. Lower bounds other than 1 are not
 * kept. Not postgres-array 3.0.4: what a server sends is not trusted, and on `{"a}` that one takes
 * memory without end; its time grows with the square of an array of quoted texts; it knows no
 * delimiter but the comma, and box[] has ";".
 * @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO (read 2026-07)
 * @param toJson the JSON of an element's text
 * @throws RangeError when the text is no array
 */
export function arrayToJson(
  text: string,
  delimiter: string,
  toJson: (element: string) => string,
): string {
  let at = text[0] === "[" ? text.indexOf("={") + 1 : 0;

  const readItems = (): string => {
    const items: string[] = [];
    at++; // {
    while (text[at] !== "}") {
      if (at >= text.length) throw new RangeError("not an array");
      items.push(readItem());
      if (text[at] === delimiter) at++;
    }
    at++;
    return `[${items.join(",")}]`;
  };
  const readItem = (): string => {
    if (text[at] === "{") return readItems();
    if (text[at] === '"') return toJson(readQuoted());
    const start = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== "}") at++;
    const element = text.slice(start, at);
    return element === "NULL" ? "null" : toJson(element);
  };
  const readQuoted = (): string => {
    const start = ++at;
    let isEscaped = false;
    for (; text[at] !== '"'; at++) {
      if (at >= text.length) throw new RangeError("not an array");
      if (text[at] !== "\\") continue;
      isEscaped = true;
      at++;
    }
    const quoted = text.slice(start, at++);
    return isEscaped ? quoted.replace(/\\(.)/gsu, "$1") : quoted;
  };

  return readItems();
}
