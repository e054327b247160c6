/** States, local names, and what expressions and actions are compiled to. */
import type { Node } from "web-tree-sitter";
import { fail, parts } from "./grammar.ts";
import type { Value } from "./values.ts";
import { keyOf } from "./values.ts";

/** Values of the variables. */
export type State = Readonly<Record<string, Value>>;

/** Where an expression is evaluated: the state, and what is known of the next one. */
export interface Place {
  readonly now: State;
  readonly next: State | undefined;
}

/** Local names and their values, the innermost first. */
export interface Env {
  readonly value: () => Value;
  readonly up: Env | undefined;
}

/** Local names in the order of `Env`. */
export interface Scope {
  readonly name: string;
  readonly up: Scope | undefined;
}

export type Evaluate = (env: Env | undefined, place: Place) => Value;
/** All next states that make an action true, beginning with what is known of it. */
export type Act = (env: Env | undefined, place: Place) => readonly State[];

/** A value that is found when it is first asked for. */
export const once = (value: () => Value): (() => Value) => {
  let known: Value | undefined;
  return () => {
    known ??= value();
    return known;
  };
};

export const constant =
  (value: Value): (() => Value) =>
  () =>
    value;

export function constantly(value: Value): Evaluate {
  return () => value;
}

export function scopeOf(params: readonly string[]): Scope | undefined {
  return params.reduce<Scope | undefined>((up, name) => ({ name, up }), undefined);
}

export function bindAll(args: readonly Evaluate[], env: Env | undefined, place: Place): Env | undefined {
  return args.reduce<Env | undefined>((up, arg) => ({ value: once(() => arg(env, place)), up }), undefined);
}

export function argumentsOf(node: Node): readonly Node[] {
  return parts(node).slice(1);
}

/** The one part of a node. */
export function only(node: Node): Node {
  const [inner, ...rest] = parts(node);
  return inner === undefined || rest.length > 0 ? fail(node, "not one part") : inner;
}

/** A text that is equal exactly for equal states. */
export function stateKey(state: State): string {
  return Object.keys(state)
    .sort()
    .map((name) => keyOf(state[name]!))
    .join(";");
}
