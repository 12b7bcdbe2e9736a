/** The text inside the braces of each expression of a URI template (RFC 6570). */
type Expressions<T extends string, Found = never> = T extends `${string}{${infer E}}${infer Rest}`
  ? Expressions<Rest, Found | E>
  : Found;

/** The variables of an expression with their modifiers: `a:3` and `b*` of `{?a:3,b*}`. */
type Specs<E> = E extends `${"+" | "#" | "/" | "." | ";" | "?" | "&"}${infer List}` ? Split<List> : Split<E>;
type Split<List> = List extends `${infer First},${infer Rest}` ? First | Split<Rest> : List;

type NameOf<Spec> = Spec extends `${infer N}*` ? N : Spec extends `${infer N}:${string}` ? N : Spec;
type ExplodedName<Spec> = Spec extends `${infer N}*` ? N : never;
type TextName<Spec> = Spec extends `${string}*` ? never : NameOf<Spec>;

/** The first variable of `{a,b}` and `{+a,b}`. All others may be missing from a URI that matches. */
type RequiredName<E> = E extends `${"#" | "/" | "." | ";" | "?" | "&"}${string}`
  ? never
  : E extends `+${infer List}`
    ? FirstName<List>
    : FirstName<E>;
type FirstName<List> = List extends `${infer First},${string}` ? NameOf<First> : NameOf<List>;

type ValueOf<Spec, K> = (K extends ExplodedName<Spec> ? string[] : never) | (K extends TextName<Spec> ? string : never);

/** The names of the variables in a URI template. */
export type UriVariableNames<U extends string> = NameOf<Specs<Expressions<U>>> & string;

/**
 * The values that a URI template finds in a URI: text, or an array for an exploded variable. A variable that may be missing
 * is optional. If the template is not known at compile time, each value is of any of these types.
 */
export type UriVariables<U extends string> = string extends U
  ? Record<string, string | string[] | undefined>
  : Values<Specs<Expressions<U>>, RequiredName<Expressions<U>>>;

type Values<Spec, Required> = Flat<
  { [K in NameOf<Spec> & Required & string]: ValueOf<Spec, K> } & {
    [K in Exclude<NameOf<Spec>, Required> & string]?: ValueOf<Spec, K>;
  }
>;

/** Joins an intersection of objects into one object, for hovers and declarations. */
export type Flat<T> = { [K in keyof T]: T[K] } & {};
