import type { ElicitFormParams, JsonObject } from "mcparley";
import type { InputRequestSource } from "mcparley/client";
import { isObject } from "./is-object.ts";
import { pointerKeys } from "./json-pointer.ts";

/** The fields of a form, and the check of its answers. The host declares these types again, because they are public there. */
export interface FormModel {
  readonly fields: readonly FormField[];
  /** Sentences to show beside the form, such as that a field asks for a secret. */
  readonly remarks: readonly string[];
  check(this: void, content: FormContent): { field: string | undefined; message: string }[];
}

type FormContent = Record<string, string | number | boolean | string[]>;

interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly input: FormInput;
}

type FormInput =
  | (Optional<"minLength" | "maxLength", number> &
      Optional<"pattern" | "format" | "initial", string> & { type: "text" })
  | (Optional<"minimum" | "maximum" | "initial", number> & { type: "number"; isInteger: boolean })
  | (Optional<"initial", boolean> & { type: "boolean" })
  | (Optional<"initial", string> & { type: "choice"; options: FormOption[] })
  | (Optional<"minItems" | "maxItems", number> & { type: "choices"; options: FormOption[]; initial: string[] });

type Optional<Name extends string, Value> = { readonly [name in Name]: Value | undefined };

interface FormOption {
  readonly value: string;
  readonly title: string;
}

/**
 * Returns the form that a server asks for, with its fields in the order of the schema.
 *
 * The client has already refused a schema that is not an object with properties, or that cannot be checked. A property of an
 * unknown kind becomes a text field. `check` returns the problems if the server expects another value.
 */
export function formModel(
  { message, requestedSchema: schema }: Pick<ElicitFormParams, "message" | "requestedSchema">,
  check: InputRequestSource["check"] = () => [],
): FormModel {
  const requiredNames = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties).map(([name, value]): FormField => {
    const property = isObject(value) ? value : {};
    return {
      name,
      title: text(property.title) ?? name,
      description: text(property.description),
      isRequired: requiredNames.has(name),
      input: inputOf(property),
    };
  });
  return {
    fields,
    remarks: secretRemarks(message, fields),
    check: (content) =>
      check(content).map((issue) => ({ field: fieldOf(issue, content, fields), message: issue.message })),
  };
}

/** Words for values that a server must not ask for with a form. A word of letters stands alone, and a compound can have others before it. */
const secretCompounds =
  "passw(?:or)?d|passwort|kennwort|passphrase|passcode|wachtwoord|lösenord|passord|adgangskode|salasana|geheim(?:nis|wort)|zugangsdaten|" +
  "contraseña|contrasenya|пароль|パスワード|暗証番号|密码|密碼|口令|令牌|비밀번호|암호|كلمة (?:المرور|السر)|סיסמה|पासवर्ड|รหัสผ่าน";
const secretPhrases =
  "pwd|pass ?phrase|pass ?word|pass ?code|pin(?: ?(?:code|number))?|cv[vc]2?|otp|tan|secret|credentials?|(?:access|auth|api|bearer|refresh|id|session) ?tokens?|token|" +
  "(?:api|access|private|secret|license|encryption|signing|ssh) ?key|(?:one time|security|verification|2fa|mfa) ?code|(?:credit|debit)? ?card ?number|" +
  "ssn|social security number|(?:seed|recovery|secret) ?phrase|mnemonic|mot de passe|jeton|clé (?:api|secrète|privée)|clave|senha|" +
  "palavra passe|segredo|hasło|heslo|jelszó|şifre|parola|lozinka|секрет|токен|κωδικός|mật khẩu|kata sandi|api schlüssel|トークン|密钥";
const secretWords = new RegExp(
  `(?:${secretCompounds})|(?<![\\p{L}\\p{N}])(?:${secretPhrases})(?![\\p{L}\\p{N}])`.normalize("NFKC"),
  "u",
);

/** Whether a text names a secret, in one of several languages and in the spellings of names. */
function namesSecret(text: string): boolean {
  const words = text.replaceAll(/(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1$3 $2$4");
  const plainWords = words
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase();
  return secretWords.test(plainWords.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " "));
}

/** Returns a remark on each field that asks for a secret, or on the form if only its message does. */
function secretRemarks(message: string, fields: readonly FormField[]): string[] {
  const advice =
    "A server must not ask for passwords, keys or codes with a form, because it receives what you type. Leave them out.";
  const openFields = fields.filter(({ input }) => input.type === "text" || input.type === "number");
  const secretFields = openFields.filter(
    ({ name, title, description = "", input }) =>
      (input.type === "text" && input.format === "password") || [name, title, description].some(namesSecret),
  );
  if (secretFields.length > 0) {
    return secretFields.map(({ title }) => `The field ${JSON.stringify(title)} seems to ask for a secret. ${advice}`);
  }
  return openFields.length > 0 && namesSecret(message) ? [`The form seems to ask for a secret. ${advice}`] : [];
}

function inputOf(property: JsonObject): FormInput {
  if (property.type === "array") return choices(property);
  const options = optionsOf(property);
  if (options.length > 0) return { type: "choice", options, initial: listedValue(property.default, options) };
  const { type, default: initial } = property;
  if (type === "boolean") return { type, initial: typeof initial === "boolean" ? initial : undefined };
  if (type === "number" || type === "integer") {
    return {
      type: "number",
      isInteger: type === "integer",
      minimum: number(property.minimum),
      maximum: number(property.maximum),
      initial: number(initial),
    };
  }
  return {
    type: "text",
    minLength: number(property.minLength),
    maxLength: number(property.maxLength),
    pattern: text(property.pattern),
    format: text(property.format),
    initial: typeof initial === "string" ? initial : undefined,
  };
}

function choices(property: JsonObject): FormInput {
  const options = optionsOf(isObject(property.items) ? property.items : {});
  const initial: unknown[] = Array.isArray(property.default) ? property.default : [];
  return {
    type: "choices",
    options,
    minItems: number(property.minItems),
    maxItems: number(property.maxItems),
    initial: initial.flatMap((value) => listedValue(value, options) ?? []),
  };
}

/** Returns the options of a choice: titled ones of `oneOf` or `anyOf`, or `enum` with the `enumNames` of 2025-06-18. */
function optionsOf(property: JsonObject): FormOption[] {
  const titledOptions = [property.oneOf, property.anyOf].find((list): list is unknown[] => Array.isArray(list));
  if (titledOptions) {
    return titledOptions
      .filter(isObject)
      .flatMap(({ const: value, title }) =>
        typeof value === "string" ? [{ value, title: text(title) ?? value }] : [],
      );
  }
  const values: unknown[] = Array.isArray(property.enum) ? property.enum : [];
  const names: unknown[] = Array.isArray(property.enumNames) ? property.enumNames : [];
  return values.flatMap((value, index) =>
    typeof value === "string" ? [{ value, title: text(names[index]) ?? value }] : [],
  );
}

function fieldOf(
  { path, message }: { readonly path: string; readonly message: string },
  content: FormContent,
  fields: readonly FormField[],
): string | undefined {
  if (path !== "") {
    const [name] = pointerKeys(path);
    return fields.find((field) => field.name === name)?.name;
  }
  // A missing value is a problem of the whole content. Its message ends with the name of the property.
  const isMissing = ({ name, isRequired }: FormField): boolean =>
    isRequired &&
    (!Object.hasOwn(content, name) || content[name] === undefined) &&
    message.endsWith(JSON.stringify(name));
  return fields.find(isMissing)?.name;
}

function listedValue(value: unknown, options: readonly FormOption[]): string | undefined {
  return options.find((option) => option.value === value)?.value;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
