/** Texts with values filled in, as Python's `%` and `.format` do it. */
import { EvaluationError } from "./evaluation-error.ts";
import { maxChars, numeric } from "./operands.ts";
import { isFloat } from "./value-tests.ts";
import { isMapping, isNumber, type PlainValue, quoted, Tuple, toText } from "./values.ts";

/** Wider than this is no column. */
const maxWidth = 1_000;

/** How a value is to be written. */
interface Form {
  readonly fill: string;
  /** `<` left, `>` right, `^` in the middle, `=` blanks behind the sign. */
  readonly align: string | undefined;
  readonly sign: string;
  readonly width: number;
  readonly group: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const placeholder = /%(?:\((\w+)\))?([-+ 0#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g;

/** `"%s of %d" % (a, b)`: one value, several of a tuple, or a mapping of names. */
export function printed(format: string, values: PlainValue): string {
  const given = values instanceof Tuple ? [...values] : [values];
  let at = 0;
  const next = () => {
    if (at >= given.length) throw new EvaluationError("has too few values for its format");
    return given[at++];
  };
  let isNamed = false;
  const made = format.replace(
    placeholder,
    (_, name: string | undefined, flags: string, width = "0", precision, type: string) => {
      if (type === "%") return "%";
      let value: PlainValue;
      if (name !== undefined) {
        isNamed = true;
        if (!isMapping(values) || !Object.hasOwn(values, name))
          throw new EvaluationError("has no value for a name in its format");
        value = values[name];
      } else value = next();
      const isLeft = flags.includes("-");
      const isZero = flags.includes("0") && !isLeft && !"sr".includes(type);
      const form: Form = {
        ...{ fill: isZero ? "0" : " ", align: isLeft ? "<" : isZero ? "=" : ">", group: "" },
        sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "-",
        ...{ width: widthOf(width), type },
        precision: precision === undefined ? undefined : widthOf(precision),
      };
      if (!"sridufFeEgGxXoc".includes(type) || flags.includes("#"))
        throw new EvaluationError("has a format that is not supported");
      if (!isNumber(value) && !"src".includes(type))
        throw new EvaluationError("writes what is no number as one");
      // Whole numbers are wanted: Python cuts the fraction off.
      const isCut = "idu".includes(type) && isFloat(value);
      return written(isCut ? Math.trunc(Number(numeric(value))) : value, form);
    },
  );
  if (/%(?![%])/.test(format.replace(placeholder, "")))
    throw new EvaluationError("has a format that is not supported");
  if (!isNamed && at < given.length && !(isMapping(values) && at === 0))
    throw new EvaluationError("has too many values for its format");
  return bounded(made);
}

const field = /\{\{|\}\}|\{(\w*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g;
const formSpec = /^(?:(.)?([<>^=]))?([-+ ])?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/su;

/** `"{} of {name}".format(a, name=b)`. */
export function filledIn(
  format: string,
  values: readonly PlainValue[],
  named: { readonly [name: string]: PlainValue },
): string {
  let at = 0;
  const made = format.replace(
    field,
    (whole, name: string | undefined, as: string | undefined, spec = "") => {
      if (whole === "{{" || whole === "}}") return whole.slice(1);
      if (name === undefined) throw new EvaluationError("has a format that is not supported");
      const isPlace = name === "" || /^\d+$/.test(name);
      const place = name === "" ? at++ : Number(name);
      const isThere = isPlace ? place < values.length : Object.hasOwn(named, name);
      if (!isThere) throw new EvaluationError("has too few values for its format");
      const value = isPlace ? values[place] : named[name];
      const [, fill, align, sign = "-", zero, width = "0", group = "", precision, type = ""] =
        formSpec.exec(spec) ?? [];
      if (!formSpec.test(spec)) throw new EvaluationError("has a format that is not supported");
      const isText = as !== undefined || !isNumber(value) || typeof value === "boolean";
      if (isText && ((type !== "" && type !== "s") || group !== ""))
        throw new EvaluationError("writes what is no number as one");
      const shown =
        as === "r" || as === "a" ? quoted(value ?? null) : isText ? toText(value) : value;
      return written(shown, {
        fill: fill ?? (zero === undefined ? " " : "0"),
        align: align ?? (zero !== undefined && !isText ? "=" : isText ? "<" : ">"),
        ...{ sign, width: widthOf(width), group },
        precision: precision === undefined ? undefined : widthOf(precision),
        type: isText ? "s" : type,
      });
    },
  );
  return bounded(made);
}

const widthOf = (text: string): number => {
  const width = Number(text);
  if (width > maxWidth) throw new EvaluationError(`writes more than ${maxWidth} places`);
  return width;
};
const bounded = (text: string): string => {
  if (text.length <= maxChars) return text;
  throw new EvaluationError(`makes a text of more than ${maxChars} characters`);
};

function written(value: PlainValue, form: Form): string {
  const { fill, align, width, precision, type } = form;
  if (type === "s" || type === "r" || type === "c") {
    const text = type === "r" ? quoted(value ?? null) : toText(value);
    return padded(
      precision === undefined ? text : [...text].slice(0, precision).join(""),
      "",
      form,
    );
  }
  const size = numeric(value);
  const isBelow = size < 0 || Object.is(size, -0);
  const sign = isBelow ? "-" : form.sign === "-" ? "" : form.sign;
  const digits = digitsOf(value, form);
  const text = form.group === "" ? digits : grouped(digits, form.group);
  if (align === "=") return sign + text.padStart(width - sign.length, fill);
  return padded(text, sign, form);
}

function padded(text: string, sign: string, { fill, align, width }: Form): string {
  const made = sign + text;
  const missing = Math.max(0, width - [...made].length);
  if (align === "<") return made + fill.repeat(missing);
  if (align === "^") {
    const left = Math.floor(missing / 2);
    return fill.repeat(left) + made + fill.repeat(missing - left);
  }
  return fill.repeat(missing) + made;
}

/** The digits of a number without its sign. */
function digitsOf(value: PlainValue, { type, precision }: Form): string {
  const given = numeric(value);
  const size = given < 0 ? -given : given;
  const plain = Number(size);
  const places = precision ?? 6;
  const isWhole = !isFloat(value);
  const exponent = (text: string) => text.replace(/e([+-])(\d)$/, "e$10$2");
  switch (type) {
    case "d":
    case "i":
    case "u":
    case "n":
      if (isWhole) return String(size);
      break;
    case "x":
    case "X":
    case "o":
    case "b": {
      if (!isWhole) break;
      const made = size.toString(type === "o" ? 8 : type === "b" ? 2 : 16);
      return type === "X" ? made.toUpperCase() : made;
    }
    case "f":
    case "F":
      if (places <= 100 && plain < 1e21) return plain.toFixed(places);
      break;
    case "%":
      if (places <= 100 && plain < 1e19) return `${(plain * 100).toFixed(places)}%`;
      break;
    case "e":
    case "E": {
      if (places > 100) break;
      const made = exponent(plain.toExponential(places));
      return type === "E" ? made.toUpperCase() : made;
    }
    case "":
      if (precision === undefined) return toText(isWhole ? size : value).replace(/^-/, "");
      break;
    default:
  }
  throw new EvaluationError("has a format that is not supported");
}

const grouped = (digits: string, sign: string): string =>
  digits.replace(/^\d+/, (all) => all.replace(/\B(?=(?:\d{3})+$)/g, sign));
