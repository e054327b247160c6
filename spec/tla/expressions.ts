/** Compiles expressions of TLA+ to functions of a state, and of the next one where they speak of it. */
import type { Node } from "web-tree-sitter";
import type { Act, Env, Evaluate, Place, Scope } from "./env.ts";
import { argumentsOf, bindAll, constant, constantly, once, only, scopeOf } from "./env.ts";
import { fail, field, parts } from "./grammar.ts";
import type { Definition, Module } from "./module.ts";
import { definitionOf } from "./module.ts";
import { infix, library } from "./operators.ts";
import type { Value } from "./values.ts";
import {
  asBoolean,
  asNumber,
  asRecord,
  asSequence,
  asSet,
  isEqual,
  ValueRecord,
  ValueSet,
} from "./values.ts";

export abstract class Expressions {
  protected readonly module: Module;
  protected readonly constants: Readonly<Record<string, Value>>;
  private readonly bodies = new Map<string, Evaluate>();

  /** `constants` gives a value to each constant, and may give one to a definition instead of its own. */
  constructor(module: Module, constants: Readonly<Record<string, Value>>) {
    this.module = module;
    this.constants = constants;
    for (const name of module.constants) {
      if (constants[name] === undefined) throw new Error(`TLA+: no value for the constant ${name}`);
    }
  }

  /** For ENABLED: an expression as an action. */
  protected abstract act(node: Node, scope: Scope | undefined, isInitial: boolean): Act;

  protected definition(name: string): Definition {
    const definition = this.module.definitions.get(name);
    if (definition === undefined) throw new Error(`TLA+: no definition of ${name}`);
    return definition;
  }

  protected body(definition: Definition): Evaluate {
    let body = this.bodies.get(definition.name);
    if (body === undefined) {
      body = this.compile(definition.body, scopeOf(definition.params));
      this.bodies.set(definition.name, body);
    }
    return body;
  }

  protected compile(node: Node, scope: Scope | undefined): Evaluate {
    switch (node.type) {
      case "nat_number":
        return constantly(Number(node.text));
      case "boolean":
        return constantly(node.text === "TRUE");
      case "string":
        return constantly(JSON.parse(node.text) as string);
      case "boolean_set":
        return constantly(new ValueSet([false, true]));
      case "parentheses":
        return this.compile(only(node), scope);
      case "identifier_ref":
        return this.reference(node, scope);
      case "bound_op":
        return this.application(node, scope);
      case "bound_infix_op":
        return this.infix(node, scope);
      case "bound_prefix_op":
        return this.prefix(node, scope);
      case "bound_postfix_op": {
        const name = field(node, "lhs").text;
        return (_env, { next }) => next?.[name] ?? fail(node, "no next state");
      }
      case "conj_list":
      case "disj_list": {
        const items = parts(node).map((item) => this.compile(parts(item)[1] ?? fail(item, "empty"), scope));
        const isAll = node.type === "conj_list";
        return (env, place) =>
          isAll
            ? items.every((item) => asBoolean(item(env, place)))
            : items.some((item) => asBoolean(item(env, place)));
      }
      case "if_then_else": {
        const [test, yes, no] = ["if", "then", "else"].map((name) => this.compile(field(node, name), scope));
        return (env, place) => (asBoolean(test!(env, place)) ? yes!(env, place) : no!(env, place));
      }
      case "case":
        return this.cases(node, (arm) => this.compile(arm, scope), scope);
      case "let_in": {
        const { inner, bind } = this.letIn(node, scope);
        const body = this.compile(field(node, "expression"), inner);
        return (env, place) => body(bind(env, place), place);
      }
      default:
        return this.compileData(node, scope);
    }
  }

