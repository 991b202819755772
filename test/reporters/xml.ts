/** A strict reader of the XML that reports may hold: elements, attributes, text, the five entities. Throws on anything else. */
export interface Element {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: (Element | string)[];
}

const ENTITY: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };

function decode(text: string): string {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}|<|\]\]>/u.test(text)) {
    throw new Error(`not XML text: ${JSON.stringify(text)}`);
  }
  return text.replace(/&[^;]*;?/g, (e) => {
    const c = ENTITY[e];
    if (c === undefined) throw new Error(`unknown entity ${e}`);
    return c;
  });
}

export function parseXml(text: string): Element {
  const root: Element = { name: "", attributes: {}, children: [] };
  const stack = [root];
  let at = 0;
  const token = /<\?xml version="1\.0" encoding="UTF-8"\?>\n|<(\/?)([A-Za-z-]+)((?: [A-Za-z]+="[^"]*")*)(\/?)>|[^<]+/y;
  while (at < text.length) {
    token.lastIndex = at;
    const m = token.exec(text);
    if (m === null) throw new Error(`not XML at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
    if (m[0].startsWith("<?") && at !== 0) throw new Error("a declaration inside");
    at = token.lastIndex;
    const top = stack[stack.length - 1]!;
    if (m[2] === undefined) {
      if (!m[0].startsWith("<?")) top.children.push(decode(m[0]));
    } else if (m[1] === "/") {
      if (stack.pop()!.name !== m[2]) throw new Error(`</${m[2]}> closes ${top.name}`);
    } else {
      const attributes: Record<string, string> = {};
      for (const [, name, value] of m[3]!.matchAll(/ ([A-Za-z]+)="([^"]*)"/g)) {
        if (name! in attributes) throw new Error(`twice ${name}`);
        attributes[name!] = decode(value!);
      }
      const element: Element = { name: m[2], attributes, children: [] };
      top.children.push(element);
      if (m[4] !== "/") stack.push(element);
    }
  }
  if (stack.length !== 1) throw new Error("not closed");
  const only = root.children.filter((c) => typeof c !== "string" || c.trim() !== "");
  if (only.length !== 1 || typeof only[0] === "string") throw new Error("not one root");
  return only[0]!;
}

export function elements(element: Element, name: string): Element[] {
  const out: Element[] = [];
  for (const child of element.children) {
    if (typeof child === "string") continue;
    if (child.name === name) out.push(child);
    out.push(...elements(child, name));
  }
  return out;
}
