/** The forms of a URL template, for all settings: known when the manifest is loaded. */
import type { JsonObject } from "../../contract/json.ts";
import { invalid } from "../document/invalid.ts";
import type { Expression } from "../expressions/expression.ts";
import { type Node, parseTemplate } from "../expressions/nodes.ts";
import { type PlainValue, toText } from "../expressions/values.ts";

/** More of them than this are no choice that somebody wrote down. */
const maxForms = 32;
/** These leave the host in a setting as it is, or lead nowhere. */
const passing: ReadonlySet<string> = new Set([
  ...["trim", "lower", "string", "replace", "strip", "lstrip", "rstrip", "split", "first"],
]);

/**
 * The texts that a template can give, in which `{name}` stands for a setting: one for each choice
 * that it makes. Those without a setting come first.
 * @param upTo how much of them must be known
 * @throws CONNECTOR_INVALID where anything but a setting can come into it
 */
export function urlFormsOf(
  template: string,
  path: string,
  parameters: JsonObject,
  upTo: "host" | "end",
): string[] {
  const fault = () =>
    invalid(path, "must begin with https:// and a host, in which only settings may be filled in");
  const joined = (parts: readonly (() => readonly string[])[]): string[] => {
    let forms = [""];
    for (const part of parts) {
      if (upTo === "host" && forms.every(isDecided)) return forms;
      forms = forms.flatMap((form) => part().map((one) => form + one));
      if (forms.length > maxForms) throw fault();
    }
    return forms;
  };
  const ofExpression = (one: Expression): readonly string[] => {
    const field = settingOf(one);
    if (field) return [`{${field.join(".")}}`];
    const given = parameterOf(one, parameters);
    if (given !== undefined) return [given];
    switch (one.kind) {
      case "constant":
        return [toText(one.value)];
      case "choice":
        return [...ofExpression(one.yes), ...ofExpression(one.no)];
      case "item":
        return ofExpression(one.of);
      case "map":
        return one.entries.flatMap(([, value]) => ofExpression(value));
      case "binary": {
        const sides = [one.left, one.right].map((side) => () => ofExpression(side));
        if (one.operator === "or") return sides.flatMap((side) => side());
        if (one.operator === "+" || one.operator === "~") return joined(sides);
        throw fault();
      }
      case "call": {
        const [of, other, usual] = one.args;
        if (one.what === "method" && one.name === "get" && usual && settingOf(one, true))
          return [`{${settingOf(one, true)?.join(".")}}`, ...ofExpression(usual)];
        if (one.what === "method" && one.name === "get" && of?.kind === "map")
          return [...ofExpression(of), ...(usual ? ofExpression(usual) : [])];
        if (one.what === "filter" && one.name === "default" && of)
          return [...ofExpression(of), ...(other ? ofExpression(other) : [])];
        if (one.what !== "macro" && passing.has(one.name) && of) return ofExpression(of);
        throw fault();
      }
      default:
        throw fault();
    }
  };
  const ofNodes = (nodes: readonly Node[]): string[] =>
    joined(
      nodes.map((node) => () => {
        if (node.kind === "literal") return [node.text];
        if (node.kind === "expression") return ofExpression(node.expression);
        if (node.kind !== "if") throw fault();
        return [...node.branches.map(({ nodes }) => nodes), node.otherwise].flatMap(ofNodes);
      }),
    );
  // A branch that nobody wrote gives no URL.
  const forms = [...new Set(ofNodes(parseTemplate(template, path)).map((form) => form.trim()))];
  const isOpen = (form: string) => Number(form.includes("{"));
  return forms.filter((form) => form !== "").sort((a, b) => isOpen(a) - isOpen(b));
}

/** The host is at its end. */
const isDecided = (form: string) => /^\s*(?:https?:\/\/[^/?#]+|\{[^{}]+\})[/?#]/.test(form);

/** The path of a setting: `config.a['b']`, `config.get('a')`. @param isWith a default, too */
function settingOf(one: Expression, isWith = false): string[] | undefined {
  if (one.kind === "variable") return one.name === "config" ? [] : undefined;
  const [of, key] =
    one.kind === "item"
      ? [one.of, one.key]
      : one.kind === "call" && one.what === "method" && one.name === "get"
        ? [one.args[0], one.args.length > 2 && !isWith ? undefined : one.args[1]]
        : [];
  const before = of && settingOf(of);
  return before && key?.kind === "constant" && typeof key.value === "string"
    ? [...before, key.value]
    : undefined;
}

function parameterOf(one: Expression, parameters: JsonObject): string | undefined {
  const key = one.kind === "item" && one.key.kind === "constant" ? one.key.value : undefined;
  const isTheirs =
    one.kind === "item" && one.of.kind === "variable" && one.of.name === "parameters";
  if (!isTheirs || typeof key !== "string" || !Object.hasOwn(parameters, key)) return undefined;
  return toText(parameters[key] as PlainValue);
}