  private compileData(node: Node, scope: Scope | undefined): Evaluate {
    switch (node.type) {
      case "tuple_literal": {
        const items = parts(node)
          .filter(({ type }) => !/_bracket$/.test(type))
          .map((item) => this.compile(item, scope));
        return (env, place) => items.map((item) => item(env, place));
      }
      case "finite_set_literal": {
        const items = parts(node).map((item) => this.compile(item, scope));
        return (env, place) => new ValueSet(items.map((item) => item(env, place)));
      }
      case "record_literal": {
        const items = parts(node).filter(({ type }) => type !== "all_map_to");
        const fields: (readonly [string, Evaluate])[] = [];
        for (let i = 0; i < items.length; i += 2)
          fields.push([items[i]!.text, this.compile(items[i + 1]!, scope)]);
        return (env, place) =>
          new ValueRecord(fields.map(([name, value]) => [name, value(env, place)] as const));
      }
      case "record_value": {
        const [record, name] = parts(node);
        const value = this.compile(record!, scope);
        return (env, place) => asRecord(value(env, place)).get(name!.text);
      }
      case "function_evaluation": {
        const [list, index] = parts(node).map((part) => this.compile(part, scope));
        return (env, place) => {
          const at = asNumber(index!(env, place));
          return asSequence(list!(env, place))[at - 1] ?? fail(node, `no item ${at}`);
        };
      }
      case "except":
        return this.except(node, scope);
      case "set_filter":
      case "set_map": {
        const isFilter = node.type === "set_filter";
        const generator = field(node, "generator");
        const set = this.compile(field(generator, "set"), scope);
        const name = field(generator, "intro").text;
        const body = this.compile(field(node, isFilter ? "filter" : "map"), { name, up: scope });
        return (env, place) => {
          const at = (value: Value): Value => body({ value: constant(value), up: env }, place);
          const values = [...asSet(set(env, place)).values()];
          return new ValueSet(isFilter ? values.filter((value) => asBoolean(at(value))) : values.map(at));
        };
      }
      case "bounded_quantification": {
        const { inner, choices } = this.bounds(node, scope);
        const body = this.compile(field(node, "expression"), inner);
        const isAll = field(node, "quantifier").type === "forall";
        return (env, place) => {
          const holds = (choice: Env | undefined): boolean => asBoolean(body(choice, place));
          return isAll ? choices(env, place).every(holds) : choices(env, place).some(holds);
        };
      }
      case "step_expr_or_stutter": {
        // [A]_v as a predicate on one step.
        const [action, subscript] = parts(node);
        const holds = this.compile(action!, scope);
        const stutters = this.unchanged(subscript!);
        return (env, place) => asBoolean(stutters(env, place)) || asBoolean(holds(env, place));
      }
      default:
        return fail(node, "an expression that is not interpreted");
    }
  }

  private reference(node: Node, scope: Scope | undefined): Evaluate {
    const name = node.text;
    let depth = 0;
    for (let at = scope; at !== undefined; at = at.up, depth += 1) {
      if (at.name !== name) continue;
      const hops = depth;
      return (env) => {
        let here = env;
        for (let i = 0; i < hops; i += 1) here = here?.up;
        return here?.value() ?? fail(node, "no value");
      };
    }
    const given = this.constants[name];
    if (given !== undefined) return constantly(given);
    if (this.module.variables.has(name)) return (_env, { now }) => now[name] ?? fail(node, "no value");
    const definition = this.module.definitions.get(name) ?? fail(node, "unknown name");
    return (_env, place) => this.body(definition)(undefined, place);
  }

  private application(node: Node, scope: Scope | undefined): Evaluate {
    const name = field(node, "name").text;
    const args = argumentsOf(node).map((arg) => this.compile(arg, scope));
    const known = library[name];
    if (known !== undefined) return (env, place) => known(args[0]!(env, place));
    const definition = this.module.definitions.get(name) ?? fail(node, "unknown operator");
    if (definition.params.length !== args.length) fail(node, "arguments do not fit");
    return (env, place) => this.body(definition)(bindAll(args, env, place), place);
  }

  private infix(node: Node, scope: Scope | undefined): Evaluate {
    const operator = infix[field(node, "symbol").type] ?? fail(node, "operator that is not interpreted");
    const left = this.compile(field(node, "lhs"), scope);
    const right = this.compile(field(node, "rhs"), scope);
    return (env, place) =>
      operator(
        () => left(env, place),
        () => right(env, place),
      );
  }

  private prefix(node: Node, scope: Scope | undefined): Evaluate {
    const operand = field(node, "rhs");
    switch (field(node, "symbol").type) {
      case "enabled": {
        const act = this.act(operand, scope, false);
        return (env, { now }) => act(env, { now, next: {} }).length > 0;
      }
      case "unchanged":
        return this.unchanged(operand);
      case "domain": {
        const value = this.compile(operand, scope);
        return (env, place) => new ValueSet(asRecord(value(env, place)).fields.keys());
      }
      case "lnot": {
        const value = this.compile(operand, scope);
        return (env, place) => !asBoolean(value(env, place));
      }
      case "negative": {
        const value = this.compile(operand, scope);
        return (env, place) => -asNumber(value(env, place));
      }
      case "always":
        return this.compile(operand, scope);
      default:
        return fail(node, "operator that is not interpreted");
    }
  }

