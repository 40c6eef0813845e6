/** What the name of a property, parameter or header says of its value. */

/** Lower case, without "_", "-", "." and spaces, singular: "Access_Tokens" is "accesstoken". */
export function plainName(name: string): string {
  const plain = name.toLowerCase().replace(/[^\p{L}\d]/gu, "");
  return plain.length > 3 && plain.endsWith("s") && !/(?:ss|us|is)$/.test(plain)
    ? plain.slice(0, -1)
    : plain;
}

/** A place in a listing, which is not secret: providers give it out to get it back. */
const paging =
  /(?:next|prev|previous|page|paging|pagination|cursor|continuation|continue|sync|delta|resume|resumption|start|scroll|after|before|since|offset|position|marker|iterator)token$|cursor$/;
const secretEnds =
  /(?:token|secret|password|passwd|passphrase|apikey|privatekey|secretkey|accesskey|signingkey|encryptionkey|sharedkey|signature|credential|cookie|jwt|authorization|sessionid|sessionkey|hmac|assertion|csrf|xsrf|accesskeyid)$/;
const secretNames = new Set([
  "pwd",
  "pass",
  "sig",
  "otp",
  "session",
  "auth",
  "bearer",
  "xamzcredential",
]);

/**
 * True for names of what a provider gives to be kept secret: tokens, passwords, signatures,
 * sessions.
 */
export function isSecretName(name: string): boolean {
  const plain = plainName(name);
  return (secretEnds.test(plain) || secretNames.has(plain)) && !paging.test(plain);
}

export const isPagingName = (name: string): boolean => paging.test(plainName(name));

/** Wider than {@link isSecretName}: nothing long and random may stand under such a name. */
export function maySecretName(name: string): boolean {
  const plain = plainName(name);
  const isLike =
    /token|secret|passw|credential|session|signature|cookie|jwt|auth|bearer|private|apikey|accesskey/.test(
      plain,
    );
  return isLike && !paging.test(plain) && !/author|authority|(?:id|count|type|at|url)$/.test(plain);
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

/** Words that say nothing themselves: what lies around them counts. */
const carriers = new Set(["data", "value", "number", "text", "content", "formatted"]);
const bankSchemes = new Set(["ach", "eft", "bac", "international"]);

/**
 * What kind of personal data a value is by its names; undefined = none that is seen by name. E-mail
 * addresses and IBANs are seen by their form instead.
 * @param names of the value and of what it lies in, innermost first
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
