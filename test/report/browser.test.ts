/** The report in a real browser: Debian's Chromium, driven by playwright-core. */
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTemporary, temporary } from "../cli/run.js";
import { hasTool } from "../support.js";
import { broken, hostileLab, IMG, large, PROOF, report } from "./sample.js";

/** Runs in the page, whose globals this project's types do not know. */
const UNFOLD = "for (const d of document.querySelectorAll('details')) d.open = true";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Seen {
  readonly page: Page;
  /** Console messages, errors of the page, requests and dialogs: what must not be. */
  readonly faults: string[];
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  readonly passes: readonly { readonly id: string }[];
}

describe.runIf(hasTool("chromium", true))("in Chromium", { timeout: 120_000 }, () => {
  let browser: Browser;
  let file = "";
  let big = "";
  beforeAll(async () => {
    file = report(broken(), "--prove", PROOF());
    big = report(large(110), "--prove", PROOF());
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    removeTemporary();
  });

  async function open(path: string, options: BrowserContextOptions = {}, hash = ""): Promise<Seen> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (m) => faults.push(`console ${m.type()}: ${m.text()}`));
    page.on("pageerror", (e) => faults.push(`error: ${e.message}`));
    page.on("dialog", (d) => {
      faults.push(`dialog: ${d.message()}`);
      void d.dismiss();
    });
    page.on("request", (r) => {
      if (r.url().split("#")[0] !== `file://${path}`) faults.push(`request: ${r.url()}`);
    });
    await page.goto(`file://${path}${hash}`);
    return { page, faults };
  }

  const visible = (page: Page): Promise<number> => page.locator(".finding:visible").count();

  it("opens without a word on the console and without a request", async () => {
    const { page, faults } = await open(file);
    expect(await page.title()).toBe("quorumlint: redis-lab");
    expect(await visible(page)).toBe(6);
    expect(faults).toEqual([]);
  });

  it("filters by words and by severity, and says how many are left", async () => {
    const { page, faults } = await open(big);
    const all = await visible(page);
    expect(all).toBeGreaterThan(200);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement?.id")).toBe("text");
    await page.keyboard.type("tracked-value extra-17");
    expect(await visible(page)).toBeGreaterThan(0);
    expect(await visible(page)).toBeLessThan(15);
    expect(await page.locator("#shown").textContent()).toBe(`${await visible(page)} of ${all} findings`);
    await page.fill("#text", "nothing has this");
    expect(await visible(page)).toBe(0);
    expect(await page.locator(".file:visible").count()).toBe(0);
    await page.fill("#text", "");
    expect(await visible(page)).toBe(all);
    await page.locator("input[value=error]").uncheck();
    expect(await visible(page)).toBe(0);
    await page.locator("input[value=error]").check();
    expect(await visible(page)).toBe(all);
    expect(faults).toEqual([]);
  });

  it("leads from a rule to its first finding, by keyboard, also where the filter hides it", async () => {
    const { page } = await open(file);
    await page.fill("#text", "nothing has this");
    const link = page.getByRole("link", { name: "k8s/host-access" }).first();
    await link.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#f\d+$/);
    const target = page.locator(".finding:target");
    await expect.poll(() => target.isVisible()).toBe(true);
    expect(await target.textContent()).toContain("hostNetwork");
    const top = await page.evaluate("document.querySelector(':target').getBoundingClientRect().top");
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThan(720);
  });

  it("reaches every part with the keyboard: the first stop skips to the findings", async () => {
    const { page } = await open(file);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("To the findings");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Summary");
    const regions = page.locator(".scroll, .graph");
    expect(await regions.count()).toBeGreaterThan(5);
    expect(await regions.evaluateAll((all) => all.every((e) => e.getAttribute("tabindex") === "0"))).toBe(true);
    const closed = await page.locator("#mutants details:not([open])").count();
    const summary = page.locator("#mutants details:not([open]) summary").first();
    await summary.focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("#mutants details:not([open])").count()).toBe(closed - 1);
  });

  it("is read without JavaScript", async () => {
    const { page, faults } = await open(file, { javaScriptEnabled: false });
    expect(await page.locator(".finding:visible").count()).toBe(6);
    expect(await page.locator("#filter").isVisible()).toBe(false);
    await page.locator("#access summary").last().click();
    expect(await page.locator("#access details[open]").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it.each([360, 1280])(
    "fits a window of %i pixels, in light and dark, with contrast that WCAG AA asks for",
    async (width) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open(file, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
        await page.evaluate(UNFOLD);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        const shot = await page.screenshot({ path: join(temporary(), `${colorScheme}-${width}.png`), fullPage: true });
        expect(shot.length).toBeGreaterThan(50_000);
        // contrast hangs on the scheme, not on the width: each is looked at once
        if ((colorScheme === "light") !== (width === 360)) continue;
        await page.evaluate(AXE);
        const { violations, passes } = (await page.evaluate(
          `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] })`,
        )) as AxeResult;
        expect(passes.map((p) => p.id)).toContain("color-contrast");
        expect(violations.map((v) => `${v.id}: ${v.nodes[0]!.html.slice(0, 200)}`)).toEqual([]);
      }
    },
  );

  it("is dark where the reader's system is", async () => {
    const paper = async (colorScheme: "light" | "dark") => {
      const { page } = await open(file, { colorScheme });
      return page.evaluate("getComputedStyle(document.body).backgroundColor");
    };
    expect(await paper("light")).toBe("rgb(255, 255, 255)");
    expect(await paper("dark")).toBe("rgb(13, 17, 23)");
  });

  it("lets no name become markup or code", async () => {
    const { page, faults } = await open(report(hostileLab(), "--title", `</title>${IMG}`, "--prove", PROOF()));
    await page.evaluate(UNFOLD);
    expect(await page.locator("img, iframe, object, embed").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(1);
    expect(await page.title()).toBe(`</title>${IMG}`);
    expect(await page.locator("body").textContent()).toContain("</script><img");
    expect(faults).toEqual([]);
  });

  it("of more than 200 findings is small, and opens in less than a second", async () => {
    expect(statSync(big).size).toBeLessThan(3_000_000);
    let fastest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const { page } = await open(big);
      const took = await page.evaluate("performance.getEntriesByType('navigation')[0].duration");
      fastest = Math.min(fastest, took as number);
      await page.context().close();
    }
    expect(fastest).toBeLessThan(1000);
  });
});