  private except(node: Node, scope: Scope | undefined): Evaluate {
    const start = this.compile(field(node, "expr_to_update"), scope);
    const updates = parts(node)
      .filter(({ type }) => type === "except_update")
      .map((update) => {
        const path = parts(parts(update)[0] ?? fail(update, "no place")).map((part) => only(part).text);
        return { path, value: this.compile(field(update, "new_val"), scope) };
      });
    const put = (record: ValueRecord, path: readonly string[], value: Value): ValueRecord => {
      const [name = "", ...rest] = path;
      return record.with(name, rest.length === 0 ? value : put(asRecord(record.get(name)), rest, value));
    };
    return (env, place) =>
      updates.reduce(
        (record, { path, value }) => put(record, path, value(env, place)),
        asRecord(start(env, place)),
      );
  }

  /** A CASE as whatever its arms are compiled to. */
  protected cases<Result>(
    node: Node,
    compileArm: (arm: Node) => (env: Env | undefined, place: Place) => Result,
    scope: Scope | undefined,
  ): (env: Env | undefined, place: Place) => Result {
    const arms = parts(node)
      .filter(({ type }) => type !== "case_box")
      .map((arm) => {
        const inside = parts(arm).filter(({ type }) => type !== "case_arrow");
        const isOther = arm.type === "other_arm";
        return {
          test: isOther ? undefined : this.compile(inside[0]!, scope),
          run: compileArm(inside.at(-1)!),
        };
      });
    return (env, place) => {
      const arm = arms.find(({ test }) => test === undefined || asBoolean(test(env, place)));
      return arm === undefined ? fail(node, "no arm fits") : arm.run(env, place);
    };
  }

  protected letIn(
    node: Node,
    scope: Scope | undefined,
  ): {
    readonly inner: Scope | undefined;
    readonly bind: (env: Env | undefined, place: Place) => Env | undefined;
  } {
    let inner = scope;
    const values: Evaluate[] = [];
    for (const child of node.childrenForFieldName("definitions")) {
      const { name, params, body } = definitionOf(child ?? fail(node, "no definition"));
      if (params.length > 0) fail(node, "a local operator with parameters is not interpreted");
      values.push(this.compile(body, inner));
      inner = { name, up: inner };
    }
    const bind = (env: Env | undefined, place: Place): Env | undefined =>
      values.reduce<Env | undefined>((up, value) => ({ value: once(() => value(up, place)), up }), env);
    return { inner, bind };
  }

  /** The bound names of a quantifier, and every choice of their values. */
  protected bounds(
    node: Node,
    scope: Scope | undefined,
  ): {
    readonly inner: Scope | undefined;
    readonly choices: (env: Env | undefined, place: Place) => (Env | undefined)[];
  } {
    let inner = scope;
    const sets: Evaluate[] = [];
    for (const child of node.childrenForFieldName("bound")) {
      if (child?.type !== "quantifier_bound") continue;
      sets.push(this.compile(field(child, "set"), scope));
      inner = { name: field(child, "intro").text, up: inner };
    }
    const choices = (env: Env | undefined, place: Place): (Env | undefined)[] => {
      let all: (Env | undefined)[] = [env];
      for (const set of sets) {
        // The sets of one quantifier do not see its own names.
        const values = [...asSet(set(env, place)).values()];
        all = all.flatMap((up) => values.map((value) => ({ value: constant(value), up })));
      }
      return all;
    };
    return { inner, choices };
  }

  /** The variables of a tuple, of a single one, or of a definition that names them. */
  protected variables(node: Node): readonly string[] {
    if (node.type !== "identifier_ref") {
      return parts(node)
        .filter(({ type }) => type === "identifier_ref")
        .flatMap((part) => this.variables(part));
    }
    const definition = this.module.definitions.get(node.text);
    return definition === undefined ? [node.text] : this.variables(definition.body);
  }

  /** Whether variables keep their values, as a predicate on one step. */
  private unchanged(node: Node): Evaluate {
    const names = this.variables(node);
    return (_env, { now, next }) =>
      names.every((name) => isEqual(now[name]!, next?.[name] ?? fail(node, "no next state")));
  }
}
