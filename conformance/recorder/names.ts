/** Finds personal data by the names of properties, parameters and headers. */

/** Lower case, without "_", "-", "." and spaces, singular: "Access_Tokens" is "accesstoken". */
export function plainName(name: string): string {
  const plain = name.toLowerCase().replace(/[^\p{L}\d]/gu, "");
  return plain.length > 3 && plain.endsWith("s") && !/(?:ss|us|is)$/.test(plain)
    ? plain.slice(0, -1)
    : plain;
}

export type PersonalKind =
  | "name"
  | "phone"
  | "street"
  | "postcode"
  | "ip"
  | "account"
  | "card"
  | "birthday";

const personEnds =
  /(?:first|last|full|given|family|middle|sur|nick|maiden|display|real|from|replyto|sender|recipient|contact|customer|owner|holder|author|creator|user|member|employee|beneficiary|payer|payee|legal)name$/;
const persons = new Set([
  "user",
  "owner",
  "author",
  "creator",
  "assignee",
  "member",
  "contact",
  "person",
  "people",
  "customer",
  "subscriber",
  "sender",
  "recipient",
  "reporter",
  "watcher",
  "invitedby",
  "inviter",
  "profile",
  "employee",
  "candidate",
  "guest",
  "attendee",
  "organizer",
  "lead",
  "identity",
  "createdby",
  "updatedby",
  "assignedto",
]);
const kinds: readonly (readonly [PersonalKind, RegExp])[] = [
  [
    "phone",
    /(?:phone|phonenumber|mobile|mobilenumber|telephone|tel|fax|cellphone|whatsapp|msisdn)$/,
  ],
  [
    "street",
    /(?:street|streetaddress|address|addressline|addressline\d|address\d|street\d|city|town|locality)$/,
  ],
  ["postcode", /(?:zip|zipcode|postcode|postalcode)$/],
  ["ip", /(?:^ip|ipaddress|ipaddr|remoteaddr|clientip|lastip|userip|remoteip|signupip|loginip)$/],
  ["card", /(?:cardnumber|creditcard|^pan)$/],
  [
    "account",
    /(?:accountnumber|routingnumber|sortcode|bban|taxid|ssn|socialsecuritynumber|nationalid|passportnumber|wirerouting|^routing)$/,
  ],
  ["birthday", /(?:birthday|birthdate|dateofbirth|^dob)$/],
  ["name", personEnds],
];

/** Names that say nothing themselves: the name around them counts. */
const carriers = new Set(["data", "value", "number", "text", "content", "formatted"]);
const bankSchemes = new Set(["ach", "eft", "bac", "international"]);

/** Names of a field and of the objects around it, plain, innermost first. */
export type PeopleField = readonly string[];

/** Fields as an author writes them: "nickname", "requester.name". */
export const toPeopleFields = (fields: readonly string[]): readonly PeopleField[] =>
  fields.map((field) => field.split(".").map(plainName).reverse());

export const isPeopleField = (names: readonly string[], fields: readonly PeopleField[]): boolean =>
  fields.some((field) => field.every((name, at) => plainName(names[at] ?? "") === name));

/**
 * The kind of personal data that a value is by its names; undefined = none that is seen by name.
 * E-mail addresses and IBANs are seen by their form instead.
 * @param names of the value and of the objects around it, innermost first
 */
export function personalKind(names: readonly string[]): PersonalKind | undefined {
  const plain = names.map(plainName);
  const [own = "", parent = ""] =
    carriers.has(plain[0] ?? "") && plain.length > 1 ? plain.slice(1) : plain;
  const found = kinds.find(([, pattern]) => pattern.test(own))?.[0];
  if (found) return found;
  if (own === "name" && persons.has(parent)) return "name";
  if (persons.has(own.replace(/name$/, "")) && own.endsWith("name") && own !== "name")
    return "name";
  if (["byorderof", "payer", "payee"].includes(own)) return "name";
  return own === "account" && bankSchemes.has(parent) ? "account" : undefined;
}
