declare module "*?validate" {
  interface SchemaError {
    readonly instancePath: string;
    readonly keyword: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly message?: string;
  }
  const validate: ((value: unknown) => boolean) & { errors?: readonly SchemaError[] | null };
  export default validate;
}

declare module "*?data" {
  const data: () => unknown;
  export default data;
}

declare module "luaparse" {
  export function parse(text: string, options: object): unknown;
}
