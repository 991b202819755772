/** Integer arithmetic of the shell (XCU 2.6.4), for counters: what an expression gives and what it assigns. */

export interface Calculated {
  readonly value: number;
  readonly sets: ReadonlyMap<string, number>;
}

const TOKEN =
  /\s*(?:(\d+)|\$\{(\w+)\}|\$?([A-Za-z_]\w*)|(\+\+|--|&&|\|\||<<=|>>=|[-+*/%&|^]=|[=!<>]=|<<|>>|[-+*/%<>=!()?:,&|^~]))/y;
const ASSIGNS = new Set(["=", "+=", "-=", "*=", "/=", "%="]);
/** From the weakest; what is not here is not decided. */
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];
const MAX_TOKENS = 200;

/** undefined: something in it is not known, or is not read here. */
export function calculate(text: string, get: (name: string) => string | undefined): Calculated | undefined {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null || tokens.length > MAX_TOKENS) return undefined;
    tokens.push(match[1] ?? match[2] ?? match[3] ?? match[4]!);
  }
  const reader = new Reader(tokens, get);
  const value = reader.read();
  return value === undefined ? undefined : { value, sets: reader.sets };
}

class Reader {
  readonly sets = new Map<string, number>();
  readonly #tokens: readonly string[];
  readonly #get: (name: string) => string | undefined;
  #at = 0;

  constructor(tokens: readonly string[], get: (name: string) => string | undefined) {
    this.#tokens = tokens;
    this.#get = get;
  }

  read(): number | undefined {
    const value = this.#assignment();
    return this.#at === this.#tokens.length && Number.isSafeInteger(value) ? value : undefined;
  }

  /** What is not known is `NaN`, and stays so in whatever is made of it. */
  #assignment(): number {
    const name = this.#tokens[this.#at];
    const operator = this.#tokens[this.#at + 1];
    if (name === undefined || !isName(name) || operator === undefined || !ASSIGNS.has(operator)) return this.#binary(0);
    this.#at += 2;
    const right = this.#assignment();
    return this.#set(name, operator === "=" ? right : apply(operator[0]!, this.#variable(name), right));
  }

  #binary(level: number): number {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let operator = this.#tokens[this.#at]; operators.includes(operator ?? ""); operator = this.#tokens[this.#at]) {
      this.#at++;
      left = apply(operator!, left, this.#binary(level + 1));
    }
    return left;
  }

  #unary(): number {
    const token = this.#tokens[this.#at++];
    if (token === undefined) return Number.NaN;
    if (token === "-") return -this.#unary();
    if (token === "+") return this.#unary();
    if (token === "!") {
      const value = this.#unary();
      return Number.isNaN(value) ? value : Number(value === 0);
    }
    if (token === "(") {
      const value = this.#assignment();
      return this.#tokens[this.#at++] === ")" ? value : Number.NaN;
    }
    if (token === "++" || token === "--") {
      const name = this.#tokens[this.#at++] ?? "";
      return isName(name) ? this.#set(name, this.#variable(name) + (token === "++" ? 1 : -1)) : Number.NaN;
    }
    // `010` is octal for some shells and ten for others
    if (/^\d/.test(token)) return /^0\d/.test(token) ? Number.NaN : Number(token);
    if (!isName(token)) return Number.NaN;
    const value = this.#variable(token);
    const next = this.#tokens[this.#at];
    if (next === "++" || next === "--") {
      this.#at++;
      this.#set(token, value + (next === "++" ? 1 : -1));
    }
    return value;
  }

  #variable(name: string): number {
    const set = this.sets.get(name);
    if (set !== undefined) return set;
    const text = this.#get(name);
    return text !== undefined && /^-?(?:0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  }

  #set(name: string, value: number): number {
    this.sets.set(name, value);
    return value;
  }
}

function isName(token: string): boolean {
  return /^[A-Za-z_]/.test(token);
}

/** The value of two numbers under an operator of `$((…))` or of `expr`. */
export function apply(operator: string, a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return b === 0 ? Number.NaN : Math.trunc(a / b);
    case "%":
      return b === 0 ? Number.NaN : a % b;
    case "<":
      return Number(a < b);
    case ">":
      return Number(a > b);
    case "<=":
      return Number(a <= b);
    case ">=":
      return Number(a >= b);
    case "==":
      return Number(a === b);
    case "!=":
      return Number(a !== b);
    case "&&":
      return Number(a !== 0 && b !== 0);
    case "||":
      return Number(a !== 0 || b !== 0);
    default:
      return Number.NaN;
  }
}
