/**
 * Prometheus' text format, version 0.0.4, read strictly: whatever a scraper would refuse throws
 * here.
 */

type Labels = Readonly<Record<string, string>>;

export interface Scrape {
  /**
   * Of the only series that has these labels; undefined: there is none.
   * @throws Error when there are several
   */
  value(name: string, labels?: Labels): number | undefined;
  help(name: string): string | undefined;
  readonly names: readonly string[];
  readonly labels: readonly Labels[];
}

const samplePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/y;

export function parsePrometheus(text: string): Scrape {
  const helps = new Map<string, string>();
  const types = new Map<string, string>();
  const samples = new Map<
    string,
    { readonly name: string; readonly labels: Labels; readonly value: number }
  >();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.startsWith("#")) {
      // Other comments are nobody's business.
      const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
      const known = word === "HELP" ? helps : word === "TYPE" ? types : undefined;
      if (known?.has(name)) fail(line);
      known?.set(name, rest);
      continue;
    }
    const [, name = "", inner = "", number = ""] = samplePattern.exec(line) ?? fail(line);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) fail(line);
    const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
    if (Number.isNaN(value)) fail(line);
    const labels = parseLabels(inner, line);
    const key = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (samples.has(key)) fail(line);
    samples.set(key, { name, labels, value });
  }
  return {
    value(name, wanted = {}) {
      const found = [...samples.values()].filter(
        (sample) =>
          sample.name === name &&
          Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
      );
      if (found.length > 1) throw new Error(`${found.length} series of ${name}`);
      return found[0]?.value;
    },
    help: (name) => helps.get(name),
    names: [...types.keys()],
    labels: [...samples.values()].map(({ labels }) => labels),
  };
}

function parseLabels(inner: string, line: string): Labels {
  const labels: Record<string, string> = {};
  labelPattern.lastIndex = 0;
  while (labelPattern.lastIndex < inner.length) {
    const [, name = "", value = ""] = labelPattern.exec(inner) ?? fail(line);
    if (Object.hasOwn(labels, name)) fail(line);
    labels[name] = value;
  }
  return labels;
}

function fail(line: string): never {
  throw new Error(`not Prometheus' text format: ${line}`);
}
